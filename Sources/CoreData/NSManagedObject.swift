import Foundation
import Heartwood
import HeartwoodBytes

/// An object of a model, with key-value coding.
///
/// Its classes declare properties by `@NSManaged`, which the build plugins of this package fill in, or have none: every property can be used by
/// its name.
open class NSManagedObject: ManagedObject, NSFetchRequestResult, NSObjectProtocol, CVarArg, _CVarArgObject {
  /// Creates an object of an entity, and inserts it into a context if there is one.
  ///
  /// - Precondition: The entity is in a valid model.
  public override init(entity: NSEntityDescription, insertInto context: NSManagedObjectContext?) {
    ClassEntities.prepare(entity)
    super.init(entity: entity, insertInto: context)
  }

  /// An object of the class's entity, in no context.
  public convenience init() { self.init(entity: Self.entity(), insertInto: nil) }

  /// The superclass.
  public class func superclass() -> AnyClass? { _getSuperclass(self) }

  /// The name of the class, as `NSStringFromClass` gives it.
  open class func description() -> String { NSStringFromClass(self) }

  /// Whether it is the class or a subclass of it.
  public class func isSubclass(of aClass: AnyClass) -> Bool {
    sequence(first: self as AnyClass, next: { _getSuperclass($0) }).contains { $0 == aClass }
  }

  /// The entity of this class, in the model that was used or read last. Without a model that has one, writes a warning, and returns an entity
  /// without properties.
  open override class func entity() -> NSEntityDescription { ClassEntities.entity(of: self) }

  /// False: properties are those of the model.
  open override class var _declaresProperties: Bool { false }

  /// Whether changes of properties that are not in the model leave the object unchanged: always true.
  open class var contextShouldIgnoreUnmodeledPropertyChanges: Bool { true }

  /// A request for the objects of this class.
  @_disfavoredOverload
  open class func fetchRequest() -> NSFetchRequest<any NSFetchRequestResult> { NSFetchRequest(ofClass: self) }

  // MARK: Key-value coding

  /// The value of a property in the types of Foundation: `NSNumber` for numbers and Booleans, `NSDecimalNumber`, `NSSet` and `NSOrderedSet` for to-many
  /// relationships; what Swift bridges (`String`, `Date`, `Data`, `UUID`, `URL`) as it is.
  ///
  /// - Precondition: The entity has the property, or `value(forUndefinedKey:)` is overridden.
  open override func value(forKey key: String) -> Any? {
    if let own = _ownValue(forKey: key) { return own }
    if let value = exposedFoundationValue(forKey: key) { return value }
    if let slot = entity.slotIndex(named: key) { return plainFoundationValue(forKey: key, at: slot) }
    if let other = unmodelledValue(forKey: key) { return other }
    return value(forUndefinedKey: key)
  }

  /// Sets a property, to nil or to a value of a type that bridges to the property's.
  ///
  /// - Precondition: The entity has the property and the value fits, or `setValue(_:forUndefinedKey:)` is overridden.
  open override func setValue(_ value: Any?, forKey key: String) {
    if _setOwnValue(value, forKey: key) { return }
    if let slot = entity.slotIndex(named: key) {
      super.setValue(storedValue(value, at: slot), forKey: key)
      _noteAssignment(key)
    } else if let first = key.first, first.isUppercase,
      entity.slotIndex(named: first.lowercased() + key.dropFirst()) != nil
    {
      // Key-value coding finds the accessor `setDate:` for both keys, `date` and `Date`.
      setValue(value, forKey: first.lowercased() + key.dropFirst())
    } else {
      setValue(value, forUndefinedKey: key)
    }
  }

  /// Called for a name that is no property. Stops the program unless it is overridden.
  open func value(forUndefinedKey key: String) -> Any? {
    raise(
      "valueForUndefinedKey:",
      "the entity \(entity.name ?? "?") is not key value coding-compliant for the key \"\(key)\"")
  }

  /// Called for a name that is no property. Stops the program unless it is overridden.
  open func setValue(_ value: Any?, forUndefinedKey key: String) {
    raise(
      "setValue:forUndefinedKey:",
      "the entity \(entity.name ?? "?") is not key value coding-compliant for the key \"\(key)\"")
  }

