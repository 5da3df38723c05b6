/// How one property lies in a row.
@usableFromInline @frozen
enum ColumnKind: UInt8, Sendable {
  case int16, int32, int64, double, float, bool, date, uuid, toOne
  case string, data, uri, decimal
  /// No cell: destinations are entries of their own.
  case toMany

  /// Bytes of the cell in the fixed part.
  var width: Int {
    switch self {
    case .toMany: 0
    case .bool: 1
    case .int16: 2
    case .int32, .float, .string, .data, .uri, .decimal: 4
    case .int64, .double, .date, .toOne: 8
    case .uuid: 16
    }
  }

  /// Whether the cell holds the end of bytes in the variable part.
  @usableFromInline var isVariable: Bool {
    switch self {
    case .string, .data, .uri, .decimal: true
    default: false
    }
  }
}

/// Where one property lies in the rows of an entity, and of its subentities alike.
///
/// Sixteen plain bytes, so that typed accessors find it by an index and read it without a call.
@frozen
public struct _Column: Sendable {
  /// Bytes from the start of the row to the cell.
  @usableFromInline let offset: UInt16
  /// Bytes from the start of the row to the byte with the null bit.
  @usableFromInline let nullOffset: UInt16
  /// The null bit: set when there is no value.
  @usableFromInline let nullMask: UInt8
  @usableFromInline let kind: ColumnKind
  @usableFromInline let slot: UInt16
  /// The cell of the variable-width property before this one; 0 where this is the first.
  @usableFromInline let previousOffset: UInt16
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

typealias Column = _Column

extension _Column {
  /// Stands where no property is.
  static var none: _Column {
    _Column(offset: 0, nullOffset: 0, nullMask: 0, kind: .toMany, slot: 0xFFFF, previousOffset: 0)
  }

  var isNone: Bool { slot == 0xFFFF }
}

/// Reading the cells of a row that has been checked: no bounds are looked at any more.
extension _Column {
  @inlinable @inline(__always)
  func isNull(_ row: UnsafeRawPointer) -> Bool {
    row.load(fromByteOffset: Int(nullOffset), as: UInt8.self) & nullMask != 0
  }

  @inlinable @inline(__always)
  func load<Number: FixedWidthInteger & BitwiseCopyable>(_ row: UnsafeRawPointer, as type: Number.Type)
    -> Number
  {
    Number(littleEndian: row.loadUnaligned(fromByteOffset: Int(offset), as: Number.self))
  }

  /// The bytes of a variable-width value; they live as long as the row.
  @inlinable @inline(__always)
  func bytes(_ row: UnsafeRawPointer) -> UnsafeRawBufferPointer {
    let fixedSize = Int(UInt16(littleEndian: row.loadUnaligned(fromByteOffset: 2, as: UInt16.self)))
    let end = Int(load(row, as: UInt32.self))
    let start: Int
    if previousOffset == 0 {
      start = 0
    } else {
      let previous = row.loadUnaligned(fromByteOffset: Int(previousOffset), as: UInt32.self)
      start = Int(UInt32(littleEndian: previous))
    }
    return UnsafeRawBufferPointer(start: row + (fixedSize + start), count: end - start)
  }
}
