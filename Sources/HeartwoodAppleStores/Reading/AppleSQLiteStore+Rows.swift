import Foundation
import Heartwood
import HeartwoodSQLite

/// Rows as nodes.
extension AppleSQLiteStore {
  /// The greatest primary key of an object that has a number of its own as identifier.
  static let mostNumber: Int64 = (1 << 52) - 1

  func identifier(_ entity: EntityDescription, _ key: Int64) -> ManagedObjectID? {
    guard key > 0, key <= Self.mostNumber else { return nil }
    return newObjectID(for: entity, number: UInt64(key))
  }

  /// The number of a row's entity.
  func entityNumber(of row: SQLiteRow, in table: EntityTable) -> Int64? {
    guard let column = table.entityColumn else { return table.onlyNumber }
    return row.integer(column)
  }

  /// Nil for a row of an entity that the model does not have.
  func identifier(of row: SQLiteRow, in table: EntityTable) -> ManagedObjectID? {
    guard let reader = reader(of: row, in: table), let key = row.rowid else { return nil }
    return identifier(reader.entity, key)
  }

  func reader(of row: SQLiteRow, in table: EntityTable) -> EntityTable.Reader? {
    guard let number = entityNumber(of: row, in: table) else { return nil }
    return table.readers[number]
  }

  func node(_ key: Int64, in table: EntityTable) throws -> IncrementalStoreNode? {
    let row = try file.translating { () throws(SQLiteError) in
      try file.database.row(of: table.table, rowid: key)
    }
    return try row.flatMap { try node(of: $0, in: table) }
  }

  /// Nil for a row of an entity that the model does not have.
  func node(of row: SQLiteRow, in table: EntityTable) throws -> IncrementalStoreNode? {
    guard let key = row.rowid else { return nil }
    guard let reader = reader(of: row, in: table) else {
      unfit.add(unknownEntity(of: row, in: table), row: key)
      return nil
    }
    guard let id = identifier(reader.entity, key) else {
      noteKey(key, table)
      return nil
    }
    var values: [StoredValue] = []
    values.reserveCapacity(reader.cells.count)
    for place in reader.cells.indices { values.append(try value(at: place, reader, row, key, table)) }
    return IncrementalStoreNode(objectID: id, storedValues: values, version: version(of: row, in: table))
  }

  func noteKey(_ key: Int64, _ table: EntityTable) {
    unfit.add(
      "a row of \(table.table.name) has a primary key that no object can have, and is left out", row: key)
  }

  func version(of row: SQLiteRow, in table: EntityTable) -> UInt64 {
    let version = table.versionColumn.flatMap(row.integer) ?? 1
    return UInt64(clamping: max(1, min(version, Int64(UInt32.max) - 1)))
  }

  /// Why a row is of no entity of its table.
  func unknownEntity(of row: SQLiteRow, in table: EntityTable) -> String {
    let beginning = "a row of \(table.table.name)"
    guard let number = entityNumber(of: row, in: table) else {
      return "\(beginning) does not say of which entity it is, and is left out"
    }
    guard let entity = tables.numbers.entities[number] else {
      let name = file.entities.first { $0.number == number }.map { $0.name } ?? "number \(number)"
      return "\(beginning) is of the entity \(name), which the model does not have, and is left out"
    }
    return entity.isAbstract
      ? "\(beginning) is of the abstract entity \(entity.name ?? ""), and is left out"
      : "\(beginning) is of the entity \(entity.name ?? ""), which has another table, and is left out"
  }

  /// The value of the stored property at a place.
  @inline(__always)
  func value(
    at place: Int, _ reader: EntityTable.Reader, _ row: SQLiteRow, _ key: Int64, _ table: EntityTable
  ) throws -> StoredValue {
    if let plain = reader.plain[place],
      let value = row.storedValue(plain.column, plain.kind, table.encoding)
    {
      return value
    }
    return try value(of: reader.cells[place], row, key, table)
  }

  func value(
    of cell: EntityTable.Cell, _ row: SQLiteRow, _ key: Int64, _ table: EntityTable
  ) throws -> StoredValue {
    if let relationship = cell.relationship {
      return try destination(of: relationship, cell.column, row, table).map { .object($0) } ?? .null
    }
    guard let column = cell.column else { return .null }
    guard let value = row.storedValue(column, cell.kind, table.encoding) else {
      unfit.add(
        "a value of \(table.table.name).\(table.table.columns[column].name) does not fit \(cell.property.name), and is read as none",
        row: key)
      return .null
    }
    guard case .external = cell.kind, case .data(let data) = value else { return value }
    switch external.data(of: data) {
    case .data(let data): return .data(data)
    case .missing:
      unfit.add(
        "a value of \(table.table.name).\(table.table.columns[column].name) is in a file that is not in \(external.path), and is read as none: "
          + "bring that hidden folder, too", row: key)
      return .null
    }
  }
}
