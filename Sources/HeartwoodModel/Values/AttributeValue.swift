import Foundation

/// A Swift type of attributes.
///
/// `Int16`, `Int32`, `Int64`, `Int`, `Double`, `Float`, `Decimal`, `Bool`, `String`, `Date`, `Data`, `UUID`, `URL` and
/// the optionals of all of them conform to it. An enum with such a raw value conforms without further code:
/// `enum Continent: String, AttributeValue { … }`.
public protocol AttributeValue {
  /// The type of the attribute in the model.
  static var attributeType: AttributeDescription.AttributeType { get }
  /// Whether the type is an optional, so that nil is a value.
  static var _isOptional: Bool { get }
  /// Decodes a cell of a checked row; nil if its content is not a value of this type.
  static func _read(_ row: _RowFields, _ column: _Column) -> Self?
  /// The value for a stored one; nil if this type has no such value.
  init?(_ stored: _Value)
  /// The value for one that was stored or computed, converted if it is a number of another type; nil for null.
  ///
  /// A requirement, so that each type has code of its own for the optional.
  ///
  /// - Throws: `.coreData` if this type has no such value.
  static func _result(_ stored: _Value) throws(HeartwoodError) -> Self?
  /// The value as it is stored in rows and used in predicates.
  var _value: _Value { get }
}

extension AttributeValue {
  /// Always false.
  @inlinable public static var _isOptional: Bool { false }

  /// The value of a column of rows.
  @inlinable public static func _result(_ stored: _Value) throws(HeartwoodError) -> Self? {
    if case .null = stored { return nil }
    if let value = Self(stored) { return value }
    return try fitted(stored)
  }

  /// A value of another type, such as a number that was computed.
  @usableFromInline static func fitted(_ stored: _Value) throws(HeartwoodError) -> Self {
    guard let fitted = stored.fitted(to: attributeType), let value = Self(fitted)
    else {
      throw HeartwoodError(
        .coreData, "a row has \(stored) in a column of \(Self.self), which has no such value")
    }
    return value
  }
}

extension Optional: AttributeValue where Wrapped: AttributeValue {
  /// The attribute type of the wrapped type.
  @inlinable public static var attributeType: AttributeDescription.AttributeType { Wrapped.attributeType }
  /// Always true.
  @inlinable public static var _isOptional: Bool { true }

  /// Null decodes as nil. The outer optional is nil only if the cell has a value that the wrapped type does not have.
  @inlinable @inline(__always)
  public static func _read(_ row: _RowFields, _ column: _Column) -> Wrapped?? {
    if column.isNull(row) { return .some(nil) }
    guard let value = Wrapped._read(row, column) else { return nil }
    return .some(value)
  }

  /// Null becomes nil. Fails if the wrapped type does not have the stored value.
  @inlinable public init?(_ stored: _Value) {
    if stored.isNull {
      self = .none
    } else if let value = Wrapped(stored) {
      self = .some(value)
    } else {
      return nil
    }
  }

  /// The wrapped value; null for nil.
  @inlinable public var _value: _Value { self?._value ?? .null }
}

/// Enums and other types with a raw value are stored as their raw value.
extension AttributeValue where Self: RawRepresentable, RawValue: AttributeValue {
  /// The attribute type of the raw value.
  @inlinable public static var attributeType: AttributeDescription.AttributeType { RawValue.attributeType }

  /// Nil if no case has the stored raw value.
  @inlinable @inline(__always)
  public static func _read(_ row: _RowFields, _ column: _Column) -> Self? {
    RawValue._read(row, column).flatMap(Self.init(rawValue:))
  }

  /// Nil if no case has the stored raw value.
  @inlinable public init?(_ stored: _Value) {
    guard let raw = RawValue(stored) else { return nil }
    self.init(rawValue: raw)
  }

  /// The raw value as it is stored.
  @inlinable public var _value: _Value { rawValue._value }
}
