import Foundation
import HeartwoodBytes

/// A method by its name. On Linux nothing finds methods by names, so a selector carries the method: the plugin that translates sources writes
/// it for `#selector`.
public struct Selector: Hashable, Sendable, CustomStringConvertible, ExpressibleByStringLiteral {
  /// The name.
  public let name: String
  let call: (@Sendable (AnyObject, Notification) -> Void)?
  /// Whether an object is of the class that has the method; nil if that is not known.
  private let isOfClass: (@Sendable (AnyObject) -> Bool)?

  /// A name without a method.
  public init(_ name: String) {
    self.name = name
    call = nil
    isOfClass = nil
  }

  /// A name without a method.
  public init(stringLiteral value: String) { self.init(value) }

  /// A method of a class with an argument for the notification.
  public init<Target: AnyObject>(_ name: String, _ method: @escaping (Target) -> (Notification) -> Void) {
    self.name = name
    let sent = SentBlock(method)
    call = { target, notification in (target as? Target).map { sent.block($0)(notification) } }
    isOfClass = { $0 is Target }
  }

  /// A method of a class with an argument for the notification, as Foundation's class.
  public init<Target: AnyObject>(_ name: String, _ method: @escaping (Target) -> (NSNotification) -> Void) {
    self.name = name
    let sent = SentBlock(method)
    call = { target, notification in
      (target as? Target).map { sent.block($0)(notification as NSNotification) }
    }
    isOfClass = { $0 is Target }
  }

  /// A method of a class without arguments.
  public init<Target: AnyObject>(_ name: String, _ method: @escaping (Target) -> () -> Void) {
    self.name = name
    let sent = SentBlock(method)
    call = { target, _ in (target as? Target).map { sent.block($0)() } }
    isOfClass = { $0 is Target }
  }

  /// Any other method of a class, which is not called by its name.
  @_disfavoredOverload
  public init<Target: AnyObject, Method>(_ name: String, _ method: @escaping (Target) -> Method) {
    self.name = name
    call = nil
    isOfClass = { $0 is Target }
  }

  /// Any other function, which is known by its name only.
  @_disfavoredOverload
  public init<Function>(_ name: String, _ function: Function) { self.init(name) }

  /// Whether an object has the method that the selector carries.
  func isMethod(of object: AnyObject) -> Bool { isOfClass?(object) ?? false }

  /// Whether both have the same name.
  public static func == (left: Selector, right: Selector) -> Bool { left.name == right.name }
  /// Hashes the name.
  public func hash(into hasher: inout Hasher) { hasher.combine(name) }
  /// The name.
  public var description: String { name }
}

/// The name of a selector.
public func NSStringFromSelector(_ aSelector: Selector) -> String { aSelector.name }
/// A selector without a method.
public func NSSelectorFromString(_ aSelectorName: String) -> Selector { Selector(aSelectorName) }

extension NotificationCenter {
  /// Calls a method of an observer for each notification. The observer is not kept, and need not be removed.
  ///
  /// - Precondition: The selector has a method.
  public func addObserver(
    _ observer: Any, selector aSelector: Selector, name aName: NSNotification.Name?, object anObject: Any?
  ) {
    guard let call = aSelector.call else {
      programError(
        "addObserver(_:selector:name:object:): nothing finds the method \(aSelector) by its name on Linux: use #selector or a block"
      )
    }
    ObserverTable.shared.add(observer as AnyObject, self, aName, anObject, call)
  }

  /// Ends all observations of an observer.
  public func removeObserver(_ observer: AnyObject) { ObserverTable.shared.remove(observer, self, nil, nil) }

  /// Ends the observations of an observer by a name and an object.
  public func removeObserver(_ observer: AnyObject, name aName: NSNotification.Name?, object anObject: Any?) {
    ObserverTable.shared.remove(observer, self, aName, anObject)
  }
}

/// The observations that were begun with selectors.
private final class ObserverTable: @unchecked Sendable {
  static let shared = ObserverTable()

  private struct Entry {
    weak var observer: AnyObject?
    let center: NotificationCenter
    let name: NSNotification.Name?
    let object: AnyObject?
    let token: NSObjectProtocol
  }

  private final class Held: @unchecked Sendable {
    weak var observer: AnyObject?
    init(_ observer: AnyObject) { self.observer = observer }
  }

  private let lock = NSLock()
  private var entries: [Entry] = []

  func add(
    _ observer: AnyObject, _ center: NotificationCenter, _ name: NSNotification.Name?, _ object: Any?,
    _ call: @escaping @Sendable (AnyObject, Notification) -> Void
  ) {
    let held = Held(observer)
    let token = center.addObserver(forName: name, object: object, queue: nil) { notification in
      if let observer = held.observer { call(observer, notification) }
    }
    let entry = Entry(
      observer: observer, center: center, name: name, object: object as AnyObject?, token: token)
    let ended = lock.withLock {
      let ended = entries.filter { $0.observer == nil }
      entries.removeAll { $0.observer == nil }
      entries.append(entry)
      return ended
    }
    for entry in ended { entry.center.removeObserver(entry.token) }
  }

  func remove(
    _ observer: AnyObject, _ center: NotificationCenter, _ name: NSNotification.Name?, _ object: Any?
  ) {
    func matches(_ entry: Entry) -> Bool {
      entry.observer === observer && entry.center === center && (name == nil || entry.name == name)
        && (object == nil || entry.object === (object as AnyObject?))
    }
    let ended = lock.withLock {
      let ended = entries.filter(matches)
      entries.removeAll(where: matches)
      return ended
    }
    for entry in ended { center.removeObserver(entry.token as Any, name: nil, object: nil) }
    // A token of an observation with a block.
    if let token = observer as? NSObject { center.removeObserver(token as Any) }
  }
}
