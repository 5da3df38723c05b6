import Foundation
import Heartwood

// Members of conflicts with the types of Core Data.

extension MergeConflict {
  /// The changed object of the context that saved. Use it on that context's queue only.
  public var sourceObject: NSManagedObject { managed(object) }
  /// The values on which the unsaved ones were made, in the types of `value(forKey:)`; nil for a new object.
  public var objectSnapshot: [String: Any]? { ownSnapshot.map { object.foundationValues($0) } }
  /// The row's values in the store now; nil if the row was deleted.
  public var persistedSnapshot: [String: Any]? { storeSnapshot.map { object.foundationValues($0) } }
}

extension ConstraintConflict {
  /// A conflict of no objects, as tests of error handling make it.
  public init() {
    self.init(
      constraint: [], constraintValues: [], databaseObjectID: nil, conflictingObjects: [],
      databaseSnapshot: nil)
  }

  /// The duplicate values, by the names of the properties.
  public var constraintValues: [String: Any] {
    Dictionary(
      zip(constraint, values.map { FoundationValue.of($0) }), uniquingKeysWith: { first, _ in first })
  }
  /// The object whose row in the store has the values; nil if there is none.
  public var databaseObject: NSManagedObject? { storeObject.map(managed) }
  /// The values of the row in the store; nil without such a row.
  public var databaseSnapshot: [String: Any]? {
    storeSnapshot.map { values in objects.first?.foundationValues(values) ?? values }
  }
  /// The changed objects of the saving context. Use them on that context's queue only.
  public var conflictingObjects: [NSManagedObject] { objects.map(managed) }
  /// The values of the conflicting objects as last fetched or saved; empty for a new object.
  public var conflictingSnapshots: [[AnyHashable: Any]] {
    zip(objects, snapshots).map { $0.foundationValues($1) }
  }
}
