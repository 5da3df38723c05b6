import Foundation

/// Integers and Booleans: a cell of the value's own width.
extension Int64: AttributeValue {
  /// A 64-bit integer.
  @inlinable public static var attributeType: AttributeDescription.AttributeType { .integer64 }

  /// The cell's number.
  @inlinable @inline(__always)
  public static func _read(_ row: UnsafeRawPointer, _ column: _Column) -> Int64? {
    column.isNull(row) ? nil : column.load(row, as: Int64.self)
  }

  /// An integer's.
  @inlinable public init?(_ stored: _Value) {
    guard case .int(let value) = stored else { return nil }
    self = value
  }

  /// The number.
  @inlinable public var _value: _Value { .int(self) }
}

extension Int: AttributeValue {
  /// A 64-bit integer, on every platform.
  @inlinable public static var attributeType: AttributeDescription.AttributeType { .integer64 }

  /// The cell's number; nil where `Int` is too narrow for it.
  @inlinable @inline(__always)
  public static func _read(_ row: UnsafeRawPointer, _ column: _Column) -> Int? {
    column.isNull(row) ? nil : Int(exactly: column.load(row, as: Int64.self))
  }

  /// An integer's.
  @inlinable public init?(_ stored: _Value) {
    guard case .int(let value) = stored else { return nil }
    self.init(exactly: value)
  }

  /// The number.
  @inlinable public var _value: _Value { .int(Int64(self)) }
}

extension Int32: AttributeValue {
  /// A 32-bit integer.
  @inlinable public static var attributeType: AttributeDescription.AttributeType { .integer32 }

  /// The cell's number.
  @inlinable @inline(__always)
  public static func _read(_ row: UnsafeRawPointer, _ column: _Column) -> Int32? {
    column.isNull(row) ? nil : column.load(row, as: Int32.self)
  }

  /// An integer's.
  @inlinable public init?(_ stored: _Value) {
    guard case .int(let value) = stored else { return nil }
    self.init(exactly: value)
  }

  /// The number.
  @inlinable public var _value: _Value { .int(Int64(self)) }
}

extension Int16: AttributeValue {
  /// A 16-bit integer.
  @inlinable public static var attributeType: AttributeDescription.AttributeType { .integer16 }

  /// The cell's number.
  @inlinable @inline(__always)
  public static func _read(_ row: UnsafeRawPointer, _ column: _Column) -> Int16? {
    column.isNull(row) ? nil : column.load(row, as: Int16.self)
  }

  /// An integer's.
  @inlinable public init?(_ stored: _Value) {
    guard case .int(let value) = stored else { return nil }
    self.init(exactly: value)
  }

  /// The number.
  @inlinable public var _value: _Value { .int(Int64(self)) }
}

extension Bool: AttributeValue {
  /// A Boolean.
  @inlinable public static var attributeType: AttributeDescription.AttributeType { .boolean }

  /// The cell's value.
  @inlinable @inline(__always)
  public static func _read(_ row: UnsafeRawPointer, _ column: _Column) -> Bool? {
    column.isNull(row) ? nil : column.load(row, as: UInt8.self) != 0
  }

  /// A Boolean's.
  @inlinable public init?(_ stored: _Value) {
    guard case .bool(let value) = stored else { return nil }
    self = value
  }

  /// The Boolean.
  @inlinable public var _value: _Value { .bool(self) }
}

extension Double: AttributeValue {
  /// A 64-bit floating-point number.
  @inlinable public static var attributeType: AttributeDescription.AttributeType { .double }

  /// The cell's number.
  @inlinable @inline(__always)
  public static func _read(_ row: UnsafeRawPointer, _ column: _Column) -> Double? {
    column.isNull(row) ? nil : Double(bitPattern: column.load(row, as: UInt64.self))
  }

  /// A floating-point number's.
  @inlinable public init?(_ stored: _Value) {
    guard case .double(let value) = stored else { return nil }
    self = value
  }

  /// The number.
  @inlinable public var _value: _Value { .double(self) }
}

extension Float: AttributeValue {
  /// A 32-bit floating-point number.
  @inlinable public static var attributeType: AttributeDescription.AttributeType { .float }

  /// The cell's number.
  @inlinable @inline(__always)
  public static func _read(_ row: UnsafeRawPointer, _ column: _Column) -> Float? {
    column.isNull(row) ? nil : Float(bitPattern: column.load(row, as: UInt32.self))
  }

  /// A floating-point number's.
  @inlinable public init?(_ stored: _Value) {
    guard case .double(let value) = stored else { return nil }
    self = Float(value)
  }

  /// The number.
  @inlinable public var _value: _Value { .double(Double(self)) }
}

extension Date: AttributeValue {
  /// A moment.
  @inlinable public static var attributeType: AttributeDescription.AttributeType { .date }

  /// The cell's moment.
  @inlinable @inline(__always)
  public static func _read(_ row: UnsafeRawPointer, _ column: _Column) -> Date? {
    if column.isNull(row) { return nil }
    return Date(timeIntervalSinceReferenceDate: Double(bitPattern: column.load(row, as: UInt64.self)))
  }

  /// A moment's.
  @inlinable public init?(_ stored: _Value) {
    guard case .date(let value) = stored else { return nil }
    self.init(timeIntervalSinceReferenceDate: value)
  }

  /// The seconds since the reference date.
  @inlinable public var _value: _Value { .date(timeIntervalSinceReferenceDate) }
}

extension UUID: AttributeValue {
  /// A UUID.
  @inlinable public static var attributeType: AttributeDescription.AttributeType { .uuid }

  /// The cell's UUID.
  @inlinable @inline(__always)
  public static func _read(_ row: UnsafeRawPointer, _ column: _Column) -> UUID? {
    if column.isNull(row) { return nil }
    return UUID(uuid: row.loadUnaligned(fromByteOffset: Int(column.offset), as: uuid_t.self))
  }

  /// A UUID's.
  @inlinable public init?(_ stored: _Value) {
    guard case .uuid(let value) = stored else { return nil }
    self = value
  }

  /// The UUID.
  @inlinable public var _value: _Value { .uuid(self) }
}
