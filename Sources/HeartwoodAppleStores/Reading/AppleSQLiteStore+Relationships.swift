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

  private func destinations(_ foreign: ForeignKey, _ owner: Int64) throws -> [ManagedObjectID] {
    let keys = try rowids(of: foreign.table.table, foreign.column, foreign.index, owner)
    var places: [Place] = []
    for key in keys {
      let row = try file.translating { () throws(SQLiteError) in
        try file.database.row(of: foreign.table.table, rowid: key)
      }
      guard let row, row.integer(foreign.column) == owner, let id = identifier(of: row, in: foreign.table),
        id.entity.isKindOf(entity: foreign.destination)
      else { continue }
      places.append(Place(order: foreign.order.flatMap(row.integer) ?? .min, id: id, key: key))
    }
    return places.sorted().map(\.id)
  }

  private func destinations(_ join: JoinTable, _ key: Int64) throws -> [ManagedObjectID] {
    var places = try places(join, join.own, join.other, join.order, join.index, key)
    if join.isSymmetric { places += try self.places(join, join.other, join.own, nil, join.inverseIndex, key) }
    // A link may be in the table more than once.
    var seen: Set<Int64> = []
    return places.filter { seen.insert($0.key).inserted }.sorted().map(\.id)
  }

  private func places(
    _ join: JoinTable, _ own: Int, _ other: Int, _ order: Int?, _ index: SQLiteIndex?, _ key: Int64
  ) throws -> [Place] {
    guard let table = tables.table(of: join.destination) else { return [] }
    let joined = try joinedKeys(join.table, own, other, order, index, key).compactMap { joined -> Place? in
      guard let id = try identifier(ofObject: joined.key, in: table),
        id.entity.isKindOf(entity: join.destination)
      else { return nil }
      return Place(order: joined.order, id: id, key: joined.key)
    }
    return joined.sorted()
  }

  /// The other sides of the rows of a table of links with a key: found by an index, or by one that is made in memory where the file has
  /// none.
  private func joinedKeys(
    _ table: SQLiteTable, _ own: Int, _ other: Int, _ order: Int?, _ index: SQLiteIndex?, _ key: Int64
  ) throws -> [JoinedKey] {
    func joined(_ row: SQLiteRow) -> JoinedKey? {
      row.integer(other).map { JoinedKey(key: $0, order: order.flatMap(row.integer) ?? .min) }
    }
    guard !table.isWithoutRowid, let index = try usable(index) else {
      return try rememberedLinks.get("\(table.name) \(own) \(order ?? -1)") {
        var found: [Int64: [JoinedKey]] = [:]
        try AppleStoreFile.forEachRow(of: table, file.database, url) { row in
          if let key = row.integer(own), let joined = joined(row) { found[key, default: []].append(joined) }
        }
        return found
      }[key] ?? []
    }
    return try rowids(index, key).compactMap { rowid in
      let row = try file.translating { () throws(SQLiteError) in
        try file.database.row(of: table, rowid: rowid)
      }
      return row.flatMap { $0.integer(own) == key ? joined($0) : nil }
    }
  }

  /// The rowids of the rows of a table that have a key in a column: by an index, or by one that is made in memory where the file has none.
  func rowids(
    of table: SQLiteTable, _ column: Int, _ index: SQLiteIndex?, _ key: Int64
  ) throws -> [Int64] {
    if let index = try usable(index) { return try rowids(index, key) }
    let known = try foreignKeys.get("\(table.name) \(column)") {
      var found: [Int64: [Int64]] = [:]
      try AppleStoreFile.forEachRow(of: table, file.database, url) { row in
        if let key = row.integer(column), let rowid = row.rowid { found[key, default: []].append(rowid) }
      }
      return found
    }
    return known[key] ?? []
  }

  private func rowids(_ index: SQLiteIndex, _ key: Int64) throws -> [Int64] {
    try file.translating { () throws(SQLiteError) in
      try file.database.rowids(of: index, equalTo: [.integer(key)])
    }
  }

  /// An index of the file, unless it does not have what its table has, which is noted.
  @discardableResult
  private func usable(_ index: SQLiteIndex?) throws -> SQLiteIndex? {
    guard let index else { return nil }
    let isUsable = try indexes.isUsable(index, in: file.database) {
      let isWhole = try file.translating { () throws(SQLiteError) in
        try file.database.findsAllIntegers(index)
      }
      if !isWhole {
        unfit.add(
          "the index \(index.name) does not have what its table \(index.tableName) has, as in a damaged file: the table is read instead",
          row: Int64(index.rootPage))
      }
      return isWhole
    }
    return isUsable ? index : nil
  }
}

