import Heartwood

/// Saving the to-many relationships that rows of the other side do not imply.
extension PostgresStore {
  /// Pairs of a table of pairs.
  private struct Pairs {
    var own: [Int64] = []
    var other: [Int64] = []
    var positions: [Int64] = []

    mutating func append(_ own: Int64, _ other: Int64, _ position: Int64 = 0) {
      self.own.append(own)
      self.other.append(other)
      positions.append(position)
    }
  }

  func writeRelationships(_ request: SaveChangesRequest, _ connection: PostgresConnection) throws {
    var changed: [String: (RelationshipDescription, [(Int64, SaveChangesRequest.RelationshipChanges)])] = [:]
    let objects =
      request.insertedInOrder
      + (request.updatedObjects ?? []).sorted { number($0.objectID) < number($1.objectID) }
    for object in objects {
      for relationship in object.entity.relationshipsByName.values
      where relationship.isToMany && !relationship.isTransient {
        guard schema.side(relationship) != nil || relationship.isOrdered,
          let changes = request.changes(of: relationship, in: object)
        else { continue }
        changed[relationship.fullName, default: (relationship, [])].1.append(
          (number(object.objectID), changes))
      }
    }
    try writeRelationships(changed, connection)
  }

  /// - Parameter changed: By the full names of relationships, what has changed of objects by their numbers.
  func writeRelationships(
    _ changed: [String: (RelationshipDescription, [(Int64, SaveChangesRequest.RelationshipChanges)])],
    _ connection: PostgresConnection
  ) throws {
    for (_, (relationship, changes)) in changed.sorted(by: { $0.key < $1.key }) {
      if let side = schema.side(relationship) {
        try writePairs(side, changes, connection)
      } else if let (table, column) = schema.inverse(relationship) {
        try writePlaces(table, column, changes, connection)
      }
    }
  }

  private func writePairs(
    _ side: PostgresSide, _ changes: [(Int64, SaveChangesRequest.RelationshipChanges)],
    _ connection: PostgresConnection
  ) throws {
    var (added, removed, ordered, appended) = (Pairs(), Pairs(), Pairs(), Pairs())
    for (own, change) in changes {
      for other in change.added {
        added.append(own, number(other))
        if side.join.isSymmetric { added.append(number(other), own) }
      }
      for other in change.removed {
        removed.append(own, number(other))
        if side.join.isSymmetric { removed.append(number(other), own) }
      }
      guard side.position != nil else { continue }
      if let order = change.order {
        for (place, other) in order.enumerated() { ordered.append(own, number(other), Int64(place)) }
      } else {
        for (place, other) in change.added.enumerated() { appended.append(own, number(other), Int64(place)) }
      }
    }
    let table = side.join.sqlName
    if !removed.own.isEmpty {
      _ = try connection.query(
        "DELETE FROM \(table) x USING unnest($1::int8[], $2::int8[]) v(own, other) WHERE x.\(side.own) = v.own AND x.\(side.other) = v.other",
        [.integers(removed.own), .integers(removed.other)])
    }
    if !added.own.isEmpty {
      _ = try connection.query(
        "INSERT INTO \(table) (\(side.own), \(side.other)) SELECT DISTINCT v.own, v.other FROM unnest($1::int8[], $2::int8[]) v(own, other) "
          + "ON CONFLICT DO NOTHING", [.integers(added.own), .integers(added.other)])
    }
    guard let position = side.position else { return }
    if !ordered.own.isEmpty {
      _ = try connection.query(
        "UPDATE \(table) x SET \(position) = v.place FROM unnest($1::int8[], $2::int8[], $3::int8[]) v(own, other, place) "
          + "WHERE x.\(side.own) = v.own AND x.\(side.other) = v.other",
        [.integers(ordered.own), .integers(ordered.other), .integers(ordered.positions)])
    }
    if !appended.own.isEmpty {
      _ = try connection.query(
        "UPDATE \(table) x SET \(position) = v.place + 1 + COALESCE((SELECT max(y.\(position)) FROM \(table) y WHERE y.\(side.own) = v.own), -1) "
          + "FROM unnest($1::int8[], $2::int8[], $3::int8[]) v(own, other, place) WHERE x.\(side.own) = v.own AND x.\(side.other) = v.other",
        [.integers(appended.own), .integers(appended.other), .integers(appended.positions)])
    }
  }

  /// Writes the places in ordered relationships whose destinations refer back. The versions of these stay: their own values do not change.
  private func writePlaces(
    _ table: PostgresTable, _ column: PostgresColumn,
    _ changes: [(Int64, SaveChangesRequest.RelationshipChanges)], _ connection: PostgresConnection
  ) throws {
    let (position, own) = (PostgresTable.positionColumn(column).quoted, column.name.quoted)
    var (ordered, appended) = (Pairs(), Pairs())
    for (number, change) in changes {
      if let order = change.order {
        for (place, other) in order.enumerated() { ordered.append(number, self.number(other), Int64(place)) }
      } else {
        for (place, other) in change.added.enumerated() {
          appended.append(number, self.number(other), Int64(place))
        }
      }
    }
    if !ordered.own.isEmpty {
      _ = try connection.query(
        "UPDATE \(table.sqlName) t SET \(position) = v.place FROM unnest($1::int8[], $2::int8[], $3::int8[]) v(own, other, place) "
          + "WHERE t._id = v.other AND t.\(own) = v.own",
        [.integers(ordered.own), .integers(ordered.other), .integers(ordered.positions)])
    }
    if !appended.own.isEmpty {
      _ = try connection.query(
        "UPDATE \(table.sqlName) t SET \(position) = v.place + 1 + COALESCE((SELECT max(y.\(position)) FROM \(table.sqlName) y WHERE y.\(own) = v.own AND y._id <> ALL($2::int8[])), -1) "
          + "FROM unnest($1::int8[], $2::int8[], $3::int8[]) v(own, other, place) WHERE t._id = v.other AND t.\(own) = v.own",
        [.integers(appended.own), .integers(appended.other), .integers(appended.positions)])
    }
  }
}
