import HeartwoodFiles
import Synchronization

/// The identifier of an unsaved object, in a value that any thread may use: a condition or a snapshot. It follows the object's
/// identifier, which a save changes, possibly on another thread.
package final class ObjectReference: Sendable {
  private let temporaryKey: UInt64
  private let identifier: Guarded<ManagedObjectID>

  private init(_ identifier: ManagedObjectID) {
    temporaryKey = identifier.key
    self.identifier = Guarded(identifier)
  }

  deinit { Self.forget(temporaryKey, ObjectIdentifier(self)) }

  /// The identifier that the object has now.
  package var objectID: ManagedObjectID { identifier.withLock { $0 } }

  /// Follows a new identifier of an object. Costs nothing if nothing refers to an unsaved object.
  package static func rename(_ temporary: UInt64, to identifier: ManagedObjectID) {
    // Relaxed: a reference to the object was made before on this queue, or does not exist yet.
    guard count.load(ordering: .relaxed) > 0 else { return }
    let reference = waiting.withLock { $0[temporary]?.reference }
    reference?.identifier.withLock { $0 = identifier }
  }

  /// A class, as the debug builds of Swift 6.3 crash where they read a weak reference in a dictionary's values.
  private final class Weak: @unchecked Sendable {
    private(set) weak var reference: ObjectReference?
    let identity: ObjectIdentifier

    init(_ reference: ObjectReference) {
      self.reference = reference
      identity = ObjectIdentifier(reference)
    }
  }

  /// The references by temporary key.
  private static let waiting = Guarded<[UInt64: Weak]>([:])
  /// How many there are.
  private static let count = Atomic<Int>(0)

  /// The reference to an object with a temporary identifier.
  package static func reference(to id: ManagedObjectID) -> ObjectReference {
    waiting.withLock { waiting in
      if let known = waiting[id.key]?.reference { return known }
      let made = ObjectReference(id)
      waiting[id.key] = Weak(made)
      count.store(waiting.count, ordering: .relaxed)
      return made
    }
  }

  /// Does not load the weak reference: releasing it here might free another reference, and lock again.
  private static func forget(_ key: UInt64, _ identity: ObjectIdentifier) {
    waiting.withLock { waiting in
      guard waiting[key]?.identity == identity else { return }
      waiting[key] = nil
      count.store(waiting.count, ordering: .relaxed)
    }
  }
}
