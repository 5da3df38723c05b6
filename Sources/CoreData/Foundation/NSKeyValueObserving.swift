import Foundation
import Heartwood

/// The options of an observation: the values that it reports, and when.
public struct NSKeyValueObservingOptions: OptionSet, Sendable {
  /// The bits.
  public let rawValue: UInt
  /// The options with these bits.
  public init(rawValue: UInt) { self.rawValue = rawValue }

  /// The new value.
  public static let new = NSKeyValueObservingOptions(rawValue: 1)
  /// The value before.
  public static let old = NSKeyValueObservingOptions(rawValue: 2)
  /// The present value, at once.
  public static let initial = NSKeyValueObservingOptions(rawValue: 4)
  /// A report before the one of the change. Here both come after the change.
  public static let prior = NSKeyValueObservingOptions(rawValue: 8)
}

/// The kind of a change. The raw values are Foundation's; the module reports settings only.
public enum NSKeyValueChange: UInt, Sendable {
  case setting = 1
  case insertion = 2
  case removal = 3
  case replacement = 4
}

/// How a to-many relationship is about to change, in `willChangeValue(forKey:withSetMutation:using:)`.
public typealias NSKeyValueSetMutationKind = ManagedObject.SetMutationKind

/// A change that an observation reports.
public struct NSKeyValueObservedChange<Value> {
  /// The kind of a change.
  public typealias Kind = NSKeyValueChange

  /// The kind: a setting.
  public let kind: Kind
  /// The new value, if it was asked for.
  public let newValue: Value?
  /// The former value, if it was asked for.
  public let oldValue: Value?
  /// Always nil: relationships are reported as a whole.
  public let indexes: IndexSet?
  /// Whether it is the report before that of the change.
  public let isPrior: Bool
}

/// An observation, which ends with `invalidate()` or with its last reference.
public final class NSKeyValueObservation: NSObject, @unchecked Sendable {
  private let lock = NSLock()
  private var observer: (any KeyValueObserver)?

  init(_ observer: any KeyValueObserver) {
    self.observer = observer
    super.init()
    KeyValueObservers.shared.add(observer)
  }

  deinit { invalidate() }

  /// Ends the observation.
  public func invalidate() {
    let ended = lock.withLock {
      let ended = observer
      observer = nil
      return ended
    }
    if let ended { KeyValueObservers.shared.remove(ended) }
  }
}

/// The objects that can be observed: managed objects, contexts and migration managers. Foundation has no key-value observation on this
/// system.
public protocol _KeyValueObserved: AnyObject {}
extension NSManagedObject: _KeyValueObserved {}
extension ManagedObjectContext: _KeyValueObserved {}
extension NSMigrationManager: _KeyValueObserved {}

extension _KeyValueObserved where Self: NSManagedObject {
  /// Observes a property of the object, or one at the end of a key path.
  ///
  /// The handler is called on the object's queue: at each assignment to the property by the program, after it, also of an equal value; and, for
  /// changes of any other origin (the other side of a relationship, merges, refreshes, undo, delete rules, properties that others are computed
  /// from), if the value differs, when the program next assigns a property of the object or any relationship, or the context processes its pending
  /// changes. A key path over several objects is followed as a whole.
  ///
  /// - Parameters:
  ///   - keyPath: The property.
  ///   - options: The values that are reported, and when.
  ///   - changeHandler: Called with the object and the change.
  /// - Returns: The observation, which ends with its last reference.
  public func observe<Value>(
    _ keyPath: KeyPath<Self, Value>, options: NSKeyValueObservingOptions = [],
    changeHandler: @escaping (Self, NSKeyValueObservedChange<Value>) -> Void
  ) -> NSKeyValueObservation {
    NSKeyValueObservation(
      PropertyObserver(
        self, keyPath, InspectedObject.names(of: keyPath), options, { $0.managedObjectContext }, changeHandler
      ))
  }
}

extension _KeyValueObserved where Self: ManagedObjectContext {
  /// Observes a property of the context, such as `\\.hasChanges`: as for objects, if its value differs.
  ///
  /// - Parameters:
  ///   - keyPath: The property.
  ///   - options: The values that are reported, and when.
  ///   - changeHandler: Called with the context and the change.
  /// - Returns: The observation, which ends with its last reference.
  public func observe<Value>(
    _ keyPath: KeyPath<Self, Value>, options: NSKeyValueObservingOptions = [],
    changeHandler: @escaping (Self, NSKeyValueObservedChange<Value>) -> Void
  ) -> NSKeyValueObservation {
    NSKeyValueObservation(PropertyObserver(self, keyPath, nil, options, { $0 }, changeHandler))
  }
}

extension _KeyValueObserved where Self: NSMigrationManager {
  /// Observes `\\.migrationProgress`, or another property that changes with it.
  ///
  /// The handler is called on the thread that migrates.
  ///
  /// - Parameters:
  ///   - keyPath: The property.
  ///   - options: The values that are reported, and when.
  ///   - changeHandler: Called with the manager and the change.
  /// - Returns: The observation, which ends with its last reference.
  public func observe<Value>(
    _ keyPath: KeyPath<Self, Value>, options: NSKeyValueObservingOptions = [],
    changeHandler: @escaping (Self, NSKeyValueObservedChange<Value>) -> Void
  ) -> NSKeyValueObservation {
    NSKeyValueObservation(PropertyObserver(self, keyPath, nil, options, { _ in nil }, changeHandler))
  }
}
