/// Keys for the new objects of a save: one run of consecutive keys for each root entity and store.
///
/// Lookup is a linear search from the last run used: a save has few root entities, and consecutive objects mostly share
/// one.
struct KeyRuns {
  private struct Run {
    let root: EntityDescription
    /// The number of the store, where there are several.
    let store: Int
    var count = 0
    var next: UInt64 = 0
  }

  private var runs: [Run] = []
  private var last = 0

  /// Counts one more object of a root entity.
  mutating func count(_ root: EntityDescription, in store: Int) {
    find(root, store)
    runs[last].count += 1
  }

  /// Allocates the keys of all runs, in the order of the root entities' numbers.
  ///
  /// - Parameter give: Allocates that many consecutive keys of a root entity in a store and returns the first.
  mutating func begin(_ give: (EntityDescription, Int, Int) throws -> UInt64) rethrows {
    runs.sort { ($0.root.number, $0.store) < ($1.root.number, $1.store) }
    for index in runs.indices {
      runs[index].next = try give(runs[index].root, runs[index].count, runs[index].store)
    }
  }

  /// The next key of a root entity.
  ///
  /// - Precondition: `count` was called for each key that is requested.
  mutating func next(_ root: EntityDescription, in store: Int) -> UInt64 {
    find(root, store)
    defer { runs[last].next += 1 }
    return runs[last].next
  }

  private mutating func find(_ root: EntityDescription, _ store: Int) {
    if last < runs.count, runs[last].root === root, runs[last].store == store { return }
    last = runs.firstIndex { $0.root === root && $0.store == store } ?? runs.count
    if last == runs.count { runs.append(Run(root: root, store: store)) }
  }
}