/// The other side of a row of a table of links.
struct JoinedKey: Sendable {
  let key: Int64
  /// The number that orders the destinations of the first side.
  let order: Int64
}

// MARK: Links that lead nowhere

extension AppleSQLiteStore {
  /// Looks at all links that rows of their own, or rows of destinations, have of relationships, so that ``notes`` has those that lead to objects
  /// that are not there. Others are noted where their objects are read. Compares the indexes by which links are found with their tables.
  ///
  /// - Throws: `.persistentStoreDamaged` if the file cannot be read.
  public func checkLinks() throws {
    indexes.checkAll()
    for index in tables.indexes { try usable(index) }
    var checked: Set<String> = []
    let relationships = managedObjectModel.entities.flatMap { entity in
      entity.relationshipsByName.values.filter { $0.entity === entity }.sorted { $0.name < $1.name }
    }
    for relationship in relationships {
      switch tables.routes[ObjectIdentifier(relationship)] {
      case .join(let join)? where checked.insert(join.table.name).inserted: try check(join, relationship)
      case .foreign(let foreign)? where relationship.inverseRelationship == nil:
        try check(foreign, relationship)
      default: continue
      }
    }
  }

  /// Reads every row of every table of the file, every object, every link and the history, and leaves what does not fit in ``notes``.
  ///
  /// - Throws: `.persistentStoreDamaged` at the first thing that cannot be read.
  public func readAll() throws {
    indexes.checkAll()
    for table in file.database.tables {
      try AppleStoreFile.forEachRow(of: table, file.database, url) { _ in }
    }
    for root in managedObjectModel.entities where root.superentity == nil {
      let relationships = root.family.flatMap { entity in
        entity.relationshipsByName.values.filter { $0.entity === entity && $0.isToMany }
      }
      try enumerateNodes(of: root, from: nil, reversed: false, with: nil) { node in
        guard let key = number(of: node.objectID) else { return true }
        for relationship in relationships { _ = try destinations(of: relationship, key) }
        return true
      }
    }
    try enumerateHistory(after: 0) { _ in true }
    try checkLinks()
  }

  private func check(_ join: JoinTable, _ relationship: RelationshipDescription) throws {
    guard let source = tables.table(of: join.source), let destination = tables.table(of: join.destination)
    else { return }
    var number: Int64 = 0
    try AppleStoreFile.forEachRow(of: join.table, file.database, url) { row in
      number += 1
      guard
        try !leads(row, join.own, to: join.source, source)
          || !leads(row, join.other, to: join.destination, destination)
      else { return }
      unfit.add(
        "a link of \(Self.name(relationship)) in \(join.table.name) leads to an object that is not there, and is left out",
        row: row.rowid ?? number)
    }
  }

  private func check(_ foreign: ForeignKey, _ relationship: RelationshipDescription) throws {
    guard let source = tables.table(of: foreign.source) else { return }
    let table = foreign.table.table
    try AppleStoreFile.forEachRow(of: table, file.database, url) { row in
      guard !row.isNull(foreign.column), try !leads(row, foreign.column, to: foreign.source, source) else {
        return
      }
      unfit.add(
        "a link of \(Self.name(relationship)) in \(table.name).\(table.columns[foreign.column].name) leads from an object that is not there, "
          + "and is left out", row: row.rowid ?? 0)
    }
  }

  /// Whether a row has the key of an object of an entity.
  private func leads(
    _ row: SQLiteRow, _ column: Int, to entity: EntityDescription, _ table: EntityTable
  ) throws -> Bool {
    guard let key = row.integer(column) else { return false }
    return try self.entity(ofKey: key, in: table)?.isKindOf(entity: entity) == true
  }
}
