import Foundation
import HeartwoodBytes

/// Objects whose derived attributes are to be computed at the end of a save.
struct RowsToDerive {
  /// By route, the keys of objects that have the route's last relationship to a changed object.
  fileprivate var owners: [Int: Set<UInt64>] = [:]
  /// By route, the keys of changed objects whose owners are found over a to-many relationship.
  fileprivate var destinations: [Int: Set<UInt64>] = [:]
  /// By the number of the root entity, the keys of objects whose own rows have changed.
  fileprivate var own: [UInt16: Set<UInt64>] = [:]

  var isEmpty: Bool { owners.isEmpty && destinations.isEmpty && own.isEmpty }
}

/// Keeping derived attributes.
extension LogStoreTransaction {
  /// A row with the derived values that depend on it alone, and with the former ones of those that read other rows.
  func derived(
    _ row: [UInt8], _ key: UInt64, _ stored: StoreEntity, from old: RowView?
  ) throws -> (row: [UInt8], changed: [Int]) {
    guard let plan = derivations?.of(stored.entity),
      !plan.ofOwnRow.isEmpty || (old != nil && !plan.ofOthers.isEmpty)
    else { return (row, []) }
    let layout = stored.entity.layout
    return try row.withUnsafeBytes { bytes in
      let new = try RowView(validating: bytes, layout: layout)
      var values: [Int: Value] = [:]
      for derivation in plan.ofOwnRow {
        values[derivation.slot] = try derivation.value(of: new, key, in: self, now: now)
      }
      let kept = old == nil ? [] : plan.ofOthers.map(\.slot)
      return new.replacing(values, kept: kept, from: old, layout)
    }
  }

  /// Notes the objects whose derived values a written row may change.
  ///
  /// - Parameters:
  ///   - old: Nil for a new row.
  ///   - new: Nil for a deleted row.
  func noteSources(from old: RowView?, to new: RowView?, _ key: UInt64, _ entity: EntityDescription) {
    guard let plan = derivations?.of(entity) else { return }
    let columns = entity.layout.columns
    func isChanged(_ slots: Set<Int>) -> Bool {
      guard let old, let new else { return true }
      return slots.contains { !old.isSame(columns[$0], in: new) }
    }
    if new != nil, !plan.ofOthers.isEmpty, isChanged(plan.ownSlots) {
      toDerive.own[entity.rootEntity.number, default: []].insert(key)
    }
    for reader in plan.readers {
      let isRead = isChanged(reader.slots)
      guard let back = reader.back else {
        // Nothing leads to a new row before its own relationships are written.
        if isRead, old != nil { toDerive.destinations[reader.route, default: []].insert(key) }
        continue
      }
      if let old, let new, !isRead, old.isSame(back, in: new) { continue }
      for row in [old, new] {
        guard let row, !row.isNull(back) else { continue }
        toDerive.owners[reader.route, default: []].insert(row.key(back))
      }
    }
  }

  /// Notes that the destinations of a relationship with entries of its own have changed.
  func noteLinks(_ relationship: RelationshipDescription, _ source: UInt64, _ target: UInt64? = nil) {
    guard let plan = derivations else { return }
    for route in plan.routes(over: relationship) { toDerive.owners[route, default: []].insert(source) }
    guard let target, let inverse = relationship.inverseRelationship else { return }
    for route in plan.routes(over: inverse) { toDerive.owners[route, default: []].insert(target) }
  }

  func deriveValues() throws -> [DerivedRow] {
    guard let plan = derivations, !toDerive.isEmpty else { return [] }
    try writeEntries()
    let marks = toDerive
    toDerive = RowsToDerive()
    var keys = marks.own
    for (number, route) in plan.routes.enumerated() {
      let found = try ownersAtStart(
        of: route, marks.owners[number] ?? [], destinations: marks.destinations[number] ?? [])
      guard !found.isEmpty, let root = route.first?.entity?.rootEntity else { continue }
      keys[root.number, default: []].formUnion(found)
    }
    let roots = Dictionary(uniqueKeysWithValues: schema.rootEntities.map { ($0.number, $0) })
    var rows: [RecomputedRow] = []
    for (number, keys) in keys.sorted(by: { $0.key < $1.key }) {
      guard let root = roots[number] else { continue }
      for key in keys.sorted() {
        if let row = try derive(root, key, plan) { rows.append(row) }
      }
    }
    noteDerived(rows)
    return rows.map(\.row)
  }

  /// The keys of the objects from which a route leads to changed objects.
  private func ownersAtStart(
    of route: [RelationshipDescription], _ owners: Set<UInt64>, destinations: Set<UInt64>
  ) throws -> Set<UInt64> {
    var found = owners
    for key in destinations { try addOwners(of: key, over: route[route.count - 1], to: &found) }
    for relationship in route.dropLast().reversed() {
      var before: Set<UInt64> = []
      for key in found { try addOwners(of: key, over: relationship, to: &before) }
      found = before
    }
    return found
  }

  private func addOwners(
    of key: UInt64, over relationship: RelationshipDescription, to owners: inout Set<UInt64>
  ) throws {
    guard let inverse = relationship.inverseRelationship else { return }
    try origins(over: inverse, of: key) {
      owners.insert($0)
      return true
    }
  }
}
