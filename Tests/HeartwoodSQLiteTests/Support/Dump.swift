import Foundation
import HeartwoodSQLite
import Testing

/// The contents that SQLite read in a database, as `dump` of `PythonScripts.common` wrote them, compared with those
/// that this module reads.
struct Dump {
  private let bytes: Data
  private var position = 0

  init(_ url: URL) throws { bytes = try Data(contentsOf: url) }

  /// The reason if SQLite could not read the database.
  var refusal: String? {
    var copy = self
    guard bytes.first == UInt8(ascii: "X") else { return nil }
    copy.position = 1
    return copy.text()
  }

  /// Whether SQLite found nothing wrong with the database.
  var isSound: Bool { bytes.first == UInt8(ascii: "S") }

  /// The differences to the database, at most a few.
  mutating func differences(to database: SQLiteDatabase) throws -> [String] {
    position = refusal == nil ? 1 : 0
    var differences: [String] = []
    var names: [String] = []
    while differences.count < 5 {
      let tag = byte()
      if tag == UInt8(ascii: "E") { break }
      if tag == UInt8(ascii: "X") { return ["SQLite refuses: \(text())"] }
      if tag == UInt8(ascii: "L") {
        try compareLookup(database, &differences)
        continue
      }
      let name = text()
      names.append(name)
      guard let table = database.table(named: name) else { return ["there is no table \(name)"] }
      let isWithoutRowid = byte() == 1
      if isWithoutRowid != table.isWithoutRowid { differences.append("\(name): WITHOUT ROWID") }
      let count = Int(number32())
      let columns = (0..<count).map { _ in (name: text(), type: text(), notNull: byte(), key: number32()) }
      if columns.map(\.name) != table.columns.map(\.name) {
        return differences + ["\(name): columns \(table.columns.map(\.name)), not \(columns.map(\.name))"]
      }
      try compareRows(table, database, &differences)
    }
    if names != database.tables.map(\.name) { differences.append("tables \(database.tables.map(\.name))") }
    return differences
  }

  private mutating func compareRows(
    _ table: SQLiteTable, _ database: SQLiteDatabase, _ differences: inout [String]
  ) throws {
    let cursor = try database.rows(of: table)
    var number = 0
    while bytes[position] == UInt8(ascii: "R") {
      position += 1
      let rowid = number64()
      guard let row = try cursor.next() else {
        differences.append("\(table.name): only \(number) rows")
        while bytes[position] == UInt8(ascii: "R") { skipRow(table) }
        return
      }
      if !table.isWithoutRowid, row.rowid != rowid, differences.count < 5 {
        differences.append("\(table.name): \(row.rowid ?? 0), not \(rowid)")
      }
      for column in table.columns.indices {
        let expected = cell()
        guard !isSame(row[column], expected), differences.count < 5 else { continue }
        let (found, wanted) = ("\(row[column])".prefix(80), "\(expected)".prefix(80))
        differences.append(
          "\(table.name) row \(rowid) \(table.columns[column].name): \(found), not \(wanted)")
      }
      number += 1
    }
    if try cursor.next() != nil { differences.append("\(table.name): more than \(number) rows") }
    if try database.count(of: table) != number { differences.append("\(table.name): count") }
  }

  private mutating func skipRow(_ table: SQLiteTable) {
    position += 9
    for _ in table.columns {
      position += 1
      position += Int(number32())
    }
  }

  private func isSame(_ value: SQLiteValue, _ expected: SQLiteValue) -> Bool {
    guard case .real(let first) = value, case .real(let second) = expected else { return value == expected }
    return first.bitPattern == second.bitPattern
  }

  private mutating func compareLookup(_ database: SQLiteDatabase, _ differences: inout [String]) throws {
    let name = text()
    let key = (0..<Int(number32())).map { _ in cell() }
    let expected = (0..<Int(number32())).map { _ in number64() }
    guard let index = database.index(named: name) else {
      differences.append("there is no index \(name)")
      return
    }
    let found = try database.rowids(of: index, equalTo: key)
    if found.sorted() != expected {
      differences.append("index \(name) \(index.columns) \(key): \(found), not \(expected)")
    }
  }

  private mutating func cell() -> SQLiteValue {
    let tag = byte()
    let count = Int(number32())
    defer { position += count }
    let value = bytes[position..<position + count]
    switch tag {
    case UInt8(ascii: "n"): return .null
    case UInt8(ascii: "i"): return .integer(Int64(bitPattern: Self.number(value)))
    case UInt8(ascii: "r"): return .real(Double(bitPattern: Self.number(value)))
    case UInt8(ascii: "t"): return .text(String(decoding: value, as: UTF8.self))
    default: return .blob(Array(value))
    }
  }

  private static func number(_ bytes: Data) -> UInt64 { bytes.reversed().reduce(0) { $0 << 8 | UInt64($1) } }

  private mutating func byte() -> UInt8 {
    position += 1
    return bytes[position - 1]
  }

  private mutating func number32() -> UInt32 {
    position += 4
    return UInt32(Self.number(bytes[position - 4..<position]))
  }

  private mutating func number64() -> Int64 {
    position += 8
    return Int64(bitPattern: Self.number(bytes[position - 8..<position]))
  }

  private mutating func text() -> String {
    let count = Int(number32())
    position += count
    return String(decoding: bytes[position - count..<position], as: UTF8.self)
  }
}
