import HeartwoodFiles

/// The snapshots that a custom store has given to one context, by the numbers of their objects.
///
/// Those of objects that the context has stay, as relationships are read of them. Others stay for faults that are not made yet: until their
/// values were read once and their objects are gone, and not longer than later fetches leave room for. What another context saves is dropped.
final class SnapshotPool: Sendable {
  private struct Entry {
    let contents: SnapshotContents
    /// Whether the context has made values of it.
    var isRead: Bool
  }

  private struct State {
    var entries: [UInt64: Entry] = [:]
    /// How many there are when those are dropped whose objects the context does not have.
    var most = SnapshotPool.leastSwept
  }

  private static let leastSwept = 1000
  private let state = Guarded(State())

  /// The snapshot of an object whose relationships are read of it.
  func contents(_ number: UInt64) -> SnapshotContents? { state.withLock { $0.entries[number]?.contents } }

  /// The snapshot of an object whose values are made of it.
  func read(_ number: UInt64) -> SnapshotContents? {
    state.withLock { state in
      state.entries[number]?.isRead = true
      return state.entries[number]?.contents
    }
  }

  func keep(_ contents: SnapshotContents, _ number: UInt64, isRead: Bool) {
    state.withLock { $0.entries[number] = Entry(contents: contents, isRead: isRead) }
  }

  func remove(_ numbers: some Sequence<UInt64>) {
    state.withLock { state in
      for number in numbers { state.entries[number] = nil }
    }
  }

  /// Drops the snapshots of some classes.
  func remove(of entityNames: Set<String>) {
    state.withLock { state in
      state.entries = state.entries.filter { !entityNames.contains($1.contents.identifier.entityName) }
    }
  }

  func removeAll() { state.withLock { $0 = State() } }

  /// Drops the snapshot of an object that is to be made again, unless the object was never made of it.
  func removeIfRead(_ number: UInt64) {
    state.withLock { state in
      if state.entries[number]?.isRead == true { state.entries[number] = nil }
    }
  }

  /// Drops what no object of the context needs, once there are twice as many as were needed before. Called before a request of the context
  /// brings others.
  func sweep(_ isUsed: (UInt64) -> Bool) {
    let numbers = state.withLock { $0.entries.count < $0.most ? [] : Array($0.entries.keys) }
    guard !numbers.isEmpty else { return }
    remove(numbers.filter { !isUsed($0) })
    state.withLock { $0.most = max(Self.leastSwept, 2 * $0.entries.count) }
  }
}
