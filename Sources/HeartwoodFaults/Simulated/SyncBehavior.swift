import HeartwoodFiles

/// The effect of a sync.
public enum SyncBehavior: String, Hashable, Sendable, CaseIterable, CustomStringConvertible {
  /// Makes everything durable that it should.
  case honest
  /// Fails, keeps the new bytes in the cache and marks them as clean, as ext4 and XFS do: reads return them,
  /// the next sync succeeds without writing them, and a crash can lose them. For a directory, the names stay
  /// pending until the next sync.
  case failsKeepingData
  /// Fails and drops the new bytes from the cache, as Btrfs does: reads return the durable bytes. For a
  /// directory, the same as `failsKeepingData`.
  case failsRevertingData
  /// Succeeds without effect: the changes stay pending until an honest sync.
  case lies

  /// The name.
  public var description: String { rawValue }
}

/// A file or directory whose sync can misbehave.
protocol MisbehavingSync: AnyObject {
  func sync(_ kind: SyncKind, _ behavior: SyncBehavior) throws(FileSystemError)
}

extension SyncBehavior {
  /// Syncs `base` with this behavior as far as possible. Only a simulated file can revert its bytes or mark
  /// them as clean; for others the sync is omitted.
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
