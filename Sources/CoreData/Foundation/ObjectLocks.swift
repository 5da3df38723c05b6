import Foundation

/// The locks of objects, as long as a thread holds or awaits them.
private final class ObjectLocks: @unchecked Sendable {
  static let shared = ObjectLocks()

  private final class Held {
    let lock = NSRecursiveLock()
    var users = 0
  }

  private let table = NSLock()
  private var held: [ObjectIdentifier: Held] = [:]

  func acquire(_ object: AnyObject) {
    let entry = table.withLock {
      let entry = held[ObjectIdentifier(object)] ?? Held()
      entry.users += 1
      held[ObjectIdentifier(object)] = entry
      return entry.lock
    }
    entry.lock()
  }

  /// - Returns: Whether the object was locked.
  func release(_ object: AnyObject) -> Bool {
    table.withLock {
      guard let entry = held[ObjectIdentifier(object)] else { return false }
      entry.users -= 1
      if entry.users == 0 { held[ObjectIdentifier(object)] = nil }
      entry.lock.unlock()
      return true
    }
  }
}

/// Acquires the lock of an object, which its thread may hold several times. It is that of `@synchronized` on Apple's systems.
///
/// - Returns: 0.
@discardableResult
public func objc_sync_enter(_ object: Any) -> Int32 {
  ObjectLocks.shared.acquire(object as AnyObject)
  return 0
}

/// Releases the lock of an object.
///
/// - Precondition: This thread holds it.
/// - Returns: 0; -1 if no thread holds it.
@discardableResult
public func objc_sync_exit(_ object: Any) -> Int32 {
  ObjectLocks.shared.release(object as AnyObject) ? 0 : -1
}
