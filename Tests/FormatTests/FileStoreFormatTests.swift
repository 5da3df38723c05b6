import Foundation
import Heartwood
import HeartwoodBytes
import TestSupport
import Testing

/// The files of stores that are one file, held against their documentation and against those that were written once.
@Suite struct `Stores of one file` {
  private static let fixtures = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent().appending(path: "Fixtures")
  private static let kinds: [(ending: String, type: PersistentStore.StoreType)] = [
    ("binary", .binary), ("json", .json), ("xml", .xml),
  ]

  /// The objects of a store, as text: each with its key, its values and its links.
  private func objects(at url: URL, _ type: PersistentStore.StoreType) throws -> [String] {
    let description = PersistentStoreDescription(url: url)
    description.type = type
    let coordinator = PersistentStoreCoordinator(
      managedObjectModel: try PersistentStoreCoordinator.managedObjectModel(ofStoreAt: url))
    let store = try coordinator.addPersistentStore(with: description)
    defer { try? coordinator.close() }
    let context = ManagedObjectContext(.privateQueue, coordinator: coordinator)
    let title = try store.metadata["title"] as? String ?? ""
    return try context.performAndWait {
      let request = FetchRequest<ManagedObject>(entityName: "Sheet")
      return try ["\(store.identifier) \(title)"]
        + context.fetch(request).map { object in
          let values = object.entity.attributesByName.keys.sorted().map {
            "\($0)=\(Self.text(object.value(forKey: $0)))"
          }
          return "\(object.objectID.uriRepresentation()) \(values.joined(separator: " "))"
        }.sorted()
    }
  }

  /// The same text for the same value: dictionaries have no order.
  private static func text(_ value: Any?) -> String {
    guard let elements = value as? [String: Any] else { return value.map { "\($0)" } ?? "nil" }
    return elements.sorted { $0.key < $1.key }.map { "\($0.key): \(text($0.value))" }.joined(separator: ", ")
  }

  // STO-02, STO-04
  @Test func `files that were written once have the objects of the store that they are copies of, and go on`()
    throws
  {
    let folder = try TemporaryFolder()
    let log = folder.url.appending(path: "log")
    try FileManager.default.copyItem(
      at: Self.fixtures.appending(path: "Stores/format-1/values"), to: log)
    let expected = try objects(at: log, .log)
    #expect(expected.count == 4)
    for kind in Self.kinds {
      let copy = folder.url.appending(path: "values.\(kind.ending)")
      let golden = Self.fixtures.appending(path: "StoreFiles/format-1/values.\(kind.ending)")
      try FileManager.default.copyItem(at: golden, to: copy)
      #expect(PersistentStoreCoordinator.typeOfPersistentStore(at: copy) == kind.type)
      #expect(try objects(at: copy, kind.type) == expected)
      #expect(try Data(contentsOf: copy) == Data(contentsOf: golden))
    }
  }

  @Test func `a binary file is what its documentation says`() throws {
    let golden = Self.fixtures.appending(path: "StoreFiles/format-1/values.binary")
    let bytes = [UInt8](try Data(contentsOf: golden))
    func number(_ place: Int, _ count: Int) -> UInt64 {
      bytes[place..<place + count].reversed().reduce(0) { $0 << 8 | UInt64($1) }
    }
    func hash(_ range: Range<Int>, seed: UInt64) -> UInt64 {
      Array(bytes[range]).withUnsafeBytes { XXH3.hash($0, seed: seed) }
    }
    #expect(Array(bytes[..<8]) == Array("HwBinary".utf8))
    #expect(number(8, 4) == 1 && number(12, 4) == 0 && number(32, 8) == 1)
    let seed = number(40, 8)
    #expect(hash(0..<40, seed: 0) == seed)
    var (place, block, contents) = (48, UInt64(0), [UInt8]())
    while case let count = Int(number(place, 4)), count > 0 {
      #expect(count <= 1_048_576)
      #expect(number(place + 4, 8) == hash(place + 12..<place + 12 + count, seed: seed &+ block))
      contents += bytes[place + 12..<place + 12 + count]
      (place, block) = (place + 12 + count, block + 1)
    }
    #expect(number(place + 4, 8) == hash(place + 12..<place + 20, seed: seed &+ block))
    #expect(place + 20 == bytes.count)
    #expect(try entries(contents) == number(place + 12, 8))
  }

  /// The number of entries; their keys must be in order.
  private func entries(_ bytes: [UInt8]) throws -> UInt64 {
    var (place, count, last) = (0, UInt64(0), [UInt8]())
    func varint() throws -> Int {
      var (value, shift) = (0, 0)
      while true {
        let byte = try #require(bytes.indices.contains(place) ? bytes[place] : nil)
        place += 1
        value |= Int(byte & 0x7F) << shift
        shift += 7
        if byte < 0x80 { return value }
      }
    }
    while place < bytes.count {
      let (keyBytes, valueBytes) = (try varint(), try varint())
      let key = Array(bytes[place..<place + keyBytes])
      #expect(last.lexicographicallyPrecedes(key))
      (place, last, count) = (place + keyBytes + valueBytes, key, count + 1)
    }
    return count
  }

  @Test func `the documentation names the members of a JSON file`() throws {
    let page = try String(
      contentsOf: Self.fixtures.deletingLastPathComponent()
        .appending(path: "Sources/Heartwood/Documentation.docc/StoreKinds.md"), encoding: .utf8)
    let golden = Self.fixtures.appending(path: "StoreFiles/format-1/values.json")
    let file = try #require(
      try JSONSerialization.jsonObject(with: Data(contentsOf: golden)) as? [String: Any])
    for name in file.keys { #expect(page.contains("`\(name)`"), "\(name)") }
    let first = try #require((file["objects"] as? [[String: Any]])?.first)
    for name in first.keys { #expect(page.contains("`\(name)`"), "\(name)") }
    #expect(file["heartwood"] as? String == "JSON store 1")
  }
}
