import Foundation
import Heartwood
import Synchronization

/// An observation of one property of one object, or of one at the end of a key path.
protocol KeyValueObserver: AnyObject {
  /// The object; nil once it is gone.
  var target: AnyObject? { get }
  /// The context on whose queue the object is used; nil for an object that has none.
  var context: NSManagedObjectContext? { get }
  /// The observed property of the object, or the first of the key path; nil for what is none of the model.
  var firstName: String? { get }
  /// Whether the value is read from other objects, too.
  var leadsFurther: Bool { get }
  /// Reports the value if it differs from the last one, or if it was assigned.
  func report(isAssigned: Bool)
}

/// The observations of all objects.
final class KeyValueObservers: @unchecked Sendable {
  static let shared = KeyValueObservers()

  /// How many there are: what assignments look at. Relaxed, as an observation begins on the queue of its object.
  private static let count = Atomic<Int>(0)

  /// The observers of one object or one context, by the order in which they began.
  private typealias Observers = [Int: any KeyValueObserver]
  private struct Place {
    let number: Int
    let target: ObjectIdentifier?
    let context: ObjectIdentifier?
  }
  /// Guards what follows. It is not held while observers report.
  private let lock = NSLock()
  private var places: [ObjectIdentifier: Place] = [:]
  private var ofObjects: [ObjectIdentifier: Observers] = [:]
  private var inContexts: [ObjectIdentifier: Observers] = [:]
  /// Those of `inContexts` that lead further.
  private var farInContexts: [ObjectIdentifier: Observers] = [:]
  private var newest = 0
  private var tokens: [any NSObjectProtocol] = []

  /// Reports an assignment of a property, and what it has changed elsewhere in the context: the other side of a relationship, and values at the end
  /// of key paths.
  static func noteAssignment(of key: String, in object: NSManagedObject) {
    guard count.load(ordering: .relaxed) > 0 else { return }
    let context = object.managedObjectContext.map(ObjectIdentifier.init)
    let isRelationship = object.entity.relationshipsByName[key] != nil
    let found = shared.observers { all in
      let own = all.ofObjects[ObjectIdentifier(object)] ?? [:]
      guard let others = context.flatMap({ (isRelationship ? all.inContexts : all.farInContexts)[$0] }) else {
        return own
      }
      return own.merging(others) { own, _ in own }
    }
    for observer in found {
      observer.report(isAssigned: observer.firstName == key && observer.target === object)
    }
  }

  /// Reports a change of an object that belongs to no context.
  static func noteChange(of object: AnyObject) {
    guard count.load(ordering: .relaxed) > 0 else { return }
    for observer in shared.observers({ $0.ofObjects[ObjectIdentifier(object)] ?? [:] }) {
      observer.report(isAssigned: false)
    }
  }

  func add(_ observer: any KeyValueObserver) {
    let context = observer.context.map(ObjectIdentifier.init)
    let target = observer.target.map(ObjectIdentifier.init)
    lock.withLock {
      newest += 1
      places[ObjectIdentifier(observer)] = Place(number: newest, target: target, context: context)
      if let target { ofObjects[target, default: [:]][newest] = observer }
      if let context {
        inContexts[context, default: [:]][newest] = observer
        if observer.leadsFurther { farInContexts[context, default: [:]][newest] = observer }
      }
      if tokens.isEmpty { follow() }
    }
    Self.count.add(1, ordering: .relaxed)
  }

  func remove(_ observer: any KeyValueObserver) {
    let isRemoved = lock.withLock {
      guard let place = places.removeValue(forKey: ObjectIdentifier(observer)) else { return false }
      Self.remove(place.number, of: place.target, from: &ofObjects)
      Self.remove(place.number, of: place.context, from: &inContexts)
      Self.remove(place.number, of: place.context, from: &farInContexts)
      return true
    }
    if isRemoved { Self.count.subtract(1, ordering: .relaxed) }
  }

