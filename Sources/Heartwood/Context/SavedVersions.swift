import HeartwoodFiles
import Synchronization

/// The versions that the saves of a root context give to rows, for the contexts below it.
///
/// A child reads a row, its root saves what the child has moved there, and the row has another version. A child that knows of it tells
/// the saves of its own tree from those of others, which are conflicts. Only the newest are kept: a context that has missed some takes
/// differing versions for its own tree's.
final class SavedVersions: Sendable {
  struct Entry {
    let root: UInt16
    let key: UInt64
    let former: UInt32
    let version: UInt32
  }

  private struct State {
    var entries: [Entry] = []
    /// The number of the first entry.
    var first = 0
  }

  private static let most = 16_384

  private let state = Guarded(State())
  /// The number of entries so far. Acquiring and releasing, so that a context that sees a number finds its entries.
  private let number = Atomic(0)

  var count: Int { number.load(ordering: .acquiring) }

  func record(_ entries: [Entry]) {
    state.withLock { state in
      state.entries += entries
      if state.entries.count > Self.most {
        let dropped = state.entries.count - Self.most / 2
        state.entries.removeFirst(dropped)
        state.first += dropped
      }
      number.store(state.first + state.entries.count, ordering: .releasing)
    }
  }

  /// The entries after the first `count`, and whether these are all of them.
  func after(_ count: Int) -> (entries: ArraySlice<Entry>, isComplete: Bool) {
    state.withLock { state in
      (state.entries.dropFirst(max(0, count - state.first)), count >= state.first)
    }
  }
}

/// The versions that a context below a root has heard of.
struct KnownVersions {
  /// How many entries of the saved versions were taken over.
  var taken = 0
  /// Whether none was missed.
  var isComplete = true
}

extension ManagedObject {
  /// Gives the row another version.
  final func setVersion(_ version: UInt32) {
    guard let row else { return }
    var bytes = Array(row.bytes)
    bytes.store(version, at: RowLayout.versionOffset)
    bytes.withUnsafeBytes { replace(row: $0) }
  }
}
