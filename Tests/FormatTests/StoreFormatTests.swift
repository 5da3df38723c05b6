import Foundation
import HeartwoodBytes
import HeartwoodEngine
import Testing

@testable import Heartwood
@testable import HeartwoodModel

/// Checks that the graph's format document agrees with the graph.
@Suite struct `The document of a store's keys and values` {
  private let document: FormatDocument

  init() throws {
    document = try FormatDocument(at: "Sources/Heartwood/Documentation.docc/StoreFormat.md")
  }

  private func table(_ heading: String) throws -> [[String]] { try #require(document.tables[heading]) }

  /// The numbers in one column of a table, by the text in another.
  private func numbers(_ heading: String, by name: Int, _ number: Int) throws -> [String: UInt64?] {
    Dictionary(
      try table(heading).map { ($0[name], UInt64(documented: $0[number])) }, uniquingKeysWith: { $1 })
  }

  @Test func `the document has the kinds of keys, and their lengths`() throws {
    let kinds: [String: UInt64?] = [
      "schema": UInt64(KeySpace.schema), "counter": UInt64(KeySpace.counter),
      "newestHistory": UInt64(KeySpace.newestHistory), "deletedHistory": UInt64(KeySpace.deletedHistory),
      "metadata": UInt64(KeySpace.metadata), "rewriting": UInt64(KeySpace.rewriting),
      "consumer": UInt64(KeySpace.consumer), "replica": UInt64(KeySpace.replica),
      "stamp": UInt64(KeySpace.stamp), "foreignObject": UInt64(KeySpace.foreignObject),
      "foreignKey": UInt64(KeySpace.foreignKey), "historyBytes": UInt64(KeySpace.historyBytes),
      "row": UInt64(KeySpace.row), "external": UInt64(KeySpace.external),
      "index": UInt64(KeySpace.index), "link": UInt64(KeySpace.link), "order": UInt64(KeySpace.order),
      "rank": UInt64(KeySpace.rank), "history": UInt64(KeySpace.history),
    ]
    #expect(try numbers("Keys", by: 1, 0) == kinds)
    let lengths: [String: Int] = [
      "schema": KeySpace.schemaKey.count, "counter": KeySpace.counterKey(1).count,
      "newestHistory": KeySpace.newestHistoryKey.count, "deletedHistory": KeySpace.deletedHistoryKey.count,
      "metadata": KeySpace.metadataKey.count, "rewriting": KeySpace.rewritingKey(1).count,
      "replica": KeySpace.replicaKey.count, "foreignObject": KeySpace.foreignObjectKey(1, 1, 1).count,
      "foreignKey": KeySpace.foreignKeyKey(1, 1).count, "historyBytes": KeySpace.historyBytesKey.count,
      "stamp": KeySpace.stampKey(StampKey(address: RowAddress(root: 1, key: 1), property: 1, target: 1))
        .count,
      "row": KeySpace.rowKey(1, 1).count, "external": KeySpace.externalKey(1, 1, 1, 1).count,
      "link": KeySpace.entry(KeySpace.link, 1, 1, 1).count,
      "order": KeySpace.entry(KeySpace.order, 1, 1, 1).count,
      "rank": KeySpace.entry(KeySpace.rank, 1, 1, 1).count, "history": KeySpace.historyKey(1).count,
    ]
    for row in try table("Keys") where row[1] != "index" && row[1] != "consumer" {
      let parts = row[2].split(separator: " ").compactMap { Int($0.prefix { $0 != "," }) }
      #expect(lengths[row[1]] == 1 + parts.reduce(0, +), "\(row[1])")
    }
  }

  @Test func `the document has the header of a row and the widths of its cells`() throws {
    let header = try #require(FieldTable(document, "Row header"))
    #expect(header.byteCount == RowLayout.headerSize)
    let kinds = (0...15).compactMap { ColumnKind(rawValue: $0) }
    #expect(ColumnKind(rawValue: 16) == nil)
    let widths = Dictionary(kinds.map { ("\($0)", UInt64?(UInt64($0.width))) }, uniquingKeysWith: { $1 })
    #expect(try numbers("Cells", by: 0, 1) == widths)
    let ends = try table("Cells").filter { $0[2].hasPrefix("The end of") }.map { $0[0] }
    #expect(Set(ends) == Set(kinds.filter(\.isVariable).map { "\($0)" }))
  }

  @Test func `the document has the constants of entries and ranks`() throws {
    #expect(
      try numbers("Long values", by: 0, 1)
        == ["longestValues": UInt64(IndexKey.longestValues), "hashSize": UInt64(IndexKey.hashSize)])
    #expect(
      try numbers("Data outside of rows", by: 0, 1) == [
        "largestInRow": UInt64(ExternalReference.largestInRow),
        "byteCount": UInt64(ExternalReference.byteCount), "externalMark": UInt64(Column.externalMark),
      ])
    #expect(
      try numbers("Ranks", by: 0, 1) == ["step": OrderedLinks.step, "limit": OrderedLinks.limit])
  }

  @Test func `the document has the kinds of changes and of kept values`() throws {
    let changes: [String: UInt64?] = ["insert": 1, "update": 2, "delete": 3]
    let withMore = ["updateWithValues": UInt64?(4), "updateWithLinks": 5]
    #expect(try numbers("Changes", by: 1, 0) == changes.merging(withMore) { first, _ in first })
    for (name, number) in changes {
      let kind = HistoryChange.Kind(rawValue: UInt8(number ?? 0))
      #expect(kind.map { "\($0)" } == name)
    }
    let values: [(Value, String)] = [
      (.null, "null"), (.int(-3), "int"), (.double(0.5), "double"), (.decimal(7), "decimal"),
      (.bool(true), "bool"), (.string("text"), "string"), (.date(1), "date"), (.data(Data([1])), "data"),
      (.uuid(UUID()), "uuid"), (.url("a:b"), "url"),
    ]
    let documented = try numbers("Kept values", by: 1, 0)
    #expect(documented.count == values.count)
    for (value, name) in values {
      var writer = ByteWriter()
      ValueCoding.append(value, to: &writer)
      #expect(documented[name] == writer.withUnsafeBytes { UInt64($0[0]) }, "\(name)")
    }
  }

  @Test(arguments: [
    (Value.int(-1), [1, 0x7F] + [UInt8](repeating: 0xFF, count: 7)),
    (.int(258), [1, 0x80, 0, 0, 0, 0, 0, 1, 2]), (.double(-0.0), [1, 0x80, 0, 0, 0, 0, 0, 0, 0]),
    (.double(1), [1, 0xBF, 0xF0, 0, 0, 0, 0, 0, 0]),
    (.double(-1), [1, 0x40, 0x0F, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF]),
    (.date(.nan), [1] + [UInt8](repeating: 0xFF, count: 8)), (.bool(true), [1, 1]),
    (.string("a\u{0}e\u{301}"), [1, 0x61, 0, 0xFF, 0xC3, 0xA9, 0, 0]),
    (.data(Data([0, 7])), [1, 0, 0xFF, 7, 0, 0]),
    (.decimal(250), [1, 3, 0x04, 0x03, 3, 6, 0]), (.decimal(-0.5), [1, 1, 0xFB, 0xFF, 0xF9, 0xFF]),
    (.decimal(0), [1, 2]), (.null, [0]),
  ])
  func `the document describes how values are ordered`(value: Value, bytes: [UInt8]) {
    var key: [UInt8] = []
    value.appendOrderedKey(to: &key)
    #expect(key == bytes)
  }

  @Test func `the document has the kinds of indexes, and how long words are`() throws {
    let kinds: [StoreIndex.Kind] = [.ordered, .unique, .words, .ranges]
    #expect(
      try numbers("Kinds of indexes", by: 1, 0)
        == Dictionary(uniqueKeysWithValues: kinds.map { ("\($0)", UInt64?(UInt64($0.rawValue))) }))
    #expect(try numbers("Words", by: 0, 1) == ["longestIndexed": UInt64(TextWords.longestIndexed)])
    #expect(StoreIndex.Kind(rawValue: 4) == nil)
  }

  @Test func `the document shows the keys and values that the code writes`() throws {
    let example = try StoreExample()
    let shown = ShownEntries.all(in: document)
    try #require(shown.count == 2, "the actual ones:\n\(example.text)")
    #expect(ShownEntries.mismatches(shown[0], example.first) == [], "\(example.text)")
    #expect(ShownEntries.mismatches(shown[1], example.changed) == [], "\(example.text)")
  }

  @Test func `the document suffices to read the rows of the example`() throws {
    let shown = try #require(ShownEntries.all(in: document).first)
    let header = try #require(FieldTable(document, "Row header"))
    let widths = try numbers("Cells", by: 0, 1).mapValues { Int($0 ?? 0) }
    var rows: [[String: String]] = []
    for entry in shown where entry.key.first == 0x10 {
      rows.append(Self.read(entry.value.compactMap { $0 }, header, widths))
    }
    #expect(
      rows == [
        ["entity": "1", "version": "1", "country": "2", "name": "Nice"],
        ["entity": "2", "version": "1", "code": "ES", "population": "none"],
        ["entity": "2", "version": "1", "code": "FR", "population": "68000000"],
      ])
  }

  /// Decodes a row of the example as the document says.
  private static func read(_ row: [UInt8], _ header: FieldTable, _ widths: [String: Int]) -> [String: String]
  {
    let entity = header.number("entity", in: row)
    let kinds: [(name: String, kind: String)] =
      entity == 1
      ? [("country", "toOne"), ("name", "string")]
      : [("cities", "toMany"), ("code", "string"), ("neighbours", "toMany"), ("population", "int64")]
    var values = ["entity": "\(entity)", "version": "\(header.number("version", in: row))"]
    // Fewer than nine properties need one byte of null bits.
    let nulls = row[header.byteCount]
    var cell = header.byteCount + 1
    var begin = Int(header.number("fixedSize", in: row))
    let variable = begin
    for (slot, property) in kinds.enumerated() where property.kind != "toMany" {
      let width = widths[property.kind] ?? 0
      let number = row[cell..<cell + width].reversed().reduce(0) { $0 << 8 | UInt64($1) }
      cell += width
      if nulls & (1 << UInt8(slot)) != 0 {
        values[property.name] = "none"
      } else if property.kind == "string" {
        values[property.name] = String(decoding: row[begin..<(variable + Int(number))], as: UTF8.self)
        begin = variable + Int(number)
      } else {
        values[property.name] = "\(number)"
      }
    }
    return values
  }
}
