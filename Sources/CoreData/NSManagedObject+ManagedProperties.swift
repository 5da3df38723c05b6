import Foundation
import Heartwood
import HeartwoodBytes

/// The accessors that the plugins make of `@NSManaged`.
extension NSManagedObject {
  /// The value of an attribute whose type is one of Swift's. Nil becomes the zero of the type, as bridging from Objective-C does.
  ///
  /// - Parameters:
  ///   - key: The name of the attribute.
  ///   - name: The hash of the name.
  @inlinable @inline(__always)
  public final func _managedGet<Value: AttributeValue>(_ key: String, _ name: UInt64) -> Value {
    if let value: Value = _exposedValue(name) { return value }
    return _uncommonValue(key, name)
  }

  /// As `_managedGet(_:_:)`, without the hash of the name.
  @inlinable
  public final func _managedGet<Value: AttributeValue>(_ key: String) -> Value {
    _managedGet(key, _PropertyHash.of(key))
  }

  /// The value of an attribute that is not in the row alone.
  @inlinable @inline(never)
  final func _uncommonValue<Value: AttributeValue>(_ key: String, _ name: UInt64) -> Value {
    if !_isInspected, let value: Value = _typedValue(key, name) { return value }
    return _otherValue(key)
  }

  /// Sets an attribute whose type is one of Swift's.
  ///
  /// - Parameters:
  ///   - key: The name of the attribute.
  ///   - name: The hash of the name.
  ///   - value: The value.
  @inlinable
  public final func _managedSet<Value: AttributeValue>(_ key: String, _ name: UInt64, _ value: Value) {
    if !_isInspected, _setTypedValue(value, key, name) { return _noteAssignment(key) }
    _setOtherValue(key, value)
  }

  /// Tells observers of the property.
  @usableFromInline
  final func _noteAssignment(_ key: String) { KeyValueObservers.noteAssignment(of: key, in: self) }

  /// As `_managedSet(_:_:_:)`, without the hash of the name.
  @inlinable
  public final func _managedSet<Value: AttributeValue>(_ key: String, _ value: Value) {
    _managedSet(key, _PropertyHash.of(key), value)
  }

  /// The value of an attribute that is nil, or of another type than it is declared with.
  @usableFromInline
  final func _otherValue<Value>(_ key: String) -> Value {
    if _isInspected { return InspectedObject.read(key, as: Value.self) }
    let value = modelledValue(key)
    if value == nil, let zero = ManagedValue.zero(Value.self) { return zero }
    return ManagedValue.cast(value, "\(entity.name ?? "?").\(key)")
  }

  @usableFromInline
  final func _setOtherValue<Value>(_ key: String, _ value: Value) {
    guard !_isInspected else { return }
    setModelled(value, key)
    _noteAssignment(key)
  }

  /// The object of a to-one relationship.
  ///
  /// - Parameters:
  ///   - key: The name of the relationship.
  ///   - name: The hash of the name.
  public final func _managedGet<Value: NSManagedObject>(_ key: String, _ name: UInt64) -> Value? {
    guard !_isInspected, let destination = _toOneDestination(name) else { return _otherValue(key) }
    guard let destination else { return nil }
    if let value = destination as? Value { return value }
    return ManagedValue.cast(destination, "\(entity.name ?? "?").\(key)")
  }

  /// The value of a property of any type.
  ///
  /// - Parameters:
  ///   - key: The name of the property.
  ///   - name: The hash of the name.
  @_disfavoredOverload
  public final func _managedGet<Value>(_ key: String, _ name: UInt64) -> Value { _anyValue(key, name) }

  // An object of a relationship is an `Any`, too, so that the compiler would choose the function of relationships for these types.

  /// The value of a property that is declared as `Any`.
  public final func _managedGet(_ key: String, _ name: UInt64) -> Any { _anyValue(key, name) }
  /// The value of a property that is declared as `Any?`.
  public final func _managedGet(_ key: String, _ name: UInt64) -> Any? {
    // Not by a cast, which makes of no value a value that is none.
    _isInspected ? InspectedObject.read(key, as: Any?.self) : modelledValue(key)
  }
  /// The value of a property that is declared as `AnyObject`.
  public final func _managedGet(_ key: String, _ name: UInt64) -> AnyObject {
    (_anyValue(key, name) as Any) as AnyObject
  }
  /// The value of a property that is declared as `AnyObject?`.
  public final func _managedGet(_ key: String, _ name: UInt64) -> AnyObject? {
    (_managedGet(key, name) as Any?).map { $0 as AnyObject }
  }

  private func _anyValue<Value>(_ key: String, _ name: UInt64) -> Value {
    if _isInspected { return InspectedObject.read(key, as: Value.self) }
    if let slot = slotIndex(named: key, name), entity.isRelationship(at: slot),
      let related = ManagedValue.related(Value.self, self, key)
    {
      return related
    }
    return ManagedValue.cast(modelledValue(key), "\(entity.name ?? "?").\(key)")
  }

  /// As `_managedGet(_:_:)`, without the hash of the name.
  public final func _managedGet<Value>(_ key: String) -> Value { _managedGet(key, _PropertyHash.of(key)) }

