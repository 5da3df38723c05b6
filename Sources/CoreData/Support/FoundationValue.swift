import Foundation
import Heartwood
import HeartwoodBytes

/// Values as key-value coding has them: numbers as `NSNumber`, to-many relationships as sets of Foundation.
enum FoundationValue {
  /// A value of an attribute as key-value coding has it.
  static func of(_ any: Any) -> Any {
    // Types are compared before anything is cast: other casts go through the conformances of Foundation's classes.
    let type = Swift.type(of: any)
    if type == String.self { return any }
    if type == Int64.self, let number = any as? Int64 { return NSNumber(value: number) }
    if type == Bool.self, let truth = any as? Bool { return NSNumber(value: truth) }
    if type == Double.self, let number = any as? Double { return NSNumber(value: number) }
    if type == Int16.self, let number = any as? Int16 { return NSNumber(value: number) }
    if type == Int32.self, let number = any as? Int32 { return NSNumber(value: number) }
    if type == Int.self, let number = any as? Int { return NSNumber(value: number) }
    if type == Float.self, let number = any as? Float { return NSNumber(value: number) }
    if type == Decimal.self, let number = any as? Decimal { return DecimalNumber(decimal: number) }
    return any
  }

  /// Values as a set has them: distinct ones. Foundation cannot hash its own decimal numbers.
  static func set(of values: [Any]) -> NSSet {
    NSSet(
      array: values.map { ($0 as? NSDecimalNumber).map { DecimalNumber(decimal: $0.decimalValue) } ?? $0 })
  }

  /// A value without the types of Foundation that Swift bridges; nil for `NSNull`.
  static func plain(_ any: Any) -> Any? {
    guard !KeyValues.isPlain(any), any is NSObject else { return any }
    switch any {
    case is NSNull: return nil
    case let text as NSString: return String(text._nsString)
    case let date as NSDate: return Date(timeIntervalSinceReferenceDate: date.timeIntervalSinceReferenceDate)
    // Not `Data(referencing:)`, which copies byte by byte.
    case let data as NSData: return Data(bytes: data.bytes, count: data.length)
    case let uuid as NSUUID: return UUID(uuidString: uuid.uuidString)
    case let url as NSURL: return URL(string: url.absoluteString)
    default: return any
    }
  }

  /// The managed objects in a value that is set to a relationship.
  static func related(_ any: Any) -> Any? {
    // A cast to a set of Swift takes a subclass of NSSet for empty, and one to NSSet copies a set of Swift.
    if Swift.type(of: any) is NSSet.Type {
      return (any as? NSSet)?.allObjects.compactMap { $0 as? ManagedObject }
    }
    return switch any {
    case is NSNull: nil
    case let object as ManagedObject: object
    case let objects as [ManagedObject]: objects
    case let objects as Set<ManagedObject>: objects
    case let set as NSOrderedSet: set.array.compactMap { $0 as? ManagedObject }
    case let array as NSArray: array.compactMap { $0 as? ManagedObject }
    default: any
    }
  }
}

/// A decimal number that can be in a set: the hash of Foundation's class calls itself without end.
final class DecimalNumber: NSDecimalNumber, @unchecked Sendable {
  /// That of the number as a double: equal numbers have the same, of any class.
  override var hash: Int { NSNumber(value: doubleValue).hash }
  override var classForCoder: AnyClass { NSDecimalNumber.self }

  override init(decimal: Decimal) { super.init(decimal: decimal) }
  required init?(coder: NSCoder) { super.init(coder: coder) }
  required convenience init(integerLiteral value: Int) { self.init(decimal: Decimal(value)) }
  required convenience init(floatLiteral value: Double) { self.init(decimal: Decimal(value)) }
  required convenience init(booleanLiteral value: Bool) { self.init(decimal: value ? 1 : 0) }
  required convenience init(bytes buffer: UnsafeRawPointer, objCType type: UnsafePointer<Int8>) {
    programError("a decimal number is not made of bytes")
  }
}

extension NSString {
  fileprivate var _nsString: String { substring(from: 0) }
}