  /// Core Data calls it for scalar properties that are set to nil by their names. The properties of this module take nil.
  open func setNilValueForKey(_ key: String) {
    raise("setNilValueForKey:", "could not set nil as the value for the key \(key)")
  }

  /// The value of a property of the class that is not in the model, by its name. The plugin that translates sources overrides it for
  /// properties that are visible to Objective-C.
  ///
  /// - Returns: Nil if the class has no such property.
  open func _ownValue(forKey key: String) -> Any?? { nil }

  /// Sets a property of the class that is not in the model, by its name.
  ///
  /// - Returns: Whether the class has such a property.
  open func _setOwnValue(_ value: Any?, forKey key: String) -> Bool { false }

  /// Sets a property of an object to a value of its type, for `_setOwnValue(_:forKey:)`.
  ///
  /// - Returns: True.
  public static func _assign<Root, Value>(
    _ value: Any?, to path: ReferenceWritableKeyPath<Root, Value>, of object: Any
  ) -> Bool {
    guard let object = object as? Root else { return true }
    object[keyPath: path] = ManagedValue.cast(value, "\(path)")
    return true
  }

  /// The properties from which a computed one is made, by their paths, for classes that override it: by default none. Observers need it not:
  /// they compare the values of computed properties after every change.
  open class func keyPathsForValuesAffectingValue(forKey key: String) -> Set<String> { [] }

  /// Whether observers are told of assignments to a property, for classes that override it. Never asked for: they are.
  open class func automaticallyNotifiesObservers(forKey key: String) -> Bool { true }

  /// The value in memory, without firing a fault, in the types of `value(forKey:)`.
  open override func primitiveValue(forKey key: String) -> Any? {
    let value = super.primitiveValue(forKey: key)
    return entity.slotIndex(named: key).map { foundationValue(value, at: $0) } ?? value
  }

  /// Sets the value in memory, without marking the object as changed.
  open override func setPrimitiveValue(_ value: Any?, forKey key: String) {
    super.setPrimitiveValue(
      entity.slotIndex(named: key).map { storedValue(value, at: $0) } ?? value, forKey: key)
  }

  /// Ends changing a property in a custom accessor, as `NSManagedObject` does, and notifies those who observe the property.
  open override func didChangeValue(forKey key: String) {
    super.didChangeValue(forKey: key)
    _noteAssignment(key)
  }

  /// The value at the end of names with dots between them; over a to-many relationship the values of all destinations, or an aggregate of
  /// them such as `@count` and `@sum.price`.
  open func value(forKeyPath keyPath: String) -> Any? { KeyValues.value(of: self, atPath: keyPath) }

  /// Sets the property at the end of names with dots between them; over a to-many relationship that of all destinations.
  ///
  /// - Precondition: The names before the last one lead to managed objects or to nil.
  open func setValue(_ value: Any?, forKeyPath keyPath: String) {
    KeyValues.set(value, of: self, atPath: keyPath)
  }

  /// Begins changing a to-many relationship in a custom accessor.
  open func willChangeValue(
    forKey inKey: String, withSetMutation inMutationKind: NSKeyValueSetMutationKind,
    using inObjects: Set<AnyHashable>
  ) { willChangeValue(forKey: inKey) }

  /// Ends changing a to-many relationship in a custom accessor.
  open func didChangeValue(
    forKey inKey: String, withSetMutation inMutationKind: NSKeyValueSetMutationKind,
    using inObjects: Set<AnyHashable>
  ) { didChangeValue(forKey: inKey) }

  /// Begins changing an ordered relationship in a custom accessor.
  open func willChange(_ changeKind: NSKeyValueChange, valuesAt indexes: IndexSet, forKey key: String) {
    willChangeValue(forKey: key)
  }

  /// Ends changing an ordered relationship in a custom accessor.
  open func didChange(_ changeKind: NSKeyValueChange, valuesAt indexes: IndexSet, forKey key: String) {
    didChangeValue(forKey: key)
  }