  /// Sets a property of any type.
  ///
  /// - Parameters:
  ///   - key: The name of the property.
  ///   - name: The hash of the name.
  ///   - value: The value.
  public final func _managedSet<Value>(_ key: String, _ name: UInt64, _ value: Value) {
    guard !_isInspected else { return }
    setModelled(value, key)
    _noteAssignment(key)
  }

  /// As `_managedSet(_:_:_:)`, without the hash of the name.
  public final func _managedSet<Value>(_ key: String, _ value: Value) {
    _managedSet(key, _PropertyHash.of(key), value)
  }

  /// Adds an object, or the objects of a collection, to a to-many relationship.
  public final func _managedAdd(_ key: String, _ objects: Any) {
    let related = relatedObjects(forKey: key)
    for object in ManagedValue.objects(in: objects) { related.insert(object) }
    _noteAssignment(key)
  }

  /// Removes an object, or the objects of a collection, from a to-many relationship.
  public final func _managedRemove(_ key: String, _ objects: Any) {
    let related = relatedObjects(forKey: key)
    for object in ManagedValue.objects(in: objects) { related.remove(object) }
    _noteAssignment(key)
  }

  /// Inserts objects into an ordered relationship.
  public final func _managedInsert(_ key: String, _ objects: Any, at indexes: IndexSet) {
    let related = relatedObjects(forKey: key)
    related.forEachNew(ManagedValue.objects(in: objects), at: indexes) { related.insert($0, at: $1) }
    _noteAssignment(key)
  }

  /// Inserts an object into an ordered relationship.
  public final func _managedInsert(_ key: String, _ object: Any, at index: Int) {
    _managedInsert(key, object, at: IndexSet(integer: index))
  }

  /// Removes the objects at places of an ordered relationship.
  public final func _managedRemove(_ key: String, at indexes: IndexSet) {
    let related = relatedObjects(forKey: key)
    for index in indexes.reversed() { related.remove(at: index) }
    _noteAssignment(key)
  }

  /// Inserts objects into an ordered relationship.
  public final func _managedInsert(_ key: String, _ objects: Any, at indexes: NSIndexSet) {
    _managedInsert(key, objects, at: indexes as IndexSet)
  }

  /// Removes the objects at places of an ordered relationship.
  public final func _managedRemove(_ key: String, at indexes: NSIndexSet) {
    _managedRemove(key, at: indexes as IndexSet)
  }

  /// Replaces objects of an ordered relationship.
  public final func _managedReplace(_ key: String, at indexes: NSIndexSet, _ objects: Any) {
    _managedReplace(key, at: indexes as IndexSet, objects)
  }

  /// Removes the object at a place of an ordered relationship.
  public final func _managedRemove(_ key: String, at index: Int) {
    _managedRemove(key, at: IndexSet(integer: index))
  }

  /// Replaces objects of an ordered relationship.
  public final func _managedReplace(_ key: String, at indexes: IndexSet, _ objects: Any) {
    mutableOrderedSetValue(forKey: key).replaceObjects(at: indexes, with: ManagedValue.objects(in: objects))
  }

  /// Replaces the object at a place of an ordered relationship.
  public final func _managedReplace(_ key: String, at index: Int, _ object: Any) {
    _managedReplace(key, at: IndexSet(integer: index), object)
  }

  /// The property of which `primitiveName` names the value in memory: `name`.
  private final func primitiveName(_ key: String) -> String? {
    guard key.hasPrefix("primitive"), key.count > 9 else { return nil }
    let name = key.dropFirst(9)
    return [name.prefix(1).lowercased() + name.dropFirst(), String(name)].first {
      entity.slotIndex(named: $0) != nil
    }
  }

  /// The value of the model's property, also if `value(forKey:)` is overridden.
  private final func modelledValue(_ key: String) -> Any? {
    guard let slot = entity.slotIndex(named: key) else {
      if let primitive = primitiveName(key) { return primitiveValue(forKey: primitive) }
      if let own = unmodelledValue(forKey: key) { return own }
      return value(forUndefinedKey: key)
    }
    return plainFoundationValue(forKey: key, at: slot)
  }

  private final func setModelled(_ value: Any, _ key: String) {
    let flat = ManagedValue.flat(value)
    guard let slot = entity.slotIndex(named: key) else {
      if let primitive = primitiveName(key) { return setPrimitiveValue(flat, forKey: primitive) }
      return setValue(flat, forUndefinedKey: key)
    }
    // A date that is declared as a number of seconds.
    if let seconds = flat as? Double, entity.attributeType(at: slot) == .date {
      return _setPlainValue(Date(timeIntervalSinceReferenceDate: seconds), forKey: key)
    }
    _setPlainValue(storedValue(flat, at: slot), forKey: key)
  }
}