extension NSManagedObject {
  /// The value of an attribute that can be read from the row, as key-value coding has it; nil for others, and for nil.
  final func exposedFoundationValue(forKey key: String) -> Any? {
    let name = _PropertyHash.of(key)
    switch _exposedType(name) {
    case .integer16: return (_exposedValue(name) as Int16?).map { NSNumber(value: $0) }
    case .integer32: return (_exposedValue(name) as Int32?).map { NSNumber(value: $0) }
    case .integer64: return (_exposedValue(name) as Int64?).map { NSNumber(value: $0) }
    case .double: return (_exposedValue(name) as Double?).map { NSNumber(value: $0) }
    case .float: return (_exposedValue(name) as Float?).map { NSNumber(value: $0) }
    case .boolean: return (_exposedValue(name) as Bool?).map { NSNumber(value: $0) }
    case .string: return _exposedValue(name) as String?
    case .date: return _exposedValue(name) as Date?
    case .uuid: return _exposedValue(name) as UUID?
    default: return nil
    }
  }

  /// A value that `ManagedObject` has, as key-value coding has it.
  final func foundationValue(_ value: Any?, at slot: Int) -> Any? {
    guard let value else { return nil }
    guard entity.isRelationship(at: slot) else { return FoundationValue.of(value) }
    switch value {
    case let objects as Set<ManagedObject>: return NSSet(array: Array(objects))
    case let objects as [ManagedObject]: return NSOrderedSet(array: objects)
    default: return value
    }
  }

  /// The value of a property as key-value coding has it, also in an object whose class overrides it.
  final func plainFoundationValue(forKey key: String, at slot: Int) -> Any? {
    guard entity.isRelationship(at: slot), entity.relationship(at: slot).isToMany else {
      return foundationValue(_plainValue(forKey: key), at: slot)
    }
    let related = relatedObjects(forKey: key)
    if entity.relationship(at: slot).isOrdered {
      let last = related.lastCollection(as: ReadOrderedSet.self) { set, object, isAdded in
        // One that the program holds stays as it is.
        guard !set.isOfProgram, isKnownUniquelyReferenced(&set) else { return false }
        set.change(object, isAdded: isAdded)
        return true
      }
      if let last, !last.isOfProgram { return last }
      let made = ReadOrderedSet(_destinations(key))
      related.noteRead(made)
      return made
    }
    let set = related.collection {
      ReadSet(_destinations(key))
    } change: { set, object, isAdded in
      set.change(object, isAdded: isAdded)
      return true
    }
    return set.current
  }

  /// A value of key-value coding in the types that `ManagedObject` takes.
  final func storedValue(_ value: Any?, at slot: Int) -> Any? {
    guard let value else { return nil }
    return entity.isRelationship(at: slot) ? FoundationValue.related(value) : FoundationValue.plain(value)
  }
}

extension FoundationValue {
  /// A value of a property list: each of its numbers is one of Foundation's.
  static func ofPropertyList(_ value: Any) -> Any {
    switch value {
    // By the type itself: numbers of Swift are cast to those of Foundation.
    case _ where type(of: value) is NSNumber.Type: value
    case let number as Bool: NSNumber(value: number)
    case let number as Int: NSNumber(value: number)
    case let number as Double: NSNumber(value: number)
    case let values as [Any]: values.map(ofPropertyList)
    case let values as [String: Any]: values.mapValues(ofPropertyList)
    default: value
    }
  }
}

extension ManagedObject {
  /// Values of `ManagedObject` by name as key-value coding has them: objects in place of identifiers.
  final func foundationValues(_ values: [String: Any]) -> [String: Any] {
    var converted: [String: Any] = [:]
    for (key, value) in values {
      converted[key] = FoundationValue.converted(value, managedObjectContext, isOrdered: isOrdered(key))
    }
    return converted
  }

  private final func isOrdered(_ key: String) -> Bool { entity.relationshipsByName[key]?.isOrdered == true }
}

extension FoundationValue {
  fileprivate static func converted(_ value: Any, _ context: NSManagedObjectContext?, isOrdered: Bool) -> Any
  {
    func object(_ id: NSManagedObjectID) -> Any { context.map { $0.object(with: id) as Any } ?? id }
    func collection(_ objects: [Any]) -> Any {
      isOrdered ? NSOrderedSet(array: objects) : NSSet(array: objects)
    }
    switch value {
    case let id as NSManagedObjectID: return object(id)
    case let ids as [NSManagedObjectID]: return collection(ids.map(object))
    case let objects as Set<ManagedObject>: return collection(Array(objects))
    case let objects as [ManagedObject]: return collection(objects)
    default: return of(value)
    }
  }
}
