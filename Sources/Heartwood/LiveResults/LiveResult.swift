/// The result of a live query at some time, and what has changed since the one before.
public struct LiveResult: Sendable {
  /// The identifiers of the objects, in order. Those of unsaved objects are temporary.
  public let objectIDs: [ManagedObjectID]
  /// The difference that makes `objectIDs` of those of the result before; of the first result, of none. An object that has moved
  /// is removed and inserted, each associated with the other.
  public let difference: CollectionDifference<ManagedObjectID>
  /// Objects of both results whose values have changed.
  public let updatedObjectIDs: Set<ManagedObjectID>
}

/// Changes that a live query has found since its last element was taken.
struct LiveQueryChanges {
  private var newest: [ManagedObjectID]
  /// The difference to the last element; nil if there are several, which are compared when they are taken.
  private var difference: CollectionDifference<ManagedObjectID>?
  private var updated: Set<ManagedObjectID>

  /// A result that was fetched.
  init(fetched: [ManagedObjectID]) { (newest, difference, updated) = (fetched, nil, []) }

  init(
    _ newest: [ManagedObjectID], difference: CollectionDifference<ManagedObjectID>,
    updated: Set<ManagedObjectID>
  ) { (self.newest, self.difference, self.updated) = (newest, difference, updated) }

  /// The changes before and these together.
  func after(_ earlier: LiveQueryChanges?) -> LiveQueryChanges {
    guard let earlier else { return self }
    var all = self
    all.difference = nil
    all.updated.formUnion(earlier.updated)
    return all
  }

  /// The element after one with `former`.
  func result(after former: [ManagedObjectID]) -> LiveResult {
    let difference = difference ?? CollectionDifference(of: newest, from: former)
    guard !updated.isEmpty else {
      return LiveResult(objectIDs: newest, difference: difference, updatedObjectIDs: [])
    }
    var kept = updated.intersection(newest)
    if self.difference == nil { kept.formIntersection(former) }
    return LiveResult(objectIDs: newest, difference: difference, updatedObjectIDs: kept)
  }
}

extension CollectionDifference<ManagedObjectID> {
  /// The difference of two lists of distinct objects, with its moves.
  ///
  /// - Complexity: O(n log n), where `difference(from:)` takes the product of the count and the changes.
  fileprivate init(of new: [ManagedObjectID], from old: [ManagedObjectID]) {
    var former = Dictionary(old.enumerated().map { ($1, $0) }, uniquingKeysWith: { first, _ in first })
    let common = new.enumerated().compactMap { to, id in former[id].map { (from: $0, to: to) } }
    let kept = LongestAscent.indexes(in: common.map(\.from))
    var changes: [Change] = []
    for (index, pair) in common.enumerated() {
      former[new[pair.to]] = nil
      guard !kept.contains(index) else { continue }
      changes.append(.remove(offset: pair.from, element: new[pair.to], associatedWith: pair.to))
      changes.append(.insert(offset: pair.to, element: new[pair.to], associatedWith: pair.from))
    }
    for (id, index) in former { changes.append(.remove(offset: index, element: id, associatedWith: nil)) }
    let stayed = Set(common.map(\.to))
    for (index, id) in new.enumerated() where !stayed.contains(index) {
      changes.append(.insert(offset: index, element: id, associatedWith: nil))
    }
    self = CollectionDifference(changes) ?? new.difference(from: old)
  }
}