  /// The values of several properties, with `NSNull` for nil.
  open func dictionaryWithValues(forKeys keys: [String]) -> [String: Any] {
    Dictionary(keys.map { ($0, value(forKey: $0) ?? NSNull()) }, uniquingKeysWith: { first, _ in first })
  }

  /// Sets several properties. `NSNull` stands for nil.
  open func setValuesForKeys(_ keyedValues: [String: Any]) {
    for (key, value) in keyedValues { setValue(value is NSNull ? nil : value, forKey: key) }
  }

  /// A set that changes a to-many relationship when it is changed.
  open func mutableSetValue(forKey key: String) -> NSMutableSet { RelationshipSet(self, key) }

  /// An ordered set that changes an ordered relationship when it is changed.
  open func mutableOrderedSetValue(forKey key: String) -> NSMutableOrderedSet {
    let related = relatedObjects(forKey: key)
    if let known = related.lastCollection as? RelationshipOrderedSet { return known }
    let made = RelationshipOrderedSet(self, key)
    related.lastCollection = made
    return made
  }

  /// The set of the relationship at the end of names with dots between them.
  open func mutableSetValue(forKeyPath keyPath: String) -> NSMutableSet {
    let (owner, key) = owner(ofPath: keyPath)
    return owner.mutableSetValue(forKey: key)
  }

  /// The ordered set of the relationship at the end of names with dots between them.
  open func mutableOrderedSetValue(forKeyPath keyPath: String) -> NSMutableOrderedSet {
    let (owner, key) = owner(ofPath: keyPath)
    return owner.mutableOrderedSetValue(forKey: key)
  }

  /// The values that differ from those last fetched or saved, in the types of `value(forKey:)`, `NSNull` for nil.
  open override func changedValues() -> [String: Any] {
    hasChanges ? foundationValues(super.changedValues()) : [:]
  }

  /// The values, before they were changed, of the properties that were changed since pending changes were last processed, in the types of
  /// `value(forKey:)`, `NSNull` for nil.
  open override func changedValuesForCurrentEvent() -> [String: Any] {
    foundationValues(super.changedValuesForCurrentEvent())
  }

  /// Values as last fetched or saved, in the types of `value(forKey:)`, `NSNull` for nil; empty for a new object.
  ///
  /// - Parameter keys: The properties; nil for all but the to-many relationships that are not loaded.
  open override func committedValues(forKeys keys: [String]?) -> [String: Any] {
    foundationValues(super.committedValues(forKeys: keys))
  }

  // MARK: Validation

  /// Checks the model's rules before a new object is saved. Overrides call it, and add the rules of the class.
  ///
  /// - Throws: An error in the Cocoa domain.
  open override func validateForInsert() throws { try validating { try super.validateForInsert() } }

  /// Checks the model's rules before a changed object is saved, as `validateForInsert()`.
  open override func validateForUpdate() throws { try validating { try super.validateForUpdate() } }

  /// Checks the model's rules before the object is deleted, as `validateForInsert()`.
  open override func validateForDelete() throws { try validating { try super.validateForDelete() } }

  /// Validates one value at a save, after the rules of the model. Override it for rules that the model cannot express.
  ///
  /// - Parameters:
  ///   - value: The value. Another one that is stored there takes its place.
  ///   - key: The name of a property.
  /// - Throws: An error if the value is not valid.
  open func validateValue(_ value: AutoreleasingUnsafeMutablePointer<AnyObject?>, forKey key: String) throws {
    try _validateOwn(value, forKey: key)
  }

  /// Validates one value now, by the rules of the model and of the class, as a save does.
  ///
  /// - Parameters:
  ///   - value: The value. What the class stores in its place is assigned to it.
  ///   - key: The name of a property.
  /// - Throws: An error if the value is not valid.
  public final func validateValue(_ value: inout AnyObject?, forKey key: String) throws {
    guard let slot = entity.slotIndex(named: key), !entity.isRelationship(at: slot) else {
      let place = AutoreleasingUnsafeMutablePointer(value)
      defer { value = place.pointee }
      return try asCocoa(in: managedObjectContext) { try validateValue(place, forKey: key) }
    }
    let plain: Any? = value.flatMap { FoundationValue.plain($0) }
    let accepted = try asCocoa(in: managedObjectContext) { try validate(plain, forKey: key) }
    value = accepted.map { FoundationValue.of($0) as AnyObject }
  }

