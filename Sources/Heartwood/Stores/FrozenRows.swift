import HeartwoodBytes

/// Rows that are not saved, as they were at one time, over those of a store: what a parent context shows its children.
final class FrozenRows: @unchecked Sendable {
  /// What the changes say of a row.
  enum Change {
    case unchanged
    case row(RowView)
    case deleted
  }

  /// The unsaved destinations of a to-many relationship.
  enum Destinations {
    case all([UInt64])
    case differences(added: InsertionOrderedSet<UInt64>, removed: Set<UInt64>)

    /// The destinations over those that `base` has.
    func keys(over base: any RowSource, _ relationship: RelationshipDescription, _ key: UInt64) throws
      -> [UInt64]
    {
      switch self {
      case .all(let keys): return keys
      case .differences(let added, let removed):
        var keys: [UInt64] = []
        try base.destinations(relationship, of: key) { destination in
          if !removed.contains(destination), !added.contains(destination) { keys.append(destination) }
          return true
        }
        return keys + added
      }
    }
  }

  fileprivate struct Place: Hashable {
    let root: UInt16
    let key: UInt64
  }

  fileprivate struct LinkPlace: Hashable {
    let place: Place
    let slot: Int
  }

  /// What is frozen.
  struct Contents {
    /// The changed rows; nil for deleted ones.
    fileprivate var rows: [Place: StoredRow?] = [:]
    private var slab: RowSlab?
    fileprivate var links: [LinkPlace: Destinations] = [:]
    /// The numbers of the stores that new objects get, by their keys, where there are several.
    fileprivate var stores: [UInt64: Int] = [:]
    /// The changed rows of each root entity, in the order of their changes.
    fileprivate var keys: [UInt16: [UInt64]] = [:]

    /// Adds a changed row; nil for one that is deleted.
    mutating func add(_ bytes: [UInt8]?, _ root: EntityDescription, _ key: UInt64) {
      let row = bytes?.withUnsafeBytes { StoredRow(copying: $0, into: &slab) }
      rows[Place(root: root.number, key: key)] = .some(row)
      keys[root.number, default: []].append(key)
    }

    /// Sets the destinations of a row's to-many relationship.
    mutating func set(_ destinations: Destinations, at slot: Int, _ root: EntityDescription, _ key: UInt64) {
      links[LinkPlace(place: Place(root: root.number, key: key), slot: slot)] = destinations
    }

    /// Notes which of several stores a new row gets.
    mutating func note(store: Int, of key: UInt64) { stores[key] = store }
  }

  private let contents: Contents

  init(_ contents: Contents) { self.contents = contents }

  /// The number of the store that has an object, or gets it.
  func storeNumber(of key: UInt64) -> Int? { key.isPermanentKey ? key.storeNumber : contents.stores[key] }

  func row(_ root: EntityDescription, _ key: UInt64) -> Change {
    guard let row = contents.rows[Place(root: root.number, key: key)] else { return .unchanged }
    return row.map { .row($0.view) } ?? .deleted
  }

  /// The unsaved destinations of a relationship; nil if they are unchanged.
  func destinations(_ relationship: RelationshipDescription, of key: UInt64) -> Destinations? {
    guard !contents.links.isEmpty, let root = relationship.entity?.rootEntity.number else { return nil }
    return contents.links[LinkPlace(place: Place(root: root, key: key), slot: relationship.slot)]
  }

  /// The keys of the changed rows of a root entity.
  func changedKeys(of root: EntityDescription) -> [UInt64] { contents.keys[root.number] ?? [] }

  /// The numbers of the root entities that have changed rows.
  var changedRoots: Set<UInt16> { Set(contents.keys.keys) }
}
