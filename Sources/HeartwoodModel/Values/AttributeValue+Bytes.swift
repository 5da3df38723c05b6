import Foundation

/// Values of variable length, stored in the variable part of the row.
extension String: AttributeValue {
  /// `.string`.
  @inlinable public static var attributeType: AttributeDescription.AttributeType { .string }

  /// Reads the text of a cell; nil for null or invalid UTF-8.
  @inlinable @inline(__always)
  public static func _read(_ row: _RowFields, _ column: _Column) -> String? {
    if column.isNull(row) { return nil }
    return String(rowBytes: column.bytes(row))
  }

  /// The value of a stored string; nil for another kind.
  @inlinable public init?(_ stored: _Value) {
    guard case .string(let value) = stored else { return nil }
    self = value
  }

  /// The text.
  @inlinable public var _value: _Value { .string(self) }
}

extension String {
  /// The text of a cell; nil for invalid UTF-8.
  ///
  /// Most texts are ASCII, which needs no UTF-8 validation: the validating initialiser costs three times as much as
  /// copying the text.
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
  /// `.binaryData`.
  @inlinable public static var attributeType: AttributeDescription.AttributeType { .binaryData }

  /// Reads the bytes of a cell; nil for null and for data that is stored outside the row.
  @inlinable @inline(__always)
  public static func _read(_ row: _RowFields, _ column: _Column) -> Data? {
    column.isNull(row) || column.isExternal(row) ? nil : Data(column.bytes(row))
  }

  /// The value of stored data; nil for another kind.
  @inlinable public init?(_ stored: _Value) {
    guard case .data(let value) = stored else { return nil }
    self = value
  }

  /// The bytes.
  @inlinable public var _value: _Value { .data(self) }
}

extension URL: AttributeValue {
  /// `.uri`.
  @inlinable public static var attributeType: AttributeDescription.AttributeType { .uri }

  /// Reads the URL of a cell; nil for null or a text that is not a URL.
  @inlinable
  public static func _read(_ row: _RowFields, _ column: _Column) -> URL? {
    String._read(row, column).flatMap(URL.init(string:))
  }

  /// The value of a stored URL; nil for another kind or a text that is not a URL.
  @inlinable public init?(_ stored: _Value) {
    guard case .url(let value) = stored else { return nil }
    self.init(string: value)
  }

  /// The absolute string.
  @inlinable public var _value: _Value { .url(absoluteString) }
}

extension Decimal: AttributeValue {
  /// `.decimal`.
  @inlinable public static var attributeType: AttributeDescription.AttributeType { .decimal }

  /// Reads the number of a cell; nil for null or bytes that do not encode one.
  public static func _read(_ row: _RowFields, _ column: _Column) -> Decimal? {
    if column.isNull(row) { return nil }
    return DecimalParts(rowBytes: column.bytes(row))?.decimal
  }

  /// The value of a stored decimal; nil for another kind.
  @inlinable public init?(_ stored: _Value) {
    guard case .decimal(let value) = stored else { return nil }
    self = value
  }

  /// The number.
  @inlinable public var _value: _Value { .decimal(self) }
}
