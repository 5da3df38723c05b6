/// What a backup has done.
public struct BackupReport: Hashable, Sendable {
  /// The generation that the backup opens with.
  public var generation: Generation
  /// How many bytes were copied.
  public var copiedBytes: Int64 = 0
  /// How many bytes of an earlier backup in the same folder were right already.
  public var reusedBytes: Int64 = 0
  /// How many files the backup has.
  public var files: Int = 0
  /// How many files of the earlier backup were not needed any more.
  public var removedFiles: Int = 0
}
