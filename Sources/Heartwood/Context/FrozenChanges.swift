import HeartwoodBytes

/// The unsaved changes of a context at one time, as values: for the child contexts that read them.
///
/// - Complexity: Making it is linear in the number of changed objects.
final class FrozenChanges: @unchecked Sendable {
  /// What the changes say of a row.
  enum Change {
    case unchanged
    case row(RowView)
    case deleted
  }

  /// The unsaved destinations of a to-many relationship.
  enum Destinations {
    case all([UInt64])
    case differences(RelationshipState.Differences)

    /// The destinations over those that `base` has.
    func keys(over base: any RowSource, _ relationship: RelationshipDescription, _ key: UInt64) throws
      -> [UInt64]
    {
      switch self {
      case .all(let keys): return keys
      case .differences(let differences):
        var keys: [UInt64] = []
        try base.destinations(relationship, of: key) { destination in
          if !differences.removed.contains(destination), !differences.added.contains(destination) {
            keys.append(destination)
          }
          return true
        }
        return keys + differences.added
      }
    }
  }

  /// A changed row of one root entity.
  private struct Place: Hashable {
    let root: UInt16
    let key: UInt64
  }

  private struct LinkPlace: Hashable {
    let place: Place
    let slot: Int
  }

  /// The changed rows; nil for deleted ones. Never changed after the initialiser.
  private var rows: [Place: StoredRow?] = [:]
  private var slab: RowSlab?
  private var links: [LinkPlace: Destinations] = [:]
  /// The numbers of the stores that new objects get, by their keys, where there are several.
  private var stores: [UInt64: Int] = [:]
  /// The changed rows of each root entity, in the order of their changes.
  private var keys: [UInt16: [UInt64]] = [:]

  init(_ context: ManagedObjectContext) {
    for object in context.changes.inserted { add(object, context.permanentKeys) }
    noteStores(of: Array(context.changes.inserted), context)
    for object in context.changes.updated { add(object, context.permanentKeys) }
    for object in context.changes.deleted { addRow(nil, object) }
    for object in context.changes.gone { addRow(nil, object) }
  }

  var isEmpty: Bool { rows.isEmpty }

  private func noteStores(of objects: [ManagedObject], _ context: ManagedObjectContext) {
    guard context.storeIdentity.isOfSeveral, let union = try? context.objectStore() as? StoreUnion,
      let choice = try? StoreChoice(for: objects, in: union, context)
    else { return }
    for object in objects { stores[object.identifier.key] = choice.number(of: object) }
  }

  /// The number of the store that has an object, or gets it.
  func storeNumber(of key: UInt64) -> Int? { key.isPermanentKey ? key.storeNumber : stores[key] }

  func row(_ root: EntityDescription, _ key: UInt64) -> Change {
    guard let row = rows[Place(root: root.number, key: key)] else { return .unchanged }
    return row.map { .row($0.view) } ?? .deleted
  }

  /// The unsaved destinations of a relationship; nil if they are unchanged.
  func destinations(_ relationship: RelationshipDescription, of key: UInt64) -> Destinations? {
    guard !links.isEmpty, let root = relationship.entity?.rootEntity.number else { return nil }
    return links[LinkPlace(place: Place(root: root, key: key), slot: relationship.slot)]
  }

  /// The keys of the changed rows of a root entity.
  func changedKeys(of root: EntityDescription) -> [UInt64] { keys[root.number] ?? [] }

  var changedRoots: Set<UInt16> { Set(keys.keys) }

  private func add(_ object: ManagedObject, _ permanentKeys: KeyMap) {
    let row = object.encodedRow(version: object.rowVersion, mapping: permanentKeys.permanent)
    addRow(row.withUnsafeBytes { StoredRow(copying: $0, into: &slab) }, object)
    let place = Place(root: object.entity.rootEntity.number, key: object.identifier.key)
    for slot in object.changedStoredToManySlots {
      guard let state = object.relationshipState(at: slot) else { continue }
      links[LinkPlace(place: place, slot: slot)] =
        state.isLoaded ? .all(state.keys()) : .differences(state.differences)
    }
  }

  private func addRow(_ row: StoredRow?, _ object: ManagedObject) {
    let root = object.entity.rootEntity.number
    rows[Place(root: root, key: object.identifier.key)] = .some(row)
    keys[root, default: []].append(object.identifier.key)
  }
}
