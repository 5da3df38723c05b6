/// The result of reclaiming space.
public struct ReclaimedSpace: Hashable, Sendable {
  /// Size of all files before, in bytes.
  public var bytesBefore: Int64
  /// Size of all files after, in bytes.
  public var bytesAfter: Int64
  /// Number of moved values.
  public var movedValues: Int
  /// Bytes of log that the moved values take.
  public var movedBytes: Int64

  /// The combined result of this round and the next.
  func joined(by next: ReclaimedSpace) -> ReclaimedSpace {
    ReclaimedSpace(
      bytesBefore: bytesBefore, bytesAfter: next.bytesAfter, movedValues: movedValues + next.movedValues,
      movedBytes: movedBytes + next.movedBytes)
  }
}