/// Values of properties in the types that classes declare.
enum ManagedValue {
  /// The zero of a type that cannot be nil; nil for other types.
  static func zero<Value>(_ type: Value.Type) -> Value? {
    switch type {
    case is String.Type: "" as? Value
    case is Bool.Type: false as? Value
    case is Int16.Type: Int16(0) as? Value
    case is Int32.Type: Int32(0) as? Value
    case is Int64.Type: Int64(0) as? Value
    case is Int.Type: 0 as? Value
    case is Double.Type: 0.0 as? Value
    case is Float.Type: Float(0) as? Value
    case is Data.Type: Data() as? Value
    default:
      // As the Objective-C runtime takes them: an enumeration is its number, and nothing is an empty dictionary.
      (type as? any RawRepresentable.Type).flatMap { zeroCase($0) } as? Value
        ?? (type as? any ExpressibleByDictionaryLiteral.Type)?.empty as? Value
    }
  }

  private static func zeroCase<Raw: RawRepresentable>(_ type: Raw.Type) -> Any? {
    zero(Raw.RawValue.self).flatMap { Raw(rawValue: $0) }
  }

  /// A value in the declared type.
  static func cast<Value>(_ any: Any?, _ name: @autoclosure () -> String) -> Value {
    if let any {
      if let value = any as? Value { return value }
      if let date = any as? Date, let seconds = date.timeIntervalSinceReferenceDate as? Value {
        return seconds
      }
      if let value = Value.self as? any _ObjectCollection.Type,
        let made = value.make(objects(in: any)) as? Value
      {
        return made
      }
      if let type = Value.self as? any RawRepresentable.Type, let made = raw(type, any) as? Value {
        return made
      }
      // A number of another type, as the value of an integer attribute.
      if let number = any as? NSNumber,
        let decimal = NSDecimalNumber(decimal: number.decimalValue) as? Value
      {
        return decimal
      }
    } else if let value = (Value.self as? any ExpressibleByNilLiteral.Type)?.none as? Value {
      return value
    } else if let value = zero(Value.self) {
      return value
    } else if let value = Value.self as? any _ObjectCollection.Type, let made = value.make([]) as? Value {
      return made
    }
    programError(
      "\(name()) is \(any.map { "\(type(of: $0))" } ?? "nil"), which is no \(Value.self)"
    )
  }

  private static func raw<Raw: RawRepresentable>(_ type: Raw.Type, _ any: Any) -> Any? {
    (any as? Raw.RawValue).flatMap { Raw(rawValue: $0) }
  }

  /// The destinations of a relationship in the declared type; nil if that type is none of the usual ones.
  static func related<Value>(_ type: Value.Type, _ object: NSManagedObject, _ key: String) -> Value? {
    if let collection = type as? any _ObjectCollection.Type {
      return object.relatedObjects(forKey: key).collection {
        collection.make(object._destinations(key)) as? Value
      } change: { value, object, isAdded in
        guard var changing = value as? any _ObjectCollection else { return false }
        value = nil
        guard changing.change(object, isAdded: isAdded) else { return false }
        value = changing as? Value
        return value != nil
      }
    }
    return nil
  }

  static func objects(in any: Any) -> [ManagedObject] {
    switch any {
    case let object as ManagedObject: [object]
    case let set as NSSet: set.allObjects.compactMap { $0 as? ManagedObject }
    case let set as NSOrderedSet: set.array.compactMap { $0 as? ManagedObject }
    case let array as NSArray: array.compactMap { $0 as? ManagedObject }
    default: (KeyValues.elements(of: any) ?? []).compactMap { $0 as? ManagedObject }
    }
  }

  /// A value without optionals around it, and raw values of enums.
  static func flat(_ value: Any) -> Any? {
    if let optional = value as? any _FlatOptional { return optional._flat }
    if !(value is any AttributeValue), !(value is NSObject), let raw = value as? any RawRepresentable {
      return raw.rawValue
    }
    return value
  }
}

extension ExpressibleByNilLiteral {
  fileprivate static var none: Any { Self(nilLiteral: ()) }
}

extension ExpressibleByDictionaryLiteral {
  fileprivate static var empty: Any { Self() }
}

protocol _FlatOptional { var _flat: Any? { get } }
extension Optional: _FlatOptional {
  var _flat: Any? { flatMap { ManagedValue.flat($0) } }
}

/// A collection of objects as classes declare relationships.
protocol _ObjectCollection {
  static func make(_ objects: [ManagedObject]) -> Any
  /// Adds an object, as the last one, or removes it. Returns false if it cannot be an element.
  mutating func change(_ object: AnyObject, isAdded: Bool) -> Bool
}
extension Set: _ObjectCollection {
  static func make(_ objects: [ManagedObject]) -> Any {
    Set(objects.compactMap { $0 as? Element })
  }
}
extension Array: _ObjectCollection {
  static func make(_ objects: [ManagedObject]) -> Any { objects.compactMap { $0 as? Element } }
}
extension Optional: _ObjectCollection where Wrapped: _ObjectCollection {
  static func make(_ objects: [ManagedObject]) -> Any { Wrapped.make(objects) }
  mutating func change(_ object: AnyObject, isAdded: Bool) -> Bool {
    self?.change(object, isAdded: isAdded) ?? false
  }
}
