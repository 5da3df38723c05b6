/// The storage type of a property in a row.
@usableFromInline @frozen
package enum ColumnKind: UInt8, Sendable {
  case int16, int32, int64, double, float, bool, date, uuid, toOne
  case string, data, uri, decimal
  /// No cell: each destination is an entry of its own.
  case toMany
  /// No cell, and always the null bit: the value is not stored.
  case transient
  /// No cell: a group of the columns that follow. The null bit is set if the whole has no value.
  case composite

  /// The width of the cell in the fixed part, in bytes.
  @inlinable package var width: Int {
    switch self {
    case .toMany, .transient, .composite: 0
    case .bool: 1
    case .int16: 2
    case .int32, .float, .string, .data, .uri, .decimal: 4
    case .int64, .double, .date, .toOne: 8
    case .uuid: 16
    }
  }

  /// Whether the cell holds the end of a value in the variable part.
  @inlinable package var isVariable: Bool {
    switch self {
    case .string, .data, .uri, .decimal: true
    default: false
    }
  }
}

/// The location of a property in the rows of an entity and of its subentities.
///
/// Sixteen plain bytes, so that typed accessors find it by an index and read it without a call.
@frozen
public struct _Column: Sendable {
  /// The offset of the cell in the row, in bytes.
  @usableFromInline package let offset: UInt16
  /// The offset in the row of the byte with the null bit, in bytes.
  @usableFromInline package let nullOffset: UInt16
  /// The null bit, which is set if there is no value.
  @usableFromInline package let nullMask: UInt8
  @usableFromInline package let kind: ColumnKind
  @usableFromInline package let slot: UInt16
  /// The offset of the cell of the previous variable-width property; 0 for the first one.
  @usableFromInline package let previousOffset: UInt16
  private let padding16: UInt16 = 0
  private let padding32: UInt32 = 0

  init(offset: Int, nullOffset: Int, nullMask: UInt8, kind: ColumnKind, slot: Int, previousOffset: Int) {
    self.offset = UInt16(truncatingIfNeeded: offset)
    self.nullOffset = UInt16(truncatingIfNeeded: nullOffset)
    self.nullMask = nullMask
    self.kind = kind
    self.slot = UInt16(truncatingIfNeeded: slot)
    self.previousOffset = UInt16(truncatingIfNeeded: previousOffset)
  }
}

@usableFromInline package typealias Column = _Column

extension _Column {
  /// A placeholder for no property.
  static var none: _Column {
    _Column(offset: 0, nullOffset: 0, nullMask: 0, kind: .toMany, slot: 0xFFFF, previousOffset: 0)
  }

  @inlinable package var isNone: Bool { slot == 0xFFFF }
}

/// Reads the cells of a validated row.
extension _Column {
  @inlinable @inline(__always)
  func isNull(_ row: _RowFields) -> Bool { row.load(nullOffset, as: UInt8.self) & nullMask != 0 }

  @inlinable @inline(__always)
  func load<Number: FixedWidthInteger & BitwiseCopyable>(_ row: _RowFields, as type: Number.Type) -> Number {
    Number(littleEndian: row.load(offset, as: Number.self))
  }

  /// The bytes of a variable-width value; valid as long as the row.
  @inlinable @inline(__always)
  func bytes(_ row: _RowFields) -> UnsafeRawBufferPointer {
    let end = Int(load(row, as: UInt32.self) & ~Self.externalMark)
    guard previousOffset != 0 else { return row.variable(from: 0, to: end) }
    let previous = UInt32(littleEndian: row.load(previousOffset, as: UInt32.self))
    return row.variable(from: Int(previous & ~Self.externalMark), to: end)
  }

  /// Set in the cell of a variable-width value that is stored outside the row. The bytes are an `ExternalReference`.
  @inlinable static var externalMark: UInt32 { 1 << 31 }

  /// Whether the value is stored outside the row.
  @inlinable func isExternal(_ row: _RowFields) -> Bool {
    kind == .data && load(row, as: UInt32.self) & Self.externalMark != 0
  }
}
