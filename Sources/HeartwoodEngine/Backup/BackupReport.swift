/// The result of a backup.
public struct BackupReport: Hashable, Sendable {
  /// The generation that the backup contains.
  public var generation: Generation
  /// Bytes that were copied, including the anchor.
  public var copiedBytes: Int64 = 0
  /// Bytes of an earlier backup in the same folder that were reused.
  public var reusedBytes: Int64 = 0
  /// Number of files of the backup, including the anchor.
  public var files: Int = 0
  /// Number of removed files that only the earlier backup needed.
  public var removedFiles: Int = 0
}
