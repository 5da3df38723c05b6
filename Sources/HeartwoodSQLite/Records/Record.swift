/// A record in memory, and where its values are in it: "Database File Format", section 2.1.
///
/// A record is a header with its own length and a type for each value, then the values. The object is used for record
/// after record as long as no row of the program refers to it: access to its state needs no check.
class Record: @unchecked Sendable {
  /// A value: its type, and its position in `bytes`.
  struct Field {
    var type: UInt32
    var start: UInt32
  }

  /// The rest of a header.
  private struct Rest {
    /// Where the types of further values are.
    var types: Range<Int>
    /// Where the next value is.
    var position: Int
    /// Where the record ends.
    var end: Int
  }

  /// The memory with the record.
  @exclusivity(unchecked) private final var block: ByteBlock
  /// Its bytes.
  @exclusivity(unchecked) private final var bytes: BorrowedBytes
  /// The number of values that were found, at most `capacity`.
  @exclusivity(unchecked) private(set) final var count = 0
  /// The number of values that a record can have; others are not looked for.
  final let capacity: Int
  private final let fields: UnsafeMutablePointer<Field>
  @exclusivity(unchecked) private(set) final var rowid: Int64 = 0
  @exclusivity(unchecked) private final var rest = Rest(types: 0..<0, position: 0, end: 0)
  /// Memory for records that are in several pages.
  @exclusivity(unchecked) private final var assembled: ByteBlock?

  init(capacity: Int, block: ByteBlock) {
    self.capacity = capacity
    self.block = block
    bytes = block.borrowed
    fields = .allocate(capacity: max(1, capacity))
  }

  deinit { fields.deallocate() }

  /// Whether all values were found.
  final var isWhole: Bool { rest.types.isEmpty || count == capacity }

  /// Reads the header of the record at which a cursor is.
  ///
  /// - Parameter limit: How many values are needed: `readRest` finds others. At most `capacity`.
  @inline(__always)
  final func read(_ cursor: TreeCursor, limit: Int, chain: inout OverflowChain) throws(SQLiteError) {
    let cell = cursor.cell
    rowid = cell.rowid
    var start = cell.start
    if cell.local == cell.length {
      if block !== cursor.block { use(cursor.block) }
    } else {
      try assemble(cursor, &chain)
      start = 0
    }
    var offset = start
    let end = start + cell.length
    guard let headerLength = bytes.varint(&offset, end: end), headerLength <= cell.length,
      offset <= start + Int(headerLength)
    else {
      forget()
      throw damaged("The header of a record is longer than the record.", cursor)
    }
    let headerEnd = start + Int(headerLength)
    count = 0
    rest = Rest(types: offset..<headerEnd, position: headerEnd, end: end)
    try find(limit, cursor)
  }

  final func read(_ cursor: TreeCursor, chain: inout OverflowChain) throws(SQLiteError) {
    try read(cursor, limit: capacity, chain: &chain)
  }

  /// Finds the values that were not needed so far. The cursor is still at the record.
  final func readRest(_ cursor: TreeCursor) throws(SQLiteError) {
    if !isWhole { try find(capacity, cursor) }
  }

  private final func use(_ block: ByteBlock) {
    self.block = block
    bytes = block.borrowed
  }

  /// Has no values: those that were found are of other bytes.
  private final func forget() {
    count = 0
    rest = Rest(types: 0..<0, position: 0, end: 0)
  }

  private final func assemble(_ cursor: TreeCursor, _ chain: inout OverflowChain) throws(SQLiteError) {
    // The memory may change its place.
    forget()
    let length = cursor.cell.length
    let memory = assembled ?? ByteBlock(capacity: length > 1 << 20 ? 1 << 20 : length)
    assembled = memory
    try chain.read(cursor, into: memory)
    use(memory)
  }

