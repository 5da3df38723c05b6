/// Two independent changes of one row: the version that was read, and the version that is now in the store.
///
/// A save detects conflicts under the writer lock, by the version number of each changed row. There is no second cache
/// between the context and the store, so `cachedSnapshot` is always nil.
public struct MergeConflict: @unchecked Sendable {
  /// The changed object of the context that saved. Use it on that context's queue only.
  @_disfavoredOverload public let sourceObject: ManagedObject
  /// The object's identifier.
  public let objectID: ManagedObjectID
  /// The version of the row that the object was read from.
  public let oldVersionNumber: Int
  /// The version of the row in the store now; 0 when the row was deleted.
  public let newVersionNumber: Int
  /// The values on which the unsaved ones were made, by property name, without to-many relationships and without data that is
  /// stored outside the row; nil for a new object.
  @_disfavoredOverload public let objectSnapshot: [String: Any]?
  /// Always nil, unlike Core Data: there is no cache between the context and the store.
  public var cachedSnapshot: [String: Any]? { nil }
  /// The row's values in the store now, by property name; nil if the row was deleted.
  @_disfavoredOverload public let persistedSnapshot: [String: Any]?
  let cause: Cause

  /// The state of the store that the object does not fit.
  enum Cause {
    /// A newer row, or none any more.
    case row([UInt8]?)
    /// Another order of the relationship at a slot.
    case order(Int)
    /// No row of the destination with a key, which the relationship at a slot has.
    case dangling(Int, UInt64)
    /// The destination with a key refers elsewhere, in the one-to-one relationship at a slot, than the object does.
    case partner(Int, UInt64)
    /// References to the object, which this save deletes.
    case referenced
  }

  /// A conflict that the store reported for a row.
  init(_ object: ManagedObject, _ conflict: RowConflict) {
    self.init(
      object, .row(conflict.newestRow), conflict.expectedVersion, conflict.newestVersion, conflict.newestRow)
  }

  /// A conflict found by reading the newest row; `newest` is nil if the row was deleted.
  init(_ object: ManagedObject, newest: RowView?, _ cause: Cause? = nil) {
    let row = newest.map { Array($0.bytes) }
    self.init(object, cause ?? .row(row), object.baseVersion, newest?.version ?? 0, row)
  }

  private init(_ object: ManagedObject, _ cause: Cause, _ old: UInt32, _ new: UInt32, _ newest: [UInt8]?) {
    sourceObject = object
    objectID = object.identifier
    oldVersionNumber = Int(old)
    newVersionNumber = Int(new)
    objectSnapshot = object.committedSnapshot()
    persistedSnapshot = newest.flatMap { row in
      row.withUnsafeBytes { object.entity.snapshot(ofRow: $0, in: object.managedObjectContext) }
    }
    self.cause = cause
  }

  /// Whether the context has it with itself: a reference to an object that it has inserted and deleted.
  var isOfContext: Bool {
    if case .dangling(_, let key) = cause { !key.isPermanentKey } else { false }
  }

  /// The conflict in words, for the error's message.
  var text: String {
    switch cause {
    case .row(nil): "\(objectID) was deleted"
    case .row: "\(objectID) is at version \(newVersionNumber), not \(oldVersionNumber)"
    case .order(let slot): "the order of \(name(slot)) of \(objectID) was changed"
    case .dangling(let slot, let key):
      "\(name(slot)) of \(objectID) leads to "
        + (key.isPermanentKey
          ? "the object \(key), which was deleted" : "an object that was never saved, and is deleted")
    case .partner(let slot, let key):
      "\(name(slot)) of \(objectID) and the other side at the object \(key) do not agree"
    case .referenced: "\(objectID), which is deleted here, is referenced by other objects"
    }
  }

  private func name(_ slot: Int) -> String { sourceObject.entity.property(at: slot).name }
}