  /// Calls the method of the class that validates a property, such as `validateAge(_:)`. The plugin that translates sources overrides it.
  open func _validateOwn(_ value: AutoreleasingUnsafeMutablePointer<AnyObject?>, forKey key: String) throws {}

  /// Calls `validateValue(_:forKey:)` for what a save validates.
  open override func validateValue(_ value: inout Any?, forKey key: String) throws {
    let given = value.map { FoundationValue.of($0) as AnyObject }
    let place = AutoreleasingUnsafeMutablePointer(given)
    try validateValue(place, forKey: key)
    if place.pointee !== given { value = place.pointee.flatMap { FoundationValue.plain($0) } }
  }

  // MARK: NSObject

  /// Whether it is the same instance.
  open func isEqual(_ object: Any?) -> Bool { (object as? ManagedObject) === self }
  /// A hash of the instance.
  open var hash: Int { ObjectIdentifier(self).hashValue }
  /// The object itself.
  public final func `self`() -> Self { self }
  /// Always false.
  public final func isProxy() -> Bool { false }
  /// The same as `description`.
  open var debugDescription: String { description }

  /// Whether the object has a method: one that `#selector` carries, one of key-value coding or of the object's life, or an accessor of a
  /// property, such as `name`, `setName:` or `addBooksObject:`. Other methods of the program have no names here.
  open func responds(to aSelector: Selector!) -> Bool {
    guard let aSelector else { return false }
    return aSelector.isMethod(of: self) || AccessorNames.has(aSelector.name, entity)
      || _ownValue(forKey: aSelector.name) != nil
  }

  /// Whether objects of the class have a method, as far as the class's entity says it.
  open class func instancesRespond(to aSelector: Selector!) -> Bool {
    aSelector.map { AccessorNames.has($0.name, entity()) } ?? false
  }

  /// Whether the object is of the class or of a subclass.
  public final func isKind(of aClass: AnyClass) -> Bool { type(of: self).isSubclass(of: aClass) }

  /// The superclass of the object's class.
  public final var superclass: AnyClass? { _getSuperclass(type(of: self)) }
  /// The object's class.
  open var classForCoder: AnyClass { type(of: self) }

  /// Whether the object is exactly of the class.
  public final func isMember(of aClass: AnyClass) -> Bool { type(of: self) == aClass }

  /// The description, for a text that Foundation formats.
  public final var _cVarArgObject: any CVarArg { NSString(string: description) }
  /// Needed for arguments of formats; never asked for.
  public final var _cVarArgEncoding: [Int] { [Int(bitPattern: Unmanaged.passUnretained(self).toOpaque())] }
}

/// Stops the program, as an exception does that is not caught.
func raise(_ method: String, _ reason: String) -> Never {
  programError("-[NSManagedObject \(method)]: \(reason)")
}

/// A protocol for an initialiser that can be called of any class: `Self(entity:insertInto:)`, or that of a generic type.
public protocol _MadeByClass {}
extension NSManagedObject: _MadeByClass {}

extension _MadeByClass where Self: NSManagedObject {
  /// Creates an object of an entity, as `_made(entity:insertInto:)`. A class's own initialiser goes before this one.
  ///
  /// - Precondition: As of `NSManagedObject.init(entity:insertInto:)`. The class has this initialiser.
  @_disfavoredOverload
  public init(entity: NSEntityDescription, insertInto context: NSManagedObjectContext?) {
    self = Self._made(entity: entity, insertInto: context)
  }

  /// An object of an entity, in the entity's class if that is a subclass of this one: what `NSManagedObject(entity: city, insertInto: context)`
  /// makes on Apple's systems. The plugin that translates sources writes it in place of initialisers of this name.
  ///
  /// - Precondition: The entity is in a valid model, and its class has `init(entity:insertInto:)`.
  public static func _made(entity: NSEntityDescription, insertInto context: NSManagedObjectContext?) -> Self {
    ClassEntities.prepare(entity)
    return ManagedObject.make(entity, insertInto: context, as: self as ManagedObject.Type) as! Self
  }
}
