/// The rows as a context with unsaved changes sees them: changed objects as rows of their current values, without deleted
/// ones, everything else as it is in the store.
///
/// The rows that it returns stay valid until it is released.
final class PendingOverlay: RowSource {
  private let view: any StoreView
  private let context: ManagedObjectContext
  private var rows: [RowAddress: StoredRow] = [:]
  private var slab: RowSlab?

  init(_ view: any StoreView, _ context: ManagedObjectContext) {
    self.view = view
    self.context = context
  }

  func row(_ root: EntityDescription, _ key: UInt64) throws -> RowView? {
    guard let object = context.registered(root, key), object.hasUnsavedState else {
      return try view.row(root, key)
    }
    return object.state.contains(.deleted) ? nil : row(of: object)
  }

  /// The row that a save would write for a changed object.
  func row(of object: ManagedObject) -> RowView? {
    let place = RowAddress(object.entity, object.identifier.key)
    return (rows[place] ?? encode(object, place)).view
  }

  func destinations(
    _ relationship: RelationshipDescription, of key: UInt64, _ body: (UInt64) throws -> Bool
  ) throws {
    guard let state = pendingState(of: relationship, key) else {
      return try view.destinations(relationship, of: key, body)
    }
    for destination in try keys(state, relationship, key) where try !body(destination) { return }
  }

  func destinationCount(_ relationship: RelationshipDescription, of key: UInt64) throws -> Int {
    guard let state = pendingState(of: relationship, key) else {
      return try view.destinationCount(relationship, of: key)
    }
    return try keys(state, relationship, key).count
  }

  func count(_ counts: inout WordCounts) throws {
    try view.count(&counts)
    let root = counts.attribute.root
    for objects in context.changes.listsForFetches {
      for object in objects where object.entity.rootEntity === root {
        if let row = try view.row(root, object.identifier.key) { counts.add(row, sign: -1) }
        if let row = try row(root, object.identifier.key) { counts.add(row) }
      }
    }
  }

  private func encode(_ object: ManagedObject, _ place: RowAddress) -> StoredRow {
    let permanentKeys = context.permanentKeys
    let bytes = object.encodedRow(version: object.rowVersion, mapping: permanentKeys.permanent)
    let row = bytes.withUnsafeBytes { StoredRow(copying: $0, into: &slab) }
    rows[place] = row
    return row
  }

  /// The context's changes of a relationship; nil if it has none.
  private func pendingState(
    of relationship: RelationshipDescription, _ key: UInt64
  ) -> RelationshipState? {
    guard let root = relationship.entity?.rootEntity, let object = context.registered(root, key),
      let state = object.relationshipState(at: relationship.slot), state.hasChanges
    else { return nil }
    return state
  }

  private func keys(
    _ state: RelationshipState, _ relationship: RelationshipDescription, _ key: UInt64
  ) throws -> [UInt64] {
    if state.isLoaded { return state.keys() }
    var keys: [UInt64] = []
    try view.destinations(relationship, of: key) { destination in
      if !state.removed.contains(destination) && !state.added.contains(destination) {
        keys.append(destination)
      }
      return true
    }
    return keys + state.added
  }
}

extension ManagedObject {
  /// Whether the context shows the object differently from its row in the store.
  var hasUnsavedState: Bool { !state.isDisjoint(with: [.inserted, .updated, .deleted]) }
}