  /// Finds values until there are `limit`.
  @inline(__always)
  private final func find(_ limit: Int, _ cursor: TreeCursor) throws(SQLiteError) {
    let bytes = bytes
    let (fields, headerEnd) = (fields, rest.types.upperBound)
    var (offset, position, index) = (rest.types.lowerBound, rest.position, count)
    while offset < headerEnd, index < limit {
      guard let type = Self.type(bytes, &offset, headerEnd), type | 1 != 11 else {
        throw damaged("The type of value \(index) of a record is unknown.", cursor)
      }
      fields[index] = Field(type: type, start: UInt32(truncatingIfNeeded: position))
      position += Self.size(type)
      index += 1
    }
    guard position <= rest.end else {
      throw damaged("The values of a record are longer than the record.", cursor)
    }
    count = index
    rest = Rest(types: offset..<headerEnd, position: position, end: rest.end)
  }

  /// The type at `offset`, which moves behind it; nil if it is cut, or of a value that no record can have.
  @inline(__always)
  private static func type(_ bytes: BorrowedBytes, _ offset: inout Int, _ end: Int) -> UInt32? {
    let first = bytes.byte(offset)
    if first < 0x80 {
      offset += 1
      return UInt32(first)
    }
    return bytes.varint(&offset, end: end).flatMap { UInt32(exactly: $0) }
  }

  private final func damaged(_ message: String, _ cursor: TreeCursor) -> SQLiteError {
    .damaged(message, page: cursor.page.number, offset: cursor.cell.start)
  }

  /// The length in bytes of a value of a type.
  @inline(__always)
  private static func size(_ type: UInt32) -> Int {
    if type >= 12 { return Int(type - 12) / 2 }
    // 0, 1, 2, 3, 4, 6, 8, 8, 0, 0, in four bits each.
    return Int((0x00_8864_3210 as UInt64 >> (4 * UInt64(type))) & 15)
  }

  /// The type of a value; 0 is null.
  @inline(__always)
  final func type(_ index: Int) -> UInt32 {
    assert(index < count)
    return fields[index].type
  }

  /// The bytes of a value.
  @inline(__always)
  final func bytes(_ index: Int) -> UnsafeRawBufferPointer {
    assert(index < count)
    let field = fields[index]
    return bytes.bytes(Int(field.start), Self.size(field.type))
  }

  /// The integer of a value of a type from 1 to 6, 8 or 9.
  @inline(__always)
  final func integer(_ index: Int) -> Int64 {
    let field = fields[index]
    let start = Int(field.start)
    switch field.type {
    case 1: return Int64(Int8(bitPattern: bytes.byte(start)))
    case 2: return Int64(Int16(truncatingIfNeeded: bytes.number16(start)))
    case 3: return Int64(Int8(bitPattern: bytes.byte(start))) << 16 | Int64(bytes.number16(start + 1))
    case 4: return Int64(Int32(bitPattern: bytes.number32(start)))
    case 5:
      return Int64(Int16(truncatingIfNeeded: bytes.number16(start))) << 32 | Int64(bytes.number32(start + 2))
    case 6: return Int64(bitPattern: bytes.number64(start))
    case 9: return 1
    default: return 0
    }
  }

  /// The number of a value of type 7.
  @inline(__always)
  final func real(_ index: Int) -> Double { Double(bitPattern: bytes.number64(Int(fields[index].start))) }

  /// A value as it is stored.
  final func value(_ index: Int, _ encoding: SQLiteTextEncoding) -> SQLiteValue {
    guard index < count else { return .null }
    switch type(index) {
    case 0: return .null
    case 7:
      let number = real(index)
      return number.isNaN ? .null : .real(number)
    case let type where type < 12: return .integer(integer(index))
    case let type where type & 1 == 0: return .blob(Array(bytes(index)))
    default: return .text(encoding.text(bytes(index)))
    }
  }
}

/// The record of a row of a table, and where its columns are.
final class RowRecord: Record, @unchecked Sendable {
  let layout: RowLayout

  init(_ layout: RowLayout, block: ByteBlock) {
    self.layout = layout
    super.init(capacity: layout.valueCount, block: block)
  }
}
