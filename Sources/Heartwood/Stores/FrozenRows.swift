import HeartwoodBytes

/// Rows that are not saved, as they were at one time, over those of a store: what a parent context shows its children.
final class FrozenRows: @unchecked Sendable {
  /// A change of a row.
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

  /// The changes that are frozen together.
  struct Contents {
    fileprivate enum Row {
      case changed(StoredRow)
      case deleted
      /// It is as it is stored, and was changed before.
      case unchanged
    }

    fileprivate var rows: [RowAddress: Row] = [:]
    private var slab: RowSlab?
    fileprivate var links: [LinkAddress: Destinations] = [:]
    /// The numbers of the stores that new objects get, by their keys, where there are several.
    fileprivate var stores: [UInt64: Int] = [:]
    /// The rows of each root entity, in the order of their changes.
    fileprivate var keys: [UInt16: [UInt64]] = [:]

    /// Adds a changed row.
    mutating func add(_ bytes: [UInt8], _ root: EntityDescription, _ key: UInt64) {
      add(.changed(bytes.withUnsafeBytes { StoredRow(copying: $0, into: &slab) }), root, key)
    }

    mutating func addDeleted(_ root: EntityDescription, _ key: UInt64) { add(.deleted, root, key) }

    /// Adds a row that was changed in what was frozen before.
    mutating func addUnchanged(_ root: EntityDescription, _ key: UInt64) { add(.unchanged, root, key) }

    private mutating func add(_ row: Row, _ root: EntityDescription, _ key: UInt64) {
      if rows.updateValue(row, forKey: RowAddress(root: root.number, key: key)) == nil {
        keys[root.number, default: []].append(key)
      }
    }

    /// Sets the destinations of a row's to-many relationship.
    mutating func set(_ destinations: Destinations, at slot: Int, _ root: EntityDescription, _ key: UInt64) {
      links[LinkAddress(RowAddress(root: root.number, key: key), slot: slot)] = destinations
    }

    /// Notes which of several stores a new row gets.
    mutating func note(store: Int, of key: UInt64) { stores[key] = store }

    /// Removes the rows that only say that they are as stored: nothing is below them.
    fileprivate mutating func dropUnchanged() {
      rows = rows.filter { row in
        if case .unchanged = row.value { return false }
        return true
      }
      let known = rows
      keys = keys.reduce(into: [:]) { left, part in
        left[part.key] = part.value.filter { known[RowAddress(root: part.key, key: $0)] != nil }
      }
    }

    /// Takes over what was frozen later.
    fileprivate mutating func take(_ later: Contents) {
      if !links.isEmpty { links = links.filter { later.rows[$0.key.owner] == nil } }
      links.merge(later.links) { $1 }
      stores.merge(later.stores) { $1 }
      for (root, numbers) in later.keys {
        keys[root, default: []] += numbers.filter { rows[RowAddress(root: root, key: $0)] == nil }
      }
      rows.merge(later.rows) { $1 }
    }
  }

  /// The rows that were frozen together, the latest first. Each is at least twice as large as the one before it.
  private let parts: [Contents]

  init(_ contents: Contents) { parts = [contents] }

  private init(parts: [Contents]) { self.parts = parts }

  /// The rows with those that have changed since.
  ///
  /// - Complexity: O(log n) for each of n rows that are added one after the other, amortised.
  func adding(_ later: Contents) -> FrozenRows {
    var parts = parts[...]
    var first = later
    while let next = parts.first, next.rows.count < 2 * first.rows.count {
      var merged = next
      merged.take(first)
      first = merged
      parts.removeFirst()
    }
    if parts.isEmpty { first.dropUnchanged() }
    return FrozenRows(parts: [first] + parts)
  }

  private func part(having address: RowAddress) -> Contents? { parts.first { $0.rows[address] != nil } }

  /// The number of the store that has an object, or gets it.
  func storeNumber(of key: UInt64) -> Int? {
    key.isPermanentKey ? key.storeNumber : parts.lazy.compactMap { $0.stores[key] }.first
  }

  func row(_ root: EntityDescription, _ key: UInt64) -> Change {
    let address = RowAddress(root: root.number, key: key)
    switch part(having: address)?.rows[address] {
    case .changed(let row): return .row(row.view)
    case .deleted: return .deleted
    case .unchanged, nil: return .unchanged
    }
  }

  /// The unsaved destinations of a relationship; nil if they are unchanged.
  func destinations(_ relationship: RelationshipDescription, of key: UInt64) -> Destinations? {
    let address = LinkAddress(relationship, of: key)
    return part(having: address.owner)?.links[address]
  }

  /// The keys of the changed rows of a root entity.
  func changedKeys(of root: EntityDescription) -> [UInt64] {
    guard parts.count > 1 else { return parts[0].keys[root.number] ?? [] }
    var seen: Set<UInt64> = []
    return parts.reversed().flatMap { $0.keys[root.number] ?? [] }.filter { key in
      guard seen.insert(key).inserted else { return false }
      if case .unchanged = row(root, key) { return false }
      return true
    }
  }

  /// The numbers of the root entities that have changed rows.
  var changedRoots: Set<UInt16> { parts.reduce(into: []) { $0.formUnion($1.keys.keys) } }
}
