import Foundation
import HeartwoodModel

/// Puts nothing in the place of objects with which Foundation here would end the program: those without secure coding, and those of classes within
/// others, which have no name in archives unless the program has set one.
private final class SecureCodingCheck: NSObject, NSKeyedArchiverDelegate {
  private(set) var hasRefused = false

  func archiver(_ archiver: NSKeyedArchiver, willEncode object: Any) -> Any? {
    // Values of Swift, such as texts, are archived as Foundation's.
    let object = object as AnyObject
    if let coded = object as? any NSSecureCoding, type(of: coded).supportsSecureCoding,
      let coder = (object as? NSObject)?.classForCoder, Self.hasName(coder, archiver)
    {
      return object
    }
    hasRefused = true
    return NSNull()
  }

  private static func hasName(_ type: AnyClass, _ archiver: NSKeyedArchiver) -> Bool {
    String(reflecting: type).split(separator: ".").count == 2 || archiver.classNameForClass(type) != nil
      || NSKeyedArchiver.classNameForClass(type) != nil
  }

  func archiver(_ archiver: NSKeyedArchiver, didEncode object: Any?) {}
  func archiver(_ archiver: NSKeyedArchiver, willReplace object: Any?, withObject newObject: Any?) {}
  func archiverWillFinish(_ archiver: NSKeyedArchiver) {}
  func archiverDidFinish(_ archiver: NSKeyedArchiver) {}
}

/// A decimal number in an archive. Foundation here ends the program where it archives its own, also within arrays and dictionaries.
///
/// The fields are those of `NSDecimalNumber` in archives of Apple's Foundation.
final class ArchivedDecimal: NSObject, NSSecureCoding {
  static var supportsSecureCoding: Bool { true }
  private static let className = "NSDecimalNumber"
  /// The mantissa has eight units of 16 bits.
  private static let unitCount = 8

  private let number: Decimal

  private init(_ number: Decimal) { self.number = number }

  /// A secure archive of a value; nil for what cannot be archived, or is not read again from the archive: an object without secure coding at any
  /// depth, or one of other classes, in the collections of those too.
  static func archive(of value: Any, _ classes: [AnyClass]) -> Data? {
    guard isReadable(value as AnyObject, classes) else { return nil }
    let value = replacing(value as AnyObject) { ($0 as? NSDecimalNumber).map { Self($0.decimalValue) } }
    let archiver = NSKeyedArchiver(requiringSecureCoding: true)
    let check = SecureCodingCheck()
    archiver.delegate = check
    archiver.setClassName(className, for: self)
    archiver.encode(value, forKey: NSKeyedArchiveRootObjectKey)
    archiver.finishEncoding()
    return archiver.error == nil && !check.hasRefused ? archiver.encodedData : nil
  }

  private static func isReadable(_ value: AnyObject, _ classes: [AnyClass]) -> Bool {
    guard let object = value as? NSObject, classes.contains(where: { object.isKind(of: $0) }) else {
      return false
    }
    func areReadable(_ values: some Sequence<Any>) -> Bool {
      values.allSatisfy { isReadable($0 as AnyObject, classes) }
    }
    return switch object {
    case let values as NSArray: areReadable(values)
    case let values as NSSet: areReadable(values)
    case let values as NSDictionary: areReadable(values.allKeys) && areReadable(values.allValues)
    default: true
    }
  }

  /// The value of an archive; nil if it is damaged, or has objects of other classes.
  static func value(of archive: Data, _ classes: [AnyClass]) -> Any? {
    guard let unarchiver = try? NSKeyedUnarchiver(forReadingFrom: archive) else { return nil }
    unarchiver.setClass(self, forClassName: className)
    unarchiver.decodingFailurePolicy = .setErrorAndReturn
    let value = unarchiver.decodeObject(of: classes + [self], forKey: NSKeyedArchiveRootObjectKey)
    guard unarchiver.error == nil, let value else { return nil }
    return replacing(value as AnyObject) { ($0 as? Self).map { DecimalNumber(decimal: $0.number) } }
  }

  func encode(with coder: NSCoder) {
    let parts = DecimalParts(number)
    let units = (0..<Self.unitCount).map { UInt16(truncatingIfNeeded: parts.mantissa >> UInt128($0 * 16)) }
    coder.encode(Int32(parts.exponent), forKey: "NS.exponent")
    coder.encode(Int32(units.lastIndex { $0 != 0 }.map { $0 + 1 } ?? 0), forKey: "NS.length")
    // Not a number has no units, and is negative.
    coder.encode(parts.isNegative || parts.isNaN, forKey: "NS.negative")
    coder.encode(true, forKey: "NS.compact")
    // The bytes of a unit begin with the lowest.
    coder.encode(Int32(1), forKey: "NS.mantissa.bo")
    let bytes = units.flatMap { [UInt8(truncatingIfNeeded: $0), UInt8(truncatingIfNeeded: $0 >> 8)] }
    bytes.withUnsafeBufferPointer {
      coder.encodeBytes($0.baseAddress, length: $0.count, forKey: "NS.mantissa")
    }
  }

  init?(coder: NSCoder) {
    let bytes = coder.withDecodedUnsafeBufferPointer(forKey: "NS.mantissa") { $0.map { Array($0) } ?? [] }
    let length = Int(coder.decodeInt32(forKey: "NS.length"))
    var parts = DecimalParts(0)
    parts.isNegative = coder.decodeBool(forKey: "NS.negative")
    parts.exponent = Int(coder.decodeInt32(forKey: "NS.exponent"))
    guard (0...Self.unitCount).contains(length), bytes.count >= 2 * length,
      (-128...127).contains(parts.exponent)
    else { return nil }
    let isLittle = coder.decodeInt32(forKey: "NS.mantissa.bo") != 2
    for unit in (0..<length).reversed() {
      let (first, second) = (UInt128(bytes[2 * unit]), UInt128(bytes[2 * unit + 1]))
      parts.mantissa = parts.mantissa << 16 | (isLittle ? second << 8 | first : first << 8 | second)
    }
    parts.isNaN = length == 0 && parts.isNegative
    number = parts.decimal
  }

  /// A value with others in place of some of the objects in it.
  private static func replacing(_ value: AnyObject, _ other: (AnyObject) -> AnyObject?) -> AnyObject {
    func all(_ values: some Sequence<Any>) -> [Any] { values.map { replacing($0 as AnyObject, other) } }
    if let made = other(value) { return made }
    switch value {
    case let values as NSMutableArray: return NSMutableArray(array: all(values))
    case let values as NSArray: return NSArray(array: all(values))
    case let values as NSMutableSet: return NSMutableSet(array: all(values))
    case let values as NSSet: return NSSet(array: all(values))
    case let values as NSDictionary:
      let keys = values.allKeys.compactMap { $0 as? AnyHashable }
      let made = Dictionary(uniqueKeysWithValues: zip(keys, all(keys.map { values[$0] ?? NSNull() })))
      return value is NSMutableDictionary
        ? NSMutableDictionary(dictionary: made) : NSDictionary(dictionary: made)
    default: return value
    }
  }
}
