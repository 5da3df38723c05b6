/// The fields of a checked row, by their offsets in bytes: one word, so that every object may have one.
///
/// - Precondition: The row is valid as long as this value is used. Debug builds check that a field is in the fixed part, whose
///   size is in the row's header.
@frozen
public struct _RowFields {
  @usableFromInline let start: UnsafeRawPointer

  /// - Precondition: There are bytes: a row has at least its header.
  @inlinable @inline(__always)
  init(_ bytes: UnsafeRawBufferPointer) { start = bytes.baseAddress.unsafelyUnwrapped }

  private init(_ start: UnsafeRawPointer) { self.start = start }

  /// Of no row; must not be read.
  static var none: _RowFields { _RowFields(UnsafeRawPointer(bitPattern: 16).unsafelyUnwrapped) }

  /// Identifies the row.
  @inlinable package var address: UInt { UInt(bitPattern: start) }

  @inlinable @inline(__always)
  var entityNumber: UInt16 { header(0, as: UInt16.self) }
  @inlinable @inline(__always)
  var fixedSize: Int { Int(header(2, as: UInt16.self)) }
  @inlinable @inline(__always)
  var version: UInt32 { header(4, as: UInt32.self) }

  @inlinable @inline(__always)
  func header<Number: FixedWidthInteger & BitwiseCopyable>(_ offset: Int, as type: Number.Type) -> Number {
    Number(littleEndian: start.loadUnaligned(fromByteOffset: offset, as: Number.self))
  }

  @inlinable @inline(__always)
  func load<Field: BitwiseCopyable>(_ offset: UInt16, as type: Field.Type) -> Field {
    assert(Int(offset) + MemoryLayout<Field>.size <= fixedSize, "a field outside the fixed part of its row")
    return start.loadUnaligned(fromByteOffset: Int(offset), as: Field.self)
  }

  /// Bytes of the variable part, from its beginning; valid as long as the row.
  @inlinable @inline(__always)
  func variable(from first: Int, to end: Int) -> UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(start: start + (fixedSize + first), count: end - first)
  }
}

@usableFromInline package typealias RowFields = _RowFields

/// Writes the fields of a row that is made.
extension [UInt8] {
  @inlinable package mutating func store<Number: FixedWidthInteger & BitwiseCopyable>(
    _ number: Number, at offset: UInt16
  ) {
    withUnsafeMutableBytes {
      $0.storeBytes(of: number.littleEndian, toByteOffset: Int(offset), as: Number.self)
    }
  }

  @inlinable package mutating func store(_ bytes: UnsafeRawBufferPointer, at offset: UInt16) {
    withUnsafeMutableBytes { row in
      let end = Int(offset) + bytes.count
      UnsafeMutableRawBufferPointer(rebasing: row[Int(offset)..<end]).copyMemory(from: bytes)
    }
  }
}
