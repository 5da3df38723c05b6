import Foundation

/// Values of fixed size, stored in a cell of their own width.
extension Int64: AttributeValue {
  /// `.integer64`.
  @inlinable public static var attributeType: AttributeDescription.AttributeType { .integer64 }

  /// Reads the number of a cell; nil for null.
  @inlinable @inline(__always)
  public static func _read(_ row: _RowFields, _ column: _Column) -> Int64? {
    column.isNull(row) ? nil : column.load(row, as: Int64.self)
  }

  /// The value of a stored integer; nil for another kind.
  @inlinable public init?(_ stored: _Value) {
    guard case .int(let value) = stored else { return nil }
    self = value
  }

  /// The number.
  @inlinable public var _value: _Value { .int(self) }
}

extension Int: AttributeValue {
  /// `.integer64`, on every platform.
  @inlinable public static var attributeType: AttributeDescription.AttributeType { .integer64 }

  /// Reads the number of a cell; nil for null or a number outside the range of `Int`.
  @inlinable @inline(__always)
  public static func _read(_ row: _RowFields, _ column: _Column) -> Int? {
    column.isNull(row) ? nil : Int(exactly: column.load(row, as: Int64.self))
  }

  /// The value of a stored integer; nil for another kind or a number out of range.
  @inlinable public init?(_ stored: _Value) {
    guard case .int(let value) = stored else { return nil }
    self.init(exactly: value)
  }

  /// The number.
  @inlinable public var _value: _Value { .int(Int64(self)) }
}

extension Int32: AttributeValue {
  /// `.integer32`.
  @inlinable public static var attributeType: AttributeDescription.AttributeType { .integer32 }

  /// Reads the number of a cell; nil for null.
  @inlinable @inline(__always)
  public static func _read(_ row: _RowFields, _ column: _Column) -> Int32? {
    column.isNull(row) ? nil : column.load(row, as: Int32.self)
  }

  /// The value of a stored integer; nil for another kind or a number out of range.
  @inlinable public init?(_ stored: _Value) {
    guard case .int(let value) = stored else { return nil }
    self.init(exactly: value)
  }

  /// The number.
  @inlinable public var _value: _Value { .int(Int64(self)) }
}

extension Int16: AttributeValue {
  /// `.integer16`.
  @inlinable public static var attributeType: AttributeDescription.AttributeType { .integer16 }

  /// Reads the number of a cell; nil for null.
  @inlinable @inline(__always)
  public static func _read(_ row: _RowFields, _ column: _Column) -> Int16? {
    column.isNull(row) ? nil : column.load(row, as: Int16.self)
  }

  /// The value of a stored integer; nil for another kind or a number out of range.
  @inlinable public init?(_ stored: _Value) {
    guard case .int(let value) = stored else { return nil }
    self.init(exactly: value)
  }

  /// The number.
  @inlinable public var _value: _Value { .int(Int64(self)) }
}

extension Bool: AttributeValue {
  /// `.boolean`.
  @inlinable public static var attributeType: AttributeDescription.AttributeType { .boolean }

  /// Reads the Boolean of a cell; nil for null.
  @inlinable @inline(__always)
  public static func _read(_ row: _RowFields, _ column: _Column) -> Bool? {
    column.isNull(row) ? nil : column.load(row, as: UInt8.self) != 0
  }

  /// The value of a stored Boolean; nil for another kind.
  @inlinable public init?(_ stored: _Value) {
    guard case .bool(let value) = stored else { return nil }
    self = value
  }

  /// The Boolean.
  @inlinable public var _value: _Value { .bool(self) }
}

extension Double: AttributeValue {
  /// `.double`.
  @inlinable public static var attributeType: AttributeDescription.AttributeType { .double }

  /// Reads the number of a cell; nil for null.
  @inlinable @inline(__always)
  public static func _read(_ row: _RowFields, _ column: _Column) -> Double? {
    column.isNull(row) ? nil : Double(bitPattern: column.load(row, as: UInt64.self))
  }

  /// The value of a stored floating-point number; nil for another kind.
  @inlinable public init?(_ stored: _Value) {
    guard case .double(let value) = stored else { return nil }
    self = value
  }

  /// The number.
  @inlinable public var _value: _Value { .double(self) }
}

extension Float: AttributeValue {
  /// `.float`.
  @inlinable public static var attributeType: AttributeDescription.AttributeType { .float }

  /// Reads the number of a cell; nil for null.
  @inlinable @inline(__always)
  public static func _read(_ row: _RowFields, _ column: _Column) -> Float? {
    column.isNull(row) ? nil : Float(bitPattern: column.load(row, as: UInt32.self))
  }

  /// The value of a stored floating-point number, rounded to 32 bits; nil for another kind.
  @inlinable public init?(_ stored: _Value) {
    guard case .double(let value) = stored else { return nil }
    self = Float(value)
  }

  /// The number.
  @inlinable public var _value: _Value { .double(Double(self)) }
}

extension Date: AttributeValue {
  /// `.date`.
  @inlinable public static var attributeType: AttributeDescription.AttributeType { .date }

  /// Reads the date of a cell; nil for null.
  @inlinable @inline(__always)
  public static func _read(_ row: _RowFields, _ column: _Column) -> Date? {
    if column.isNull(row) { return nil }
    return Date(timeIntervalSinceReferenceDate: Double(bitPattern: column.load(row, as: UInt64.self)))
  }

  /// The value of a stored date; nil for another kind.
  @inlinable public init?(_ stored: _Value) {
    guard case .date(let value) = stored else { return nil }
    self.init(timeIntervalSinceReferenceDate: value)
  }

  /// The seconds since the reference date.
  @inlinable public var _value: _Value { .date(timeIntervalSinceReferenceDate) }
}

extension UUID: AttributeValue {
  /// `.uuid`.
  @inlinable public static var attributeType: AttributeDescription.AttributeType { .uuid }

  /// Reads the UUID of a cell; nil for null.
  @inlinable @inline(__always)
  public static func _read(_ row: _RowFields, _ column: _Column) -> UUID? {
    if column.isNull(row) { return nil }
    return UUID(uuid: row.load(column.offset, as: uuid_t.self))
  }

  /// The value of a stored UUID; nil for another kind.
  @inlinable public init?(_ stored: _Value) {
    guard case .uuid(let value) = stored else { return nil }
    self = value
  }

  /// The UUID.
  @inlinable public var _value: _Value { .uuid(self) }
}
