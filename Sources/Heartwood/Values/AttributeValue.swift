import Foundation

/// A type that attributes can have.
///
/// It is adopted by `Int16`, `Int32`, `Int64`, `Int`, `Double`, `Float`, `Decimal`, `Bool`, `String`,
/// `Date`, `Data`, `UUID`, `URL` and the optionals of all of them. An enum with such a raw value adopts it
/// by naming it: `enum Continent: String, AttributeValue { … }`.
public protocol AttributeValue {
  /// The type of the attribute in the model.
  static var attributeType: AttributeDescription.AttributeType { get }
  /// Whether nil is a value.
  static var _isOptional: Bool { get }
  /// Decodes a cell of a checked row; nil where the row has no value that this type could have.
  static func _read(_ row: UnsafeRawPointer, _ column: _Column) -> Self?
  /// The value that was stored; nil where this type has no such value.
  init?(_ stored: _Value)
  /// The value as rows and predicates see it.
  var _value: _Value { get }
}

extension AttributeValue {
  /// No.
  @inlinable public static var _isOptional: Bool { false }
}

extension Optional: AttributeValue where Wrapped: AttributeValue {
  /// The wrapped type's.
  @inlinable public static var attributeType: AttributeDescription.AttributeType { Wrapped.attributeType }
  /// Yes.
  @inlinable public static var _isOptional: Bool { true }

  /// Nil for null; the outer nil only where there is a value that the wrapped type does not have.
  @inlinable @inline(__always)
  public static func _read(_ row: UnsafeRawPointer, _ column: _Column) -> Wrapped?? {
    if column.isNull(row) { return .some(nil) }
    guard let value = Wrapped._read(row, column) else { return nil }
    return .some(value)
  }

  /// Nil for null.
  @inlinable public init?(_ stored: _Value) {
    if stored.isNull {
      self = .none
    } else if let value = Wrapped(stored) {
      self = .some(value)
    } else {
      return nil
    }
  }

  /// Null for nil.
  @inlinable public var _value: _Value { self?._value ?? .null }
}

/// Enums and other types with a raw value are stored as that.
extension AttributeValue where Self: RawRepresentable, RawValue: AttributeValue {
  /// The raw value's.
  @inlinable public static var attributeType: AttributeDescription.AttributeType { RawValue.attributeType }

  /// Nil where no case has the stored raw value.
  @inlinable @inline(__always)
  public static func _read(_ row: UnsafeRawPointer, _ column: _Column) -> Self? {
    RawValue._read(row, column).flatMap(Self.init(rawValue:))
  }

  /// Nil where no case has the stored raw value.
  @inlinable public init?(_ stored: _Value) {
    guard let raw = RawValue(stored) else { return nil }
    self.init(rawValue: raw)
  }

  /// The raw value's.
  @inlinable public var _value: _Value { rawValue._value }
}
