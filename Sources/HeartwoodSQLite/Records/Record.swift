/// A record in memory, and where its values are in it: "Database File Format", section 2.1.
///
/// A record is a header with its own length and a type for each value, then the values. The object is used for record
/// after record as long as no row of the program refers to it.
final class Record: @unchecked Sendable {
  /// A value: its type, and its position in `block`.
  struct Field {
    var type: UInt32
    var start: UInt32
  }

  /// The memory with the record.
  private(set) var block: ByteBlock
  /// The number of values that the record has, at most `capacity`.
  private(set) var count = 0
  /// The number of values that are looked for.
  let capacity: Int
  private let fields: UnsafeMutablePointer<Field>
  var rowid: Int64 = 0
  /// Memory for records that are in several pages.
  private var assembled: ByteBlock?

  init(capacity: Int, block: ByteBlock) {
    self.capacity = capacity
    self.block = block
    fields = .allocate(capacity: max(1, capacity))
  }

  deinit { fields.deallocate() }

  /// Reads the header of the record of a cell.
  func read(_ cell: TreeCell, in page: TreePage, chain: inout OverflowChain) throws(SQLiteError) {
    rowid = cell.rowid
    if cell.local == cell.length {
      if block !== page.block { block = page.block }
      try readHeader(cell.start, cell.length, page, cell)
    } else {
      let memory = assembled ?? ByteBlock(capacity: cell.length > 1 << 20 ? 1 << 20 : cell.length)
      assembled = memory
      try chain.read(cell, in: page, into: memory)
      block = memory
      try readHeader(0, cell.length, page, cell)
    }
  }

  private func readHeader(_ start: Int, _ length: Int, _ page: TreePage, _ cell: TreeCell) throws(SQLiteError)
  {
    var offset = start
    let end = start + length
    guard let headerLength = block.varint(&offset, end: end), headerLength <= length,
      offset <= start + Int(headerLength)
    else { throw damaged("The header of a record is longer than the record.", page, cell) }
    let headerEnd = start + Int(headerLength)
    var position = headerEnd
    var index = 0
    let capacity = capacity
    while offset < headerEnd, index < capacity {
      guard let type = block.varint(&offset, end: headerEnd), type <= UInt32.max, type != 10, type != 11
      else {
        throw damaged("The type of value \(index) of a record is unknown.", page, cell)
      }
      fields[index] = Field(
        type: UInt32(truncatingIfNeeded: type), start: UInt32(truncatingIfNeeded: position))
      position += Self.size(UInt32(truncatingIfNeeded: type))
      index += 1
    }
    guard position <= end else {
      throw damaged("The values of a record are longer than the record.", page, cell)
    }
    count = index
  }

  private func damaged(_ message: String, _ page: TreePage, _ cell: TreeCell) -> SQLiteError {
    .damaged(message, page: page.number, offset: cell.start)
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
  func type(_ index: Int) -> UInt32 {
    assert(index < count)
    return fields[index].type
  }

  /// The bytes of a value.
  @inline(__always)
  func bytes(_ index: Int) -> UnsafeRawBufferPointer {
    assert(index < count)
    let field = fields[index]
    return block.bytes(Int(field.start), Self.size(field.type))
  }

  /// The integer of a value of a type from 1 to 6, 8 or 9.
  @inline(__always)
  func integer(_ index: Int) -> Int64 {
    let field = fields[index]
    let start = Int(field.start)
    switch field.type {
    case 1: return Int64(Int8(bitPattern: block.byte(start)))
    case 2: return Int64(Int16(truncatingIfNeeded: block.number16(start)))
    case 3: return Int64(Int8(bitPattern: block.byte(start))) << 16 | Int64(block.number16(start + 1))
    case 4: return Int64(Int32(bitPattern: block.number32(start)))
    case 5:
      return Int64(Int16(truncatingIfNeeded: block.number16(start))) << 32 | Int64(block.number32(start + 2))
    case 6: return Int64(bitPattern: block.number64(start))
    case 9: return 1
    default: return 0
    }
  }

  /// The number of a value of type 7.
  @inline(__always)
  func real(_ index: Int) -> Double { Double(bitPattern: block.number64(Int(fields[index].start))) }

  /// A value as it is stored.
  func value(_ index: Int, _ encoding: SQLiteTextEncoding) -> SQLiteValue {
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
