import Foundation
import HeartwoodEngine

@testable import Heartwood

private final class Country: ManagedObject {
  @Attribute(.unique) var code = ""
  @Attribute(.indexed) var population: Int64?
  @Relationship(inverse: { $0.country }, deleteRule: .cascade) var cities: [City]
  @Relationship(inverse: { $0.neighbours }) var neighbours: Set<Country>
}

private final class City: ManagedObject {
  @Attribute(.preservesValueInHistoryOnDeletion) var name = ""
  @Relationship(inverse: { $0.cities }) var country: Country?
}

/// A key and its value. Bytes that come from the clock are nil.
struct ShownEntry: Hashable {
  var key: [UInt8]
  var value: [UInt8?]
  /// Whether the key was deleted.
  var isGone = false
}

/// The keys and values of a small store, as the graph's format document shows them.
struct StoreExample {
  /// All entries after the first save, except the schema's.
  let first: [ShownEntry]
  /// The entries that the second save changed. Deleted keys have no value.
  let changed: [ShownEntry]

  init() throws {
    let model = try ManagedObjectModel(types: [Country.self, City.self])
    let container = PersistentContainer(name: "Example", managedObjectModel: model)
    let description = PersistentStoreDescription()
    description.recordsProgramInHistory = false
    container.persistentStoreDescriptions = [description]
    try container.loadPersistentStores()
    let context = container.newBackgroundContext()
    let (france, spain, nice) = try Self.insert(into: context)
    first = try Self.entries(container)
    context.transactionAuthor = "Ada"
    context.delete(nice)
    spain.population = 48
    france.neighbours = []
    try context.save()
    let before = first
    let after = try Self.entries(container)
    let gone = before.filter { old in !after.contains { $0.key == old.key } }
    changed =
      (after.filter { !before.contains($0) } + gone.map { ShownEntry(key: $0.key, value: [], isGone: true) })
      .sorted { $0.key.lexicographicallyPrecedes($1.key) }
    try container.close()
  }

  private static func insert(into context: ManagedObjectContext) throws -> (Country, Country, City) {
    let spain = Country(context: context)
    spain.code = "ES"
    let france = Country(context: context)
    france.code = "FR"
    france.population = 68_000_000
    france.neighbours = [spain]
    let nice = City(context: context)
    nice.name = "Nice"
    nice.country = france
    try context.save()
    return (france, spain, nice)
  }

  private static func entries(_ container: PersistentContainer) throws -> [ShownEntry] {
    var entries: [ShownEntry] = []
    let snapshot = try container.persistentStoreCoordinator.openStore().engine.snapshot()
    try snapshot.scan(.all) { key, value in
      var shown = value.map(Optional.some)
      // The time in a history record.
      if key[0] == KeySpace.history { for index in 1..<9 { shown[index] = nil } }
      if key[0] != KeySpace.schema { entries.append(ShownEntry(key: Array(key), value: shown)) }
      return true
    }
    return entries
  }

  /// The text of the document's two blocks.
  var text: String {
    [first, changed].map { entries in
      "```entries\n" + entries.map(ShownEntries.line).joined(separator: "\n") + "\n```"
    }.joined(separator: "\n\n")
  }
}

/// Parses and writes the documents' notation of keys and values: "key → value", with bytes as hexadecimal digits. A value
/// may continue on lines that begin with a space.
enum ShownEntries {
  static func line(_ entry: ShownEntry) -> String {
    let key = entry.key.map { FormatDocument.hexadecimal(Int($0), 2) }.joined(separator: " ")
    let value = entry.value.map { byte in byte.map { FormatDocument.hexadecimal(Int($0), 2) } ?? ".." }
    var lines = [entry.isGone ? "\(key) → gone" : "\(key) →"]
    for start in stride(from: 0, to: value.count, by: 24) {
      lines.append("    " + value[start..<min(start + 24, value.count)].joined(separator: " "))
    }
    return lines.joined(separator: "\n")
  }

  /// The blocks of entries of a document.
  static func all(in document: FormatDocument) -> [[ShownEntry]] {
    document.blocks.filter { $0.name == "entries" }.map { block in
      var entries: [ShownEntry] = []
      for line in block.lines {
        if line.hasPrefix(" ") {
          entries[entries.count - 1].value += bytes(line)
        } else {
          let parts = line.split(separator: "→", omittingEmptySubsequences: false)
          entries.append(
            ShownEntry(key: bytes(parts[0]).compactMap { $0 }, value: [], isGone: parts.last == " gone"))
        }
      }
      return entries
    }
  }

  private static func bytes(_ text: Substring) -> [UInt8?] {
    text.split(separator: " ").map { UInt8($0, radix: 16) }
  }

  /// The entries that are in only one of the two lists.
  static func mismatches(_ shown: [ShownEntry], _ actual: [ShownEntry]) -> [String] {
    Set(shown).symmetricDifference(actual).map(line).sorted()
  }
}
