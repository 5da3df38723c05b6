import Foundation
import Heartwood

/// A column of a table.
struct PostgresColumn: Sendable {
  /// The type of a column, by that of the attribute.
  enum Kind: Sendable {
    case smallint, integer, bigint, real, double, boolean, text, bytea, uuid, numeric
    /// Seconds since the beginning of 2001 in UTC, as an attribute has them: PostgreSQL's own times have microseconds.
    case date
    /// The number of an object.
    case reference
  }

  let name: String
  let kind: Kind

  /// The column as a part of CREATE TABLE.
  var declaration: String {
    let type =
      switch kind {
      case .smallint: "smallint"
      case .integer: "integer"
      case .bigint, .reference: "bigint"
      case .real: "real"
      case .double, .date: "double precision"
      case .boolean: "boolean"
      // In the order of Unicode scalars, whatever the order of the database is.
      case .text: "text COLLATE \"C\""
      case .bytea: "bytea"
      case .uuid: "uuid"
      case .numeric: "numeric"
      }
    return "\(name.quoted) \(type)"
  }

  /// The type of parameters for the column: integers are of eight bytes, floating-point numbers too, and decimals are texts.
  var parameterType: PostgresType {
    switch kind {
    case .smallint, .integer, .bigint, .reference: .int8
    case .real, .double, .date: .float8
    case .boolean: .bool
    case .text, .numeric: .text
    case .bytea: .bytea
    case .uuid: .uuid
    }
  }

  /// The column in a SELECT, from the table with an alias.
  func selected(_ alias: String) -> String {
    kind == .numeric ? "\(alias).\(name.quoted)::text" : "\(alias).\(name.quoted)"
  }

  /// A value of a parameter in the column's type.
  func assigned(_ parameter: String) -> String {
    switch kind {
    case .numeric: "\(parameter)::numeric"
    case .smallint: "\(parameter)::smallint"
    case .integer: "\(parameter)::integer"
    case .real: "\(parameter)::real"
    default: parameter
    }
  }

  /// Appends a value of an object.
  ///
  /// - Parameter reference: The number of an object.
  func append(
    _ value: StoredValue, to array: inout PostgresArray, _ reference: (ManagedObjectID) -> Int64
  ) throws(HeartwoodError) {
    switch value {
    case .null: array.appendNull()
    case .integer(let number): array.append(number)
    case .double(let number), .date(let number): array.append(number)
    case .boolean(let value): array.append(value)
    case .string(let text):
      guard !text.utf8.contains(0) else {
        throw HeartwoodError(
          .managedObjectValidation,
          "\(name) has a text with a zero character, which PostgreSQL cannot store: leave it out, or make the attribute one of data"
        )
      }
      array.append(text)
    case .decimal(let number): array.append(number.isNaN ? "NaN" : "\(number)")
    case .data(let data): array.append(data)
    case .uuid(let uuid): array.append(uuid)
    case .object(let id): array.append(reference(id))
    }
  }
}

extension PostgresColumn.Kind {
  /// A value of a row that is no reference.
  @inline(__always)
  func value(_ rows: PostgresRows, _ row: Int, _ column: Int) -> StoredValue {
    if rows.isNull(row, column) { return .null }
    switch self {
    case .smallint, .integer, .bigint: return .integer(rows.integer(row, column))
    case .real, .double: return .double(rows.double(row, column))
    case .boolean: return .boolean(rows.bytes(row, column).first == 1)
    case .text: return .string(rows.text(row, column))
    case .bytea: return .data(Data(rows.bytes(row, column)))
    case .uuid: return rows.uuid(row, column).map(StoredValue.uuid) ?? .null
    case .numeric: return Decimal(string: rows.text(row, column)).map(StoredValue.decimal) ?? .decimal(.nan)
    case .date: return .date(rows.double(row, column))
    case .reference: return .null
    }
  }
}

extension PostgresColumn {
  /// The column of an attribute; nil for one that rows do not have.
  init(_ name: String, _ attribute: AttributeDescription) {
    let kind: Kind =
      switch attribute.type {
      case .integer16: .smallint
      case .integer32: .integer
      case .integer64: .bigint
      case .float: .real
      case .double: .double
      case .boolean: .boolean
      case .date: .date
      case .uuid: .uuid
      case .decimal: .numeric
      case .string, .uri: .text
      default: .bytea
      }
    self.init(name: name, kind: kind)
  }
}

extension String {
  /// The text as a name in SQL.
  var quoted: String { "\"\(replacingOccurrences(of: "\"", with: "\"\""))\"" }

  /// The text as a constant in SQL.
  var literal: String { "'\(replacingOccurrences(of: "'", with: "''"))'" }

  /// A name that PostgreSQL does not cut: of at most 63 bytes.
  var sqlName: String {
    guard utf8.count > 63 else { return self }
    // FNV-1a.
    var hash: UInt64 = 0xcbf2_9ce4_8422_2325
    for byte in utf8 { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
    var beginning = ""
    for character in self where beginning.utf8.count + character.utf8.count <= 45 {
      beginning.append(character)
    }
    return "\(beginning)_\(String(hash, radix: 16))"
  }
}
