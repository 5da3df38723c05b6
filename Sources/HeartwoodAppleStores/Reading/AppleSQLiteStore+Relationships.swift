import Foundation
import Heartwood
import HeartwoodSQLite

/// The destinations of to-many relationships.
extension AppleSQLiteStore {
  /// The destinations of an object, in their order if the relationship is ordered.
  func destinations(of relationship: RelationshipDescription, _ key: Int64) throws -> [ManagedObjectID] {
    switch tables.routes[ObjectIdentifier(relationship)] {
    case .foreign(let foreign)?: return try destinations(foreign, key)
    case .join(let join)?: return try destinations(join, key)
    case nil: return []
    }
  }

  /// A destination with what it is sorted by. Rows without a value come first, as in SQLite; equal ones in the order of their keys.
  private struct Place: Comparable {
    let order: Int64
    let id: ManagedObjectID
    let key: Int64

    static func < (left: Place, right: Place) -> Bool { (left.order, left.key) < (right.order, right.key) }
    static func == (left: Place, right: Place) -> Bool { (left.order, left.key) == (right.order, right.key) }
  }

  private func destinations(_ foreign: ForeignKey, _ key: Int64) throws -> [ManagedObjectID] {
    let keys = try rowids(of: foreign.table.table, foreign.column, foreign.index, key)
    var places: [Place] = []
    for key in keys {
      let row = try file.translating { () throws(SQLiteError) in
        try file.database.row(of: foreign.table.table, rowid: key)
      }
      guard let row, let id = identifier(of: row, in: foreign.table) else { continue }
      places.append(Place(order: foreign.order.flatMap(row.integer) ?? .min, id: id, key: key))
    }
    return places.sorted().map(\.id)
  }

  private func destinations(_ join: JoinTable, _ key: Int64) throws -> [ManagedObjectID] {
    var places = try places(join, own: join.own, other: join.other, join.order, join.index, key)
    if join.isSymmetric {
      let known = Set(places.map(\.key))
      places += try self.places(join, own: join.other, other: join.own, nil, join.inverseIndex, key).filter {
        !known.contains($0.key)
      }
    }
    return places.sorted().map(\.id)
  }

  private func places(
    _ join: JoinTable, own: Int, other: Int, _ order: Int?, _ index: SQLiteIndex?, _ key: Int64
  ) throws -> [Place] {
    guard let table = tables.table(of: join.destination) else { return [] }
    var places: [Place] = []
    for rowid in try rowids(of: join.table, own, index, key) {
      let row = try file.translating { () throws(SQLiteError) in
        try file.database.row(of: join.table, rowid: rowid)
      }
      guard let row, let destination = row.integer(other), let id = try identifier(destination, in: table)
      else {
        continue
      }
      places.append(Place(order: order.flatMap(row.integer) ?? .min, id: id, key: destination))
    }
    return places
  }

  /// The identifier of a row with its own entity; nil if there is no such row, as in a join.
  private func identifier(_ key: Int64, in table: EntityTable) throws -> ManagedObjectID? {
    let row = try file.translating { () throws(SQLiteError) in
      try file.database.row(of: table.table, rowid: key)
    }
    return row.flatMap { identifier(of: $0, in: table) }
  }

  /// The rowids of the rows of a table that have a key in a column: by an index, or by one that is made in memory where the file has none.
  private func rowids(
    of table: SQLiteTable, _ column: Int, _ index: SQLiteIndex?, _ key: Int64
  ) throws -> [Int64] {
    if let index {
      return try file.translating { () throws(SQLiteError) in
        try file.database.rowids(of: index, equalTo: [.integer(key)])
      }
    }
    let known = try foreignKeys.get("\(table.name) \(column)") {
      var found: [Int64: [Int64]] = [:]
      try AppleStoreFile.forEachRow(of: table, file.database, url) { row in
        if let key = row.integer(column), let rowid = row.rowid { found[key, default: []].append(rowid) }
      }
      return found
    }
    return known[key] ?? []
  }
}
