import Heartwood
import HeartwoodSQLite

/// A table of the links of two relationships that are to-many both.
///
/// Core Data names the table after one of them, which one is found by what exists, and its columns after both: `Z_3ARTWORKS` has
/// `Z_3COLLECTIONS` with keys of what has the artworks, and `Z_7ARTWORKS` with keys of the artworks. Each name may have digits at its end.
struct JoinTable: Sendable {
  let table: SQLiteTable
  /// The column with the keys of the sources of the relationship, and that with those of the destinations.
  let (own, other): (Int, Int)
  /// The columns by which the destinations, and by which the sources are ordered.
  let (order, inverseOrder): (Int?, Int?)
  /// Whether a row is a link in both directions: the relationship is its own inverse.
  let isSymmetric: Bool
  /// Indexes that begin with `own`, and with `other`; nil if the file has none.
  let (index, inverseIndex): (SQLiteIndex?, SQLiteIndex?)
  let destination: EntityDescription
  let source: EntityDescription

  private init(
    _ table: SQLiteTable, _ own: Int, _ other: Int, _ order: Int?, _ inverseOrder: Int?, isSymmetric: Bool,
    _ index: SQLiteIndex?, _ inverseIndex: SQLiteIndex?, _ source: EntityDescription,
    _ destination: EntityDescription
  ) {
    (self.table, self.own, self.other, self.order, self.inverseOrder) = (
      table, own, other, order, inverseOrder
    )
    (self.isSymmetric, self.index, self.inverseIndex) = (isSymmetric, index, inverseIndex)
    (self.source, self.destination) = (source, destination)
  }

  /// The table as the inverse sees it.
  var reversed: JoinTable {
    JoinTable(
      table, other, own, inverseOrder, order, isSymmetric: isSymmetric, inverseIndex, index, destination,
      source)
  }

  /// Nil if there is no such table.
  ///
  /// - Parameters:
  ///   - taken: The names of tables that are those of other relationships.
  ///   - isExact: Whether names with digits at their end are none of the relationships'.
  init?(
    _ relationship: RelationshipDescription, _ inverse: RelationshipDescription, _ numbers: EntityNumbers,
    _ database: SQLiteDatabase, taken: Set<String>, isExact: Bool
  ) {
    guard let source = relationship.entity, let destination = relationship.destinationEntity else {
      return nil
    }
    let (own, other) = (Side(source, relationship, numbers), Side(destination, inverse, numbers))
    var found: (rank: Int, table: SQLiteTable, own: Int, other: Int)?
    for table in database.tables where !taken.contains(table.name) {
      let ranks = [own.rank(ofTable: table.name), other.rank(ofTable: table.name)].compactMap { $0 }
      guard let rank = ranks.filter({ !isExact || $0.digits == 0 }).map(\.rank).min(),
        let (ownColumn, otherColumn) = Self.columns(of: table, own, other, isExact: isExact)
      else { continue }
      if found.map({ rank < $0.rank }) ?? true { found = (rank, table, ownColumn, otherColumn) }
    }
    guard let found else { return nil }
    func order(beside column: Int) -> Int? {
      found.table.columnIndex(named: "Z_FOK_" + found.table.columns[column].name.dropFirst(2))
    }
    self.init(
      found.table, found.own, found.other, relationship.isOrdered ? order(beside: found.other) : nil,
      inverse.isOrdered ? order(beside: found.own) : nil, isSymmetric: inverse === relationship,
      database.index(of: found.table, beginningWith: found.own),
      database.index(of: found.table, beginningWith: found.other), source, destination)
  }

  /// The columns with the keys of both sides. The column of a side is named after the relationship that leads to it.
  private static func columns(
    of table: SQLiteTable, _ own: Side, _ other: Side, isExact: Bool
  ) -> (Int, Int)? {
    let places = table.columns.indices.filter { place in
      let name = table.columns[place].name.uppercased()
      return !name.hasPrefix("Z_FOK_") && name != "Z_PK"
    }
    guard places.count == 2 else { return nil }
    for (first, second) in [(places[0], places[1]), (places[1], places[0])] {
      let names = (table.columns[first].name.uppercased(), table.columns[second].name.uppercased())
      let leadsToOwn =
        own.isColumn(names.0, of: other.relationship, isExact) || names.0 == "REFLEXIVE"
      if leadsToOwn, other.isColumn(names.1, of: own.relationship, isExact) { return (first, second) }
    }
    return nil
  }

  /// One side of the table: an entity and its relationship.
  private struct Side {
    let relationship: RelationshipDescription
    /// The numbers of the entity and of its relatives in the table, its own first.
    let numbers: [Int64]

    init(_ entity: EntityDescription, _ relationship: RelationshipDescription, _ known: EntityNumbers) {
      self.relationship = relationship
      let relatives = [relationship.entity].compactMap { $0 } + entity.root.family
      numbers = ([entity] + relatives).compactMap(known.number)
    }

    /// How well a table's name is that of the relationship: 0 if it has the number of the entity; nil if it is another one's.
    func rank(ofTable name: String) -> (rank: Int, digits: Int)? {
      guard let parts = parts(name), let digits = parts.rank(of: relationship.name),
        let place = numbers.firstIndex(of: parts.number)
      else { return nil }
      return (place * 10_000_000 + digits, digits)
    }

    /// Whether a column has keys of this side's objects: it is named after the relationship of the other side.
    func isColumn(_ name: String, of other: RelationshipDescription, _ isExact: Bool) -> Bool {
      guard let parts = parts(name), let digits = parts.rank(of: other.name) else { return false }
      return numbers.contains(parts.number) && (digits == 0 || !isExact)
    }

    private func parts(_ name: String) -> NumberedName? {
      let name = name.uppercased()
      return name.hasPrefix("Z_") ? NumberedName(name.dropFirst(2)) : nil
    }
  }
}
