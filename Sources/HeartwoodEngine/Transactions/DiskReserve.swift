import Synchronization

/// The store's reserve file, which a full disk leaves for deletions, reclamation and recovery.
///
/// Used by the process that holds the lease: when it opens the store or takes it over, after a checkpoint, and after every
/// `StoreFolder.leastBytesForReserve` bytes of log.
final class DiskReserve: Sendable {
  private let folder: StoreFolder
  /// Whether the reserve is used up and the disk has had no room for another since. Read by each commit. Relaxed, because
  /// only the use of room depends on it.
  private let spent = Atomic(false)

  init(_ folder: StoreFolder) { self.folder = folder }

  /// Whether the store can have a reserve: it is on disk, and open for writing.
  var isPossible: Bool { folder.attachment != nil }

  var isSpent: Bool { spent.load(ordering: .relaxed) }

  /// Creates the file if it is missing and the disk has room for it.
  func update(storeBytes: Int) {
    guard isPossible else { return }
    spent.store(!folder.layReserve(storeBytes: storeBytes), ordering: .relaxed)
  }

  /// Deletes the file to make room. Returns whether there was one.
  func spend() -> Bool {
    guard isPossible, folder.spendReserve() else { return false }
    spent.store(true, ordering: .relaxed)
    return true
  }

  /// Creates the file again after it was spent, if the disk has room for two. Returns whether it did.
  func restore(storeBytes: Int) -> Bool {
    guard folder.layReserve(storeBytes: storeBytes, ifRoomFor: 2) else { return false }
    spent.store(false, ordering: .relaxed)
    return true
  }
}
