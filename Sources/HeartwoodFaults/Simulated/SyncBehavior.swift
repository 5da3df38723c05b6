import HeartwoodFiles

/// What a sync does.
public enum SyncBehavior: String, Hashable, Sendable, CaseIterable, CustomStringConvertible {
  /// Makes durable what it should.
  case honest
  /// Fails, keeps the new bytes in the cache and calls them clean, as ext4 and XFS do: they are read, the
  /// next sync succeeds without writing them, and a crash may take them. Of a directory, the names that
  /// were to become durable wait for the next sync.
  case failsKeepingData
  /// Fails and takes the new bytes out of the cache, as Btrfs does: what is durable is read again. Of a
  /// directory, as `failsKeepingData`.
  case failsRevertingData
  /// Succeeds and does nothing: what was not durable waits for an honest sync.
  case lies

  /// The name.
  public var description: String { rawValue }
}

/// What can sync in other ways than honestly.
protocol MisbehavingSync: AnyObject {
  func sync(_ kind: SyncKind, _ behavior: SyncBehavior) throws(FileSystemError)
}

extension SyncBehavior {
  /// Syncs `base` in this way, or as nearly so as it can: only a simulated file reverts its bytes or
  /// forgets that they are dirty; of another one the sync is left out.
  func sync(
    _ base: AnyObject, _ kind: SyncKind, path: String, _ operation: FileSystemError.Operation,
    honestly: () throws(FileSystemError) -> Void
  ) throws(FileSystemError) {
    if let base = base as? any MisbehavingSync { return try base.sync(kind, self) }
    switch self {
    case .honest: try honestly()
    case .lies: return
    case .failsKeepingData, .failsRevertingData:
      throw FileSystemError(.inputOutput, operation, path: path, isInjected: true)
    }
  }
}