  private static func remove(
    _ number: Int, of owner: ObjectIdentifier?, from all: inout [ObjectIdentifier: Observers]
  ) {
    guard let owner else { return }
    all[owner]?[number] = nil
    if all[owner]?.isEmpty == true { all[owner] = nil }
  }

  /// Reports after each event of a context, and after its saves.
  private func follow() {
    let names: [NSNotification.Name] = [
      .NSManagedObjectContextObjectsDidChange, .NSManagedObjectContextDidSave,
    ]
    tokens = names.map { name in
      NotificationCenter.default.addObserver(forName: name, object: nil, queue: nil) { notification in
        guard Self.count.load(ordering: .relaxed) > 0,
          let context = notification.object as? NSManagedObjectContext
        else { return }
        for observer in Self.shared.observers({ $0.inContexts[ObjectIdentifier(context)] ?? [:] }) {
          observer.report(isAssigned: false)
        }
      }
    }
  }

  /// The chosen observers in their order.
  private func observers(_ chosen: (KeyValueObservers) -> Observers) -> [any KeyValueObserver] {
    lock.withLock { chosen(self) }.sorted { $0.key < $1.key }.map(\.value)
  }
}

/// - Invariant: It is used on the queue of its object, but for being added and removed.
final class PropertyObserver<Object: AnyObject, Value>: KeyValueObserver {
  private weak var object: Object?
  private let keyPath: KeyPath<Object, Value>
  let firstName: String?
  let leadsFurther: Bool
  private let options: NSKeyValueObservingOptions
  private let contextOf: (Object) -> NSManagedObjectContext?
  private let handler: (Object, NSKeyValueObservedChange<Value>) -> Void
  private var last: Value
  private var isReporting = false

  init(
    _ object: Object, _ keyPath: KeyPath<Object, Value>, _ names: String?,
    _ options: NSKeyValueObservingOptions,
    _ contextOf: @escaping (Object) -> NSManagedObjectContext?,
    _ handler: @escaping (Object, NSKeyValueObservedChange<Value>) -> Void
  ) {
    self.object = object
    self.keyPath = keyPath
    firstName = names.map { String($0.prefix { $0 != "." }) }
    leadsFurther = names?.contains(".") == true
    self.options = options
    self.contextOf = contextOf
    self.handler = handler
    last = object[keyPath: keyPath]
    if options.contains(.initial) {
      handler(object, change(new: last, old: nil, isPrior: false))
    }
  }

  var context: NSManagedObjectContext? { object.flatMap(contextOf) }

  var target: AnyObject? { object }

  func report(isAssigned: Bool) {
    // An assignment by the handler itself is reported by the call that waits for the handler.
    guard !isReporting, let object else { return }
    isReporting = true
    defer { isReporting = false }
    var isAssigned = isAssigned
    while true {
      let (old, new) = (last, object[keyPath: keyPath])
      guard isAssigned || !Self.areEqual(old, new) else { return }
      isAssigned = false
      last = new
      if options.contains(.prior) { handler(object, change(new: nil, old: old, isPrior: true)) }
      handler(object, change(new: new, old: old, isPrior: false))
    }
  }

  private func change(new: Value?, old: Value?, isPrior: Bool) -> NSKeyValueObservedChange<Value> {
    NSKeyValueObservedChange(
      kind: .setting, newValue: options.contains(.new) ? new : nil,
      oldValue: options.contains(.old) ? old : nil,
      indexes: nil, isPrior: isPrior)
  }

  private static func areEqual(_ left: Value, _ right: Value) -> Bool {
    if let a = left as? AnyHashable, let b = right as? AnyHashable { return a == b }
    if let a = left as? any _FlatOptional, let b = right as? any _FlatOptional {
      switch (a._flat, b._flat) {
      case (nil, nil): return true
      case (let a?, let b?):
        return (a as? AnyHashable).flatMap { a in (b as? AnyHashable).map { a == $0 } } ?? false
      default: return false
      }
    }
    return false
  }
}
