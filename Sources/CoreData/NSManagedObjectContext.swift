import Foundation
import Heartwood
import HeartwoodBytes

/// A scratch pad of managed objects. The members that Core Data has with other types than Heartwood are in this file.
public typealias NSManagedObjectContext = ManagedObjectContext
/// The kind of queue on which a context must be used.
public typealias NSManagedObjectContextConcurrencyType = ManagedObjectContext.ConcurrencyType

extension ManagedObjectContext.ConcurrencyType: RawRepresentable {
  /// A context with a queue of its own.
  public static let privateQueueConcurrencyType = Self.privateQueue
  /// A context of the main queue.
  public static let mainQueueConcurrencyType = Self.mainQueue
  /// A context that belongs to a thread: one with a queue of its own, whose use outside of the queue is not checked.
  @available(*, deprecated, message: "Use another NSManagedObjectContextConcurrencyType")
  public static let confinementConcurrencyType = Self.privateQueue

  /// Core Data's number of the kind.
  public var rawValue: UInt { self == .mainQueue ? 2 : 1 }
  /// The kind with Core Data's number; 0 is that of contexts that belong to threads.
  public init?(rawValue: UInt) {
    switch rawValue {
    case 0, 1: self = .privateQueue
    case 2: self = .mainQueue
    default: return nil
    }
  }
}

extension ManagedObjectContext {
  /// A context without a store or parent, as `init(concurrencyType:)`.
  public convenience init(_ type: ConcurrencyType) { self.init(concurrencyType: type) }

  // MARK: Objects

  /// The object with this identifier: the registered instance, or a fault.
  public func object(with objectID: NSManagedObjectID) -> NSManagedObject {
    managed(anyObject(with: objectID))
  }

  /// The object with this identifier if it is registered.
  public func registeredObject(for objectID: NSManagedObjectID) -> NSManagedObject? {
    anyRegisteredObject(for: objectID).map(managed)
  }

  /// The object with this identifier, read from the store if it is a fault.
  ///
  /// - Throws: An error in the Cocoa domain with the code 133000 if there is no such row.
  public func existingObject(with objectID: NSManagedObjectID) throws -> NSManagedObject {
    managed(try asCocoa(in: self) { try anyExistingObject(with: objectID) })
  }

  // The next members call those of Heartwood, which take its objects: a protocol's requirement is met only by a
  // member of exactly its types.

  /// Inserts an object that is in no context.
  public func insert(_ object: NSManagedObject) { insert(object as ManagedObject) }

  /// Marks an object for deletion by the next save.
  public func delete(_ object: NSManagedObject) { delete(object as ManagedObject) }

  /// Makes an object a fault, so that its values are read again.
  ///
  /// - Parameters:
  ///   - object: The object.
  ///   - flag: Whether unsaved changes are kept, and applied to the values that were read.
  public func refresh(_ object: NSManagedObject, mergeChanges flag: Bool) {
    refresh(object as ManagedObject, mergeChanges: flag)
  }

  /// Has the next save check that an object has not changed in the store, though it is unchanged here.
  public func detectConflicts(for object: NSManagedObject) { detectConflicts(for: object as ManagedObject) }

  /// Gives new objects the identifiers that they keep.
  ///
  /// - Throws: The store's error.
  public func obtainPermanentIDs(for objects: [NSManagedObject]) throws {
    try obtainPermanentIDs(for: objects as [ManagedObject])
  }

  /// Decides on an object whose row turns out to be deleted when the object is read.
  ///
  /// - Returns: True if it becomes a deleted one, false if it is unreadable.
  public func shouldHandleInaccessibleFault(
    _ fault: NSManagedObject, for oid: NSManagedObjectID, triggeredByProperty property: NSPropertyDescription?
  ) -> Bool {
    shouldHandleInaccessibleFault(fault as ManagedObject, for: oid, triggeredByProperty: property)
  }

  /// The objects that the next save inserts.
  public var insertedObjects: Set<NSManagedObject> { managed(anyInsertedObjects) }
  /// The objects that the next save updates.
  public var updatedObjects: Set<NSManagedObject> { managed(anyUpdatedObjects) }
  /// The objects that the next save deletes.
  public var deletedObjects: Set<NSManagedObject> { managed(anyDeletedObjects) }
  /// The objects of the context.
  public var registeredObjects: Set<NSManagedObject> { managed(anyRegisteredObjects) }

  /// Assigns a new object to one of several stores.
  ///
  /// - Precondition: The object is a managed object of this context.
  public func assign(_ object: Any, to store: NSPersistentStore) {
    guard let object = object as? ManagedObject else {
      programError("assign(_:to:): \(type(of: object)) is no managed object")
    }
    assign(object, to: store)
  }

  // MARK: Settings

  /// How a save resolves conflicts: a merge policy.
  public var mergePolicy: Any {
    get { anyMergePolicy }
    set {
      guard let policy = newValue as? NSMergePolicy else {
        programError("mergePolicy: \(type(of: newValue)) is no merge policy")
      }
      anyMergePolicy = policy
    }
  }

  /// The undo manager that the context registers its changes with; nil, the default, if they cannot be undone.
  public var undoManager: UndoManager? {
    get { (anyUndoManager as? UndoManagerRegistrar)?.manager }
    set { anyUndoManager = newValue.map { UndoManagerRegistrar($0, of: self) } }
  }

  /// Values for the program's own use.
  public var userInfo: NSMutableDictionary {
    if let known = anyUserInfo[Self.userInfoKey] as? NSMutableDictionary { return known }
    let made = NSMutableDictionary()
    anyUserInfo[Self.userInfoKey] = made
    return made
  }
  private static let userInfoKey = "CoreData.userInfo"

  // MARK: Queues

  /// Runs a block on the context's queue, and waits for its result.
  ///
  /// - Parameters:
  ///   - schedule: Whether a call from the queue itself runs the block at once.
  ///   - block: The block.
  public nonisolated(nonsending) func perform<Result, Failure: Error>(
    schedule: ScheduledTaskType = .immediate, _ block: @escaping () throws(Failure) -> Result
  ) async throws(Failure) -> Result {
    let sent = SentBlock(block)
    let result = await performBlock(schedule: schedule) {
      SentBlock(Swift.Result { () throws(Failure) in try sent.block() })
    }
    return try result.block.get()
  }
}

/// A protocol whose methods classes of contexts may declare themselves: a member of the class or of its extensions could only be
/// overridden.
public protocol _ContextBlocks {}

extension ManagedObjectContext: _ContextBlocks {}

extension _ContextBlocks where Self: ManagedObjectContext {
  /// Runs a block on the context's queue, and returns at once.
  public func perform(_ block: @escaping () -> Void) {
    let sent = SentBlock(block)
    enqueueBlock { sent.block() }
  }
}

/// A block or its result (never a tuple: functions in tuples are released once too often by the compiler of 6.3), which crosses to the queue of a context as blocks of Objective-C do.
struct SentBlock<Block>: @unchecked Sendable {
  let block: Block
  init(_ block: Block) { self.block = block }
}

/// An object in the class that this module gives to all objects.
func managed(_ object: ManagedObject) -> NSManagedObject {
  guard let managed = object as? NSManagedObject else {
    programError(
      "\(type(of: object)) is a class of Heartwood's: contexts of CoreData have objects of NSManagedObject only"
    )
  }
  return managed
}

/// A set of objects in that class. The sets have the same form, as the class adds no equality of its own.
func managed(_ objects: Set<ManagedObject>) -> Set<NSManagedObject> {
  Set(objects.map { unsafeDowncast($0, to: NSManagedObject.self) })
}
