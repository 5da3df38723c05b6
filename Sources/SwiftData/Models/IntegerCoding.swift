import Foundation
import Heartwood

/// A whole number of which rows have no type, stored as a wider one that has the same order.
protocol StoredInteger: FixedWidthInteger, SendableMetatype {
  static var storedType: AttributeDescription.AttributeType { get }
}

extension Int8: StoredInteger {
  static var storedType: AttributeDescription.AttributeType { .integer16 }
}
extension UInt8: StoredInteger {
  static var storedType: AttributeDescription.AttributeType { .integer16 }
}
extension UInt16: StoredInteger {
  static var storedType: AttributeDescription.AttributeType { .integer32 }
}
extension UInt32: StoredInteger {
  static var storedType: AttributeDescription.AttributeType { .integer64 }
}
// Half of these are greater than every integer of rows.
extension UInt64: StoredInteger {
  static var storedType: AttributeDescription.AttributeType { .decimal }
}
extension UInt: StoredInteger {
  static var storedType: AttributeDescription.AttributeType { .decimal }
}

/// Whole numbers that are stored as wider ones.
final class IntegerCoding<Value: StoredInteger>: ValueCoding<Value>, @unchecked Sendable {
  init() { super.init(Value.storedType, isOptional: false) }

  override func stored(_ value: Value) -> _Value {
    attributeType == .decimal ? .decimal(Decimal(UInt64(value))) : .int(Int64(value))
  }

  /// The number; nil if it is none of the type's.
  override func value(_ stored: _Value) -> Value? {
    switch stored {
    case .int(let number): Value(exactly: number)
    // A decimal that is no whole number has a point in its text.
    case .decimal(let number): Value("\(number)")
    default: nil
    }
  }
}

/// The order of types with a raw value, which is that of raw values in stores.
enum RawOrder {
  /// Whether the cases of a type are ordered as their raw values are; true where that cannot be known.
  static func isThatOfCases<Value: RawRepresentable>(_ type: Value.Type) -> Bool {
    guard let listed = type as? any (CaseIterable & Comparable).Type else { return true }
    return isThatOf(sorted(listed).compactMap { ($0 as? Value)?.rawValue })
  }

  private static func sorted<Value: CaseIterable & Comparable>(_ type: Value.Type) -> [Any] {
    type.allCases.sorted()
  }

  private static func isThatOf(_ values: [Any]) -> Bool {
    zip(values, values.dropFirst()).allSatisfy { first, second in
      (first as? any Comparable).map { isAscending($0, second) } ?? true
    }
  }

  private static func isAscending<Value: Comparable>(_ first: Value, _ second: Any) -> Bool {
    (second as? Value).map { first <= $0 } ?? true
  }
}
