/// What giving space back has done.
public struct ReclaimedSpace: Hashable, Sendable {
  /// The bytes of all files before.
  public var bytesBefore: Int64
  /// The bytes of all files after.
  public var bytesAfter: Int64
  /// How many values were moved.
  public var movedValues: Int
  /// How many bytes of the log the moved values take.
  public var movedBytes: Int64

  /// Both, one after the other.
  func joined(by next: ReclaimedSpace) -> ReclaimedSpace {
    ReclaimedSpace(
      bytesBefore: bytesBefore, bytesAfter: next.bytesAfter, movedValues: movedValues + next.movedValues,
      movedBytes: movedBytes + next.movedBytes)
  }
}
