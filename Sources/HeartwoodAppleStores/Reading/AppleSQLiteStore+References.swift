import Foundation
import Heartwood
import HeartwoodSQLite

/// The destinations of to-one relationships.
///
/// A key counts if there is an object with it that the relationship can lead to. A relationship that is to-one on both sides has a column on each,
/// and they may differ. A link counts there if both sides have it, or if one side has it and the other has none; where several objects lead to one
/// that has none, that of the least key counts. So both sides see the same.
extension AppleSQLiteStore {
  /// The destination of a row's object; nil for none. Why a key does not count is noted.
  func destination(
    of relationship: RelationshipDescription, _ column: Int?, _ row: SQLiteRow, _ table: EntityTable
  ) throws -> ManagedObjectID? {
    guard let destination = relationship.destinationEntity, let key = row.rowid,
      let other = tables.table(of: destination)
    else { return nil }
    let claimed = try column.flatMap { try claim($0, row, destination, other) }
    if claimed == nil, let column, !row.isNull(column) { noteLost(relationship, column, row, table) }
    guard let pair = tables.pairs[ObjectIdentifier(relationship)] else {
      return claimed.flatMap { identifier($0.entity, $0.key) }
    }
    guard let claimed else {
      return try first(of: pair.inverse, key).flatMap { try identifier(ofObject: $0, in: other) }
    }
    guard try agreed(pair, key, claimed.key) else {
      try noteLost(relationship, row, claimed.key, table, other)
      return nil
    }
    return identifier(claimed.entity, claimed.key)
  }

  /// Whether an object's own key counts on the other side, too.
  private func agreed(_ pair: OneToOne, _ key: Int64, _ claimed: Int64) throws -> Bool {
    let other = try file.translating { () throws(SQLiteError) in
      try file.database.row(of: pair.inverse.table.table, rowid: claimed)
    }
    let back = try pair.inverse.column.flatMap { column in
      try other.flatMap { try claim(column, $0, pair.own.entity, pair.own.table) }
    }
    return try back.map { $0.key == key } ?? (first(of: pair.own, claimed) == key)
  }

  /// The least key of the objects that lead to a key; nil for none.
  private func first(of side: OneToOne.Side, _ key: Int64) throws -> Int64? {
    guard let column = side.column else { return nil }
    return try rowids(of: side.table.table, column, side.index, key).sorted().first { rowid in
      let row = try file.translating { () throws(SQLiteError) in
        try file.database.row(of: side.table.table, rowid: rowid)
      }
      guard let row, row.integer(column) == key else { return false }
      return identifier(of: row, in: side.table)?.entity.isKindOf(entity: side.entity) == true
    }
  }

  /// The key that a row has, and the entity of its object, if it leads to an object of an entity.
  private func claim(
    _ column: Int, _ row: SQLiteRow, _ destination: EntityDescription, _ table: EntityTable
  ) throws -> (key: Int64, entity: EntityDescription)? {
    guard let key = row.integer(column), let entity = try entity(ofKey: key, in: table),
      entity === destination || entity.isKindOf(entity: destination)
    else { return nil }
    return (key, entity)
  }

  // MARK: Objects

  /// The identifier of an object with its own entity; nil if there is no such object.
  func identifier(ofObject key: Int64, in table: EntityTable) throws -> ManagedObjectID? {
    try entity(ofKey: key, in: table).flatMap { identifier($0, key) }
  }

  /// The entity of the object with a key; nil if there is no such object.
  func entity(ofKey key: Int64, in table: EntityTable) throws -> EntityDescription? {
    guard key > 0, key <= Self.mostNumber else { return nil }
    if let keys = try table.keys.ifWorthwhile({ try readKeys(of: table) }) {
      return keys.first { $0.value.contains(key) }.flatMap { table.readers[$0.key]?.entity }
    }
    let row = try file.translating { () throws(SQLiteError) in
      try file.database.row(of: table.table, rowid: key)
    }
    return row.flatMap { reader(of: $0, in: table)?.entity }
  }

  /// The keys of a table's objects, by the numbers of their entities.
  func keys(of table: EntityTable) throws -> [Int64: KeySet] {
    try table.keys.all { try readKeys(of: table) }
  }

  private func readKeys(of table: EntityTable) throws -> [Int64: KeySet] {
    var keys: [Int64: KeySet] = [:]
    // Rows of one entity mostly follow one another.
    var (current, set) = (Int64?.none, KeySet())
    try AppleStoreFile.forEachRow(of: table.table, file.database, url) { row in
      guard let key = row.rowid, key > 0, key <= Self.mostNumber else { return }
      let number = entityNumber(of: row, in: table)
      if number == nil || number != current {
        guard let number, table.readers[number] != nil else {
          return unfit.add(unknownEntity(of: row, in: table), row: key)
        }
        if let current { keys[current] = set }
        (current, set) = (number, keys.removeValue(forKey: number) ?? KeySet())
      }
      set.insert(key)
    }
    if let current { keys[current] = set }
    return keys
  }

  // MARK: Notes

  private func noteLost(
    _ relationship: RelationshipDescription, _ column: Int, _ row: SQLiteRow, _ table: EntityTable
  ) {
    let what = "a reference of \(Self.name(relationship))"
    unfit.add(
      row.integer(column) == nil
        ? "\(what) is no key of an object, and is left out"
        : "\(what) leads to an object that is not there, and is left out", row: row.rowid ?? 0)
  }

  private func noteLost(
    _ relationship: RelationshipDescription, _ row: SQLiteRow, _ claimed: Int64, _ table: EntityTable,
    _ other: EntityTable
  ) throws {
    func name(_ key: Int64, _ table: EntityTable) throws -> String {
      "\(try entity(ofKey: key, in: table)?.name ?? "")/p\(key)"
    }
    unfit.add(
      "a link of \(Self.name(relationship)) is left out, as its destination has another one",
      row: row.rowid ?? 0, example: "\(try name(row.rowid ?? 0, table)) to \(try name(claimed, other))")
  }

  static func name(_ relationship: RelationshipDescription) -> String {
    "\(relationship.entity?.name ?? "").\(relationship.name)"
  }
}
