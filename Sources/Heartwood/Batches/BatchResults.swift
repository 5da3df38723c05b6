/// The kinds of results of a batch request. The raw values are Core Data's.
public enum BatchRequestResultType: Int, Sendable {
  /// Whether it succeeded: `true`, as a failure is thrown.
  case statusOnly = 0
  /// The identifiers of the objects that it is about.
  case objectIDs = 1
  /// Their number.
  case count = 2

  /// `statusOnly`, as Core Data calls it for updates.
  public static let statusOnlyResultType = statusOnly
  /// `objectIDs`, as Core Data calls it for updates.
  public static let updatedObjectIDsResultType = objectIDs
  /// `count`, as Core Data calls it for updates.
  public static let updatedObjectsCountResultType = count
  /// `statusOnly`, as Core Data calls it for deletes.
  public static let resultTypeStatusOnly = statusOnly
  /// `objectIDs`, as Core Data calls it for deletes.
  public static let resultTypeObjectIDs = objectIDs
  /// `count`, as Core Data calls it for deletes.
  public static let resultTypeCount = count
}

/// `BatchRequestResultType`.
public typealias BatchInsertRequestResultType = BatchRequestResultType
/// `BatchRequestResultType`.
public typealias BatchUpdateRequestResultType = BatchRequestResultType
/// `BatchRequestResultType`.
public typealias BatchDeleteRequestResultType = BatchRequestResultType

/// The result of a batch request.
public struct BatchResult: Sendable {
  /// The kind of the result that the request asked for.
  public let resultType: BatchRequestResultType
  /// The number of inserted and updated objects of a batch insert, of the objects that a batch update was about, or of all objects
  /// that a batch delete deleted, cascades included.
  public let count: Int
  /// The identifiers of these objects; empty unless the request asked for them.
  public let objectIDs: [ManagedObjectID]
  /// All changes of the transaction, also of related objects, for `ManagedObjectContext.merge(_:)`; empty unless the request asked
  /// for identifiers.
  public let changes: ObjectIDChanges

  /// The result of a request that an ``IncrementalStore`` has executed.
  ///
  /// - Parameters:
  ///   - resultType: The kind of the result that the request asked for.
  ///   - count: The number of objects that it was about.
  ///   - objectIDs: These objects; they may be left out if the request has not asked for them.
  ///   - changes: All changes that the store has made.
  public init(
    resultType: BatchRequestResultType, count: Int, objectIDs: [ManagedObjectID] = [],
    changes: ObjectIDChanges = ObjectIDChanges()
  ) {
    (self.resultType, self.count, self.objectIDs, self.changes) = (resultType, count, objectIDs, changes)
  }

  /// The result that the request asked for: a Boolean, an array of identifiers, or a number.
  public var result: Any? {
    switch resultType {
    case .statusOnly: true
    case .objectIDs: objectIDs
    case .count: count
    }
  }
}

/// The result of a batch insert.
public typealias BatchInsertResult = BatchResult
/// The result of a batch update.
public typealias BatchUpdateResult = BatchResult
/// The result of a batch delete.
public typealias BatchDeleteResult = BatchResult
