import HeartwoodFiles

/// Releases unlinked files in the background once the snapshots that need them are released. A checkpoint, a compaction and a refresh do so
/// too, but a store need not have another one.
struct UnlinkedRelease {
  private let store: OpenStore

  init(_ store: OpenStore) { self.store = store }

  /// In seconds.
  private static let firstPause = 1.0
  private static let longestPause = 16.0

  /// Submits the work if there are such files and it is not submitted yet.
  func scheduleIfNeeded() {
    let isDue = store.writer.withLockInBackground { writer in
      guard !writer.unlinked.isEmpty, !writer.unlinked.isReleaseScheduled else { return false }
      writer.unlinked.isReleaseScheduled = true
      return true
    }
    if isDue { schedule(afterSeconds: Self.firstPause) }
  }

  private func schedule(afterSeconds seconds: Double) {
    store.submit(afterSeconds: seconds) { store in
      guard !store.throttle.hasStopped else { return }
      let release = UnlinkedRelease(store)
      if !release.releaseNow() { release.schedule(afterSeconds: min(seconds * 2, Self.longestPause)) }
    }
  }

  /// - Returns: Whether none is left.
  @discardableResult
  func releaseNow() -> Bool {
    let (released, isDone) = store.checkpoints.withLock { checkpoints in
      store.writer.withLockInBackground { writer in
        let released = checkpoints.releaseUnlinked(writer)
        writer.unlinked.isReleaseScheduled = !writer.unlinked.isEmpty
        return (released, writer.unlinked.isEmpty)
      }
    }
    // Unmapping takes milliseconds, so it is done without the locks.
    withExtendedLifetime(released) {}
    return isDone
  }
}
