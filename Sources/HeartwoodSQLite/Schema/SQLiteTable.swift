/// How SQLite treats values of a column: "Datatypes In SQLite", section 3.
public enum SQLiteAffinity: String, Hashable, Sendable {
  /// Text is preferred.
  case text
  /// Numbers are preferred.
  case numeric
  /// Integers are preferred.
  case integer
  /// Floating-point numbers are preferred.
  case real
  /// Values are kept as they are.
  case blob

  /// The affinity of a declared type.
  init(declaredType: String, isStrict: Bool) {
    let type = declaredType.lowercasedName
    self =
      if isStrict && type == "any" || type.isEmpty { .blob } else if type.contains("int") {
        .integer
      } else if type.contains("char") || type.contains("clob") || type.contains("text") {
        .text
      } else if type.contains("blob") {
        .blob
      } else if type.contains("real") || type.contains("floa") || type.contains("doub") { .real } else {
        .numeric
      }
  }
}

/// A column of a table.
public struct SQLiteColumn: Hashable, Sendable {
  /// The name as it was declared.
  public let name: String
  /// The type as it was declared; empty if there is none.
  public let declaredType: String
  /// How values are treated.
  public let affinity: SQLiteAffinity
  /// The value of the rows that were inserted before the column was added.
  public let defaultValue: SQLiteValue
  /// Whether null is refused.
  public let isNotNull: Bool
  /// The order of text, such as `BINARY`, `NOCASE` or `RTRIM`.
  public let collation: String
}

/// A table of a database, as its `CREATE TABLE` says.
public struct SQLiteTable: Hashable, Sendable {
  /// The name.
  public let name: String
  /// The columns whose values are in the file, in their order.
  public let columns: [SQLiteColumn]
  /// The names of generated columns that are computed when they are read: their values are not in the file.
  public let computedColumns: [String]
  /// The index of the column that is the rowid (`INTEGER PRIMARY KEY`), if there is one.
  public let rowidAlias: Int?
  /// The indices of the columns of the primary key, in the order of the key; empty if there is none. A column that the
  /// key names for two orders of text is there twice.
  public let primaryKey: [Int]
  /// Whether the rows have no rowid, and are in the order of the primary key.
  public let isWithoutRowid: Bool
  /// The page of the root of the table's tree.
  public let rootPage: UInt32
  /// The `CREATE TABLE` statement.
  public let sql: String

  /// The index of a column; names are compared without case. Nil if there is no such column in the file.
  public func columnIndex(named name: String) -> Int? {
    columns.firstIndex { $0.name.isSameName(as: name) }
  }
}

/// A column of an index.
public struct SQLiteIndexColumn: Hashable, Sendable {
  /// The name of the table's column; nil if it is an expression.
  public let name: String?
  /// The order of text.
  public let collation: String
  /// Whether larger values come first.
  public let isDescending: Bool
}

/// An index of a table.
public struct SQLiteIndex: Hashable, Sendable {
  /// The name.
  public let name: String
  /// The name of the table.
  public let tableName: String
  /// The columns by which the index is ordered.
  public let columns: [SQLiteIndexColumn]
  /// Whether equal keys are refused.
  public let isUnique: Bool
  /// Whether only some rows are in it (`WHERE`).
  public let isPartial: Bool
  /// The page of the root of the index's tree.
  public let rootPage: UInt32
  /// The `CREATE INDEX` statement; nil for an index of a constraint.
  public let sql: String?
}
