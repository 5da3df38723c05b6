/// Why an object's values were replaced as a whole. The raw values are Core Data's.
public struct SnapshotEventType: OptionSet, Hashable, Sendable {
  /// One bit for each reason.
  public let rawValue: UInt

  /// Reasons from a bit mask.
  public init(rawValue: UInt) { self.rawValue = rawValue }

  /// The insertion of the object was undone.
  public static let undoInsertion = SnapshotEventType(rawValue: 1 << 1)
  /// The deletion of the object was undone.
  public static let undoDeletion = SnapshotEventType(rawValue: 1 << 2)
  /// A change of the object was undone or redone.
  public static let undoUpdate = SnapshotEventType(rawValue: 1 << 3)
  /// `rollback()` restored the values as last fetched or saved.
  public static let rollback = SnapshotEventType(rawValue: 1 << 4)
  /// The object was refreshed, and its changes were kept on top of the newest row.
  public static let refresh = SnapshotEventType(rawValue: 1 << 5)
  /// A merge policy changed the object to resolve a conflict.
  public static let mergePolicy = SnapshotEventType(rawValue: 1 << 6)
}
