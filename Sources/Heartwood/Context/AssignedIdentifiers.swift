import HeartwoodBytes
import HeartwoodFiles
import Synchronization

/// An identifier that a save has given to an object.
struct Assignment {
  /// The key that the object had: a temporary one, unless `isUnited`.
  let former: UInt64
  let identifier: ManagedObjectID
  /// Whether a merge policy has made the object one with that of `identifier`, so that it has other values, too.
  var isUnited = false
}

/// The permanent identifiers that saves have assigned to objects of a tree of contexts.
///
/// The root context records them at its save. Every other context of the tree takes them over at its next use, on its own
/// queue: waiting for the queues of the children inside the save would be a deadlock if one of them waits for the parent.
final class AssignedIdentifiers: Sendable {
  private struct State {
    /// The assignments that a context has not taken over yet, from number `first` on.
    var pending: [Assignment] = []
    var first = 0
    /// The number of assignments that each context of the tree has taken over.
    var taken: [ObjectIdentifier: Int] = [:]
  }

  private let state = Guarded(State())
  /// The number of assignments so far. Acquiring and releasing, so that a context that sees a number finds its assignments.
  private let number = Atomic(0)

  /// The versions that saves of the root context give to rows.
  let versions = SavedVersions()

  var count: Int { number.load(ordering: .acquiring) }

  /// Whether there is a context that takes something over.
  var hasContexts: Bool { state.withLock { !$0.taken.isEmpty } }

  /// Adds a context that takes over the assignments from now on; returns their number so far.
  func add(_ context: ManagedObjectContext) -> Int {
    state.withLock { state in
      let count = state.first + state.pending.count
      state.taken[ObjectIdentifier(context)] = count
      return count
    }
  }

  func remove(_ context: ManagedObjectContext) {
    state.withLock { state in
      state.taken[ObjectIdentifier(context)] = nil
      Self.drop(&state)
    }
  }

  /// Records assignments, unless there is no other context in the tree.
  func record(_ assignments: [Assignment]) {
    state.withLock { state in
      guard !state.taken.isEmpty, !assignments.isEmpty else { return }
      state.pending += assignments
      number.store(state.first + state.pending.count, ordering: .releasing)
    }
  }

  /// The assignments after the first `count`, and none after the first `most`, which `context` takes over.
  func take(after count: Int, _ most: Int?, by context: ManagedObjectContext) -> [Assignment] {
    state.withLock { state in
      let end = min(state.first + state.pending.count, most ?? .max)
      let taken = Array(state.pending[(count - state.first)..<(end - state.first)])
      state.taken[ObjectIdentifier(context)] = end
      Self.drop(&state)
      return taken
    }
  }

  /// Drops what every context has taken over.
  private static func drop(_ state: inout State) {
    let least = state.taken.values.min() ?? state.first + state.pending.count
    state.pending.removeFirst(least - state.first)
    state.first = least
  }
}
