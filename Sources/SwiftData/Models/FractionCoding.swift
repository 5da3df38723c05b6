import Foundation
import Heartwood

/// A number with a fraction of which rows have no type, stored as a wider one that has the same order.
protocol StoredFraction: BinaryFloatingPoint, SendableMetatype {
  static var storedType: AttributeDescription.AttributeType { get }
}

extension CGFloat: StoredFraction {
  static var storedType: AttributeDescription.AttributeType { .double }
}
extension Float16: StoredFraction {
  static var storedType: AttributeDescription.AttributeType { .float }
}

/// Numbers with a fraction that are stored as wider ones.
final class FractionCoding<Value: StoredFraction>: ValueCoding<Value>, @unchecked Sendable {
  init() { super.init(Value.storedType, isOptional: false) }

  override func stored(_ value: Value) -> _Value { .double(Double(value)) }
  override func value(_ stored: _Value) -> Value? {
    guard case .double(let number) = stored else { return nil }
    return Value(number)
  }
}
