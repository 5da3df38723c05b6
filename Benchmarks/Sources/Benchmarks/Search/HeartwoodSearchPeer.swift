import BenchmarkHarness
import Foundation
import Heartwood

/// Titles with an index of their words.
final class WordedItem: ManagedObject, SearchItem {
  @Attribute var number: Int64
  @Attribute(.fullText) var title = ""
  @Attribute var x: Double
  @Attribute var y: Double
}

/// Items with an index of their places.
final class PlacedItem: ManagedObject, SearchItem {
  @Attribute var number: Int64
  @Attribute var title = ""
  @Attribute var x: Double
  @Attribute var y: Double

  override class var rangeIndexes: [[String]] { [["x", "y"]] }
}

/// Items without an index.
final class PlainItem: ManagedObject, SearchItem {
  @Attribute var number: Int64
  @Attribute var title = ""
  @Attribute var x: Double
  @Attribute var y: Double
}

protocol SearchItem: ManagedObject {
  var number: Int64 { get set }
  var title: String { get set }
  var x: Double { get set }
  var y: Double { get set }
}

final class HeartwoodSearchPeer: SearchPeer {
  let name = "Heartwood"
  private let container: PersistentContainer
  private let indexes: SearchIndexes

  init(_ directory: String, _ indexes: SearchIndexes) throws {
    let type: ManagedObject.Type =
      indexes.words ? WordedItem.self : indexes.boxes ? PlacedItem.self : PlainItem.self
    self.indexes = indexes
    container = try PersistentContainer(
      name: "Items", types: [type], at: URL(fileURLWithPath: directory).appending(path: "items.heartwood"))
  }

  func insert(_ texts: SearchTexts) throws {
    try inContext { context in
      for item in texts.items { make(context).take(item) }
      try context.save()
    }
  }

  private func make(_ context: ManagedObjectContext) -> any SearchItem {
    if indexes.words { return WordedItem(context: context) }
    return indexes.boxes ? PlacedItem(context: context) : PlainItem(context: context)
  }

  func count(_ queries: [String]) throws -> UInt64 {
    try inContext { context in
      var digest = ReadDigest()
      for query in queries {
        digest.add(try context.count(WordedItem.self) { $0.title.matchesWords(query) })
      }
      return digest.value
    }
  }

  func titles(_ words: [String]) throws -> UInt64 {
    try inContext { context in
      var digest = ReadDigest()
      for word in words {
        let found = try context.fetch(
          WordedItem.self, where: { $0.title.matchesWords(word) }, sort: [.ascending(\.number)])
        for item in found { digest.add(item.title) }
      }
      return digest.value
    }
  }

  func best(_ words: [String]) throws -> UInt64 {
    try inContext { context in
      var digest = ReadDigest()
      for word in words {
        let found = try context.fetch(
          WordedItem.self, where: { $0.title.matchesWords(word) },
          sort: [.descending { $0.title.relevance(of: word) }], limit: 10)
        digest.add(found.count)
        for item in found where item.title.isEmpty { throw missingKey(name) }
      }
      return digest.value
    }
  }

  func inside(_ corners: [(x: Double, y: Double)], side: Double) throws -> UInt64 {
    try inContext { context in
      var digest = ReadDigest()
      for (x, y) in corners {
        let found = try context.fetchRows(
          PlacedItem.self, columns: { $0.number },
          where: { x...x + side ~= $0.x && y...y + side ~= $0.y }, sort: { [.ascending($0.number)] })
        for number in found { digest.add(Int(number ?? 0)) }
      }
      return digest.value
    }
  }

  func close() throws { try container.close() }

  private func inContext<Result>(_ body: (ManagedObjectContext) throws -> Result) throws -> Result {
    let context = container.newBackgroundContext()
    return try context.performAndWait { try body(context) }
  }
}

extension SearchItem {
  fileprivate func take(_ item: SearchTexts.Item) {
    number = item.number
    title = item.title
    x = item.x
    y = item.y
  }
}
