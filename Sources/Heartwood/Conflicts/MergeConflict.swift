/// Two independent changes of one row: the version that was read, and the version that is now in the store.
///
/// A save detects conflicts under the writer lock, by the version number of each changed row. There is no second cache
/// between the context and the store, so `cachedSnapshot` is always nil.
public struct MergeConflict: @unchecked Sendable {
  /// The changed object of the context that saved. Use it on that context's queue only.
  public let sourceObject: ManagedObject
  /// The object's identifier.
  public let objectID: ManagedObjectID
  /// The version of the row that the object was read from.
  public let oldVersionNumber: Int
  /// The version of the row in the store now; 0 when the row was deleted.
  public let newVersionNumber: Int
  /// The object's values as last fetched or saved, by property name, without to-many relationships.
  public let objectSnapshot: [String: Any]?
  /// Always nil, unlike Core Data: there is no cache between the context and the store.
  public var cachedSnapshot: [String: Any]? { nil }
  /// The row's values in the store now, by property name; nil if the row was deleted.
  public let persistedSnapshot: [String: Any]?
}
