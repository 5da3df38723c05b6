import Foundation

/// Values of any length: bytes in the variable part of the row.
extension String: AttributeValue {
  /// Text.
  @inlinable public static var attributeType: AttributeDescription.AttributeType { .string }

  /// The text; nil where the bytes are no UTF-8.
  @inlinable @inline(__always)
  public static func _read(_ row: UnsafeRawPointer, _ column: _Column) -> String? {
    if column.isNull(row) { return nil }
    return String(rowBytes: column.bytes(row))
  }

  /// A string's.
  @inlinable public init?(_ stored: _Value) {
    guard case .string(let value) = stored else { return nil }
    self = value
  }

  /// The text.
  @inlinable public var _value: _Value { .string(self) }
}

extension String {
  /// The text of a cell; nil where the bytes are no UTF-8.
  ///
  /// What is ASCII cannot be wrong, and most is: the general check costs three times as much as the text.
  @usableFromInline
  init?(rowBytes bytes: UnsafeRawBufferPointer) {
    if bytes.isASCII {
      self.init(decoding: bytes, as: UTF8.self)
    } else {
      self.init(validating: bytes.assumingMemoryBound(to: UInt8.self), as: UTF8.self)
    }
  }
}

extension Data: AttributeValue {
  /// Bytes.
  @inlinable public static var attributeType: AttributeDescription.AttributeType { .binaryData }

  /// The bytes.
  @inlinable @inline(__always)
  public static func _read(_ row: UnsafeRawPointer, _ column: _Column) -> Data? {
    column.isNull(row) ? nil : Data(column.bytes(row))
  }

  /// Bytes of data.
  @inlinable public init?(_ stored: _Value) {
    guard case .data(let value) = stored else { return nil }
    self = value
  }

  /// The bytes.
  @inlinable public var _value: _Value { .data(self) }
}

extension URL: AttributeValue {
  /// A URL.
  @inlinable public static var attributeType: AttributeDescription.AttributeType { .uri }

  /// The URL; nil where the bytes are none.
  @inlinable
  public static func _read(_ row: UnsafeRawPointer, _ column: _Column) -> URL? {
    String._read(row, column).flatMap(URL.init(string:))
  }

  /// A URL's.
  @inlinable public init?(_ stored: _Value) {
    guard case .url(let value) = stored else { return nil }
    self.init(string: value)
  }

  /// The absolute string.
  @inlinable public var _value: _Value { .url(absoluteString) }
}

extension Decimal: AttributeValue {
  /// A decimal number.
  @inlinable public static var attributeType: AttributeDescription.AttributeType { .decimal }

  /// The number; nil where the bytes are none.
  public static func _read(_ row: UnsafeRawPointer, _ column: _Column) -> Decimal? {
    if column.isNull(row) { return nil }
    return DecimalParts(rowBytes: column.bytes(row))?.decimal
  }

  /// A decimal number's.
  @inlinable public init?(_ stored: _Value) {
    guard case .decimal(let value) = stored else { return nil }
    self = value
  }

  /// The number.
  @inlinable public var _value: _Value { .decimal(self) }
}
