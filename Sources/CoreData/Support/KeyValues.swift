import Foundation
import Heartwood

/// Key-value coding of what has values by name: managed objects, dictionaries, collections of them, and other Swift values by their stored
/// properties.
enum KeyValues {
  /// The value at the end of names with dots between them.
  static func value(of object: Any?, atPath path: String) -> Any? {
    if let object = object as? NSManagedObject, !path.utf8.contains(UInt8(ascii: ".")) {
      return object.value(forKey: path)
    }
    var value = object
    var names = path.split(separator: ".").map(String.init)[...]
    while let name = names.popFirst() {
      guard let current = value else { return nil }
      // Without a list of the elements, which would have to be made.
      if name == "@count", names.isEmpty, let set = current as? NSSet { return NSNumber(value: set.count) }
      if let elements = members(of: current) {
        if name.hasPrefix("@") { return aggregate(name, of: elements, path: names.joined(separator: ".")) }
        value = self.value(ofEach: elements, of: current, named: name)
        continue
      }
      value = self.value(of: current, named: name)
    }
    return value
  }

  /// The values of one name in a collection, in a collection of its kind.
  private static func value(ofEach elements: [Any], of collection: Any, named name: String) -> Any {
    let values = elements.compactMap { element in
      guard let inner = members(of: element) else {
        return self.value(of: element, named: name)
      }
      return self.value(ofEach: inner, of: element, named: name)
    }
    if collection is NSOrderedSet { return NSOrderedSet(array: values) }
    return isOrdered(collection) ? values : FoundationValue.set(of: values)
  }

  /// The value of one name.
  static func value(of object: Any, named name: String) -> Any? {
    switch object {
    case let object as NSManagedObject: return object.value(forKey: name)
    case let dictionary as [String: Any]: return dictionary[name]
    case let dictionary as NSDictionary: return dictionary.object(forKey: name)
    case let id as NSManagedObjectID where name == "entity": return id.entity
    case let keyed as any _KeyValueCoding: return keyed._value(forKey: name)
    default: return mirrored(object, name)
    }
  }

  /// Sets the value at the end of names with dots between them: in each element of a collection.
  static func set(_ value: Any?, of object: Any, atPath path: String) {
    if let elements = members(of: object) {
      for element in elements { set(value, of: element, atPath: path) }
      return
    }
    let names = path.split(separator: ".", maxSplits: 1).map(String.init)
    // An element of a composite attribute has the whole path as its name.
    let isElement = (object as? NSManagedObject).map { $0.entity.slotIndex(named: path) != nil } ?? false
    guard names.count == 2, !isElement else { return set(value, of: object, named: path) }
    if let next = self.value(of: object, named: names[0]) { set(value, of: next, atPath: names[1]) }
  }

  private static func set(_ value: Any?, of object: Any, named name: String) {
    switch object {
    case let object as NSManagedObject: object.setValue(value, forKey: name)
    case let dictionary as NSMutableDictionary:
      if let value {
        dictionary.setObject(value, forKey: name)
      } else {
        dictionary.removeObject(forKey: name)
      }
    default:
      raise(
        "setValue:forKeyPath:",
        "\(name) is set of a \(Swift.type(of: object)), whose properties have no names at run time")
    }
  }

  private static func mirrored(_ object: Any, _ name: String) -> Any? {
    if name == "self" { return object }
    if let text = object as? String {
      switch name {
      case "length": return text.utf16.count
      case "uppercaseString": return text.uppercased()
      case "lowercaseString": return text.lowercased()
      default: break
      }
    }
    var mirror: Mirror? = Mirror(reflecting: object)
    while let current = mirror {
      if let child = current.children.first(where: { $0.label == name || $0.label == "_" + name }) {
        let inner = Mirror(reflecting: child.value)
        return inner.displayStyle == .optional ? inner.children.first?.value : child.value
      }
      mirror = current.superclassMirror
    }
    return nil
  }

  private static let plainTypes: Set<ObjectIdentifier> = [
    ObjectIdentifier(String.self), ObjectIdentifier(NSNumber.self), ObjectIdentifier(Int.self),
    ObjectIdentifier(Int16.self), ObjectIdentifier(Int32.self), ObjectIdentifier(Int64.self),
    ObjectIdentifier(Double.self), ObjectIdentifier(Float.self), ObjectIdentifier(Bool.self),
    ObjectIdentifier(Date.self), ObjectIdentifier(UUID.self), ObjectIdentifier(Decimal.self),
    ObjectIdentifier(Data.self),
  ]

  /// Whether a value is no object and no collection, by its type alone: casts that fail go through the conformances of Foundation's classes.
  static func isPlain(_ value: Any) -> Bool { plainTypes.contains(ObjectIdentifier(type(of: value))) }

  /// The elements of a collection of Foundation or Swift; nil if it is none.
  static func elements(of value: Any) -> [Any]? {
    if isPlain(value) || value is ManagedObject { return nil }
    if let set = value as? NSSet { return set.allObjects }
    if let set = value as? NSOrderedSet { return set.array }
    if let array = value as? NSArray { return array.map { $0 } }
    if let array = value as? [Any] { return array }
    return (value as? Set<AnyHashable>)?.map(\.base)
  }

  /// The elements of a collection that passes keys on to them; nil for a dictionary, which has values for keys itself.
  static func members(of value: Any) -> [Any]? {
    if isPlain(value) { return nil }
    return value is NSDictionary || value is [AnyHashable: Any] ? nil : elements(of: value)
  }

  private static func isOrdered(_ value: Any) -> Bool {
    value is [Any] || value is NSArray || value is NSOrderedSet
  }

  private static func aggregate(_ name: String, of elements: [Any], path: String) -> Any? {
    var (elements, names) = (elements, path == "self" ? [] : path.split(separator: ".").map(String.init))
    // Unlike in a fetch, a value that is nil counts as 0.
    if name == "@avg", !names.isEmpty, !path.contains("@") {
      elements = elements.map { Self.value(of: $0, atPath: path) ?? NSNumber(value: 0) }
      names = []
    }
    let value = InMemoryOrder.orRaise("valueForKeyPath:") {
      try InMemoryOrder.evaluation().value(of: elements, at: [name] + names)
    }
    // Unlike a fetch, key-value coding has an average of no values.
    return value.map(FoundationValue.of) ?? (name == "@avg" ? NSNumber(value: 0) : nil)
  }

  /// A number as a double; nil for other values.
  static func number(_ value: Any) -> Double? {
    switch value {
    case let number as NSNumber: number.doubleValue
    case let number as any BinaryInteger: Double(number)
    case let number as any BinaryFloatingPoint: Double(number)
    case let number as Decimal: NSDecimalNumber(decimal: number).doubleValue
    default: nil
    }
  }
}

/// An object that knows its values by name. Classes that are no managed objects can conform, to be used by `NSPredicate` and
/// `NSSortDescriptor`.
public protocol _KeyValueCoding {
  /// The value of a property; nil if it is nil or there is none.
  func _value(forKey key: String) -> Any?
}
