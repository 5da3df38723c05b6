import HeartwoodBytes

/// Rows that are made of an index's entries, with the indexed properties only: what reads no others is spared the rows of the store.
///
/// Some values cannot be read in an entry, because it has them in the form in which they are compared: such entries have no row.
final class EntryRows {
  private let columns: [Column]
  /// The indexed texts, in the order of the row.
  private let texts: [Column]
  /// A row without values.
  private let empty: [UInt8]
  private let fixedSize: Int
  /// The row that is made. Its memory is used again.
  private var row: [UInt8] = []
  /// The texts of the row that is made, as parts of the entry.
  private var found: [(slot: UInt16, bytes: Range<Int>)] = []
  private var slab: RowSlab?
  private var current: StoredRow?

  /// - Returns: nil if an index has properties whose values are not in its entries.
  init?(_ index: StoreIndex) {
    guard index.isOrdered, !index.hasExpressions, index.columns.allSatisfy(\.kind.isReadableInEntries) else {
      return nil
    }
    columns = index.columns
    texts = columns.filter { $0.kind == .string }.sorted { $0.slot < $1.slot }
    let layout = index.entity.layout
    empty = RowBuilder(layout).finish(version: 1)
    fixedSize = layout.fixedSize
  }

  /// The row of an entry's values, valid until the next one is made; nil if another row may have them, too.
  func row(_ values: UnsafeRawBufferPointer) throws(HeartwoodError) -> RowView? {
    row.removeAll(keepingCapacity: true)
    row.append(contentsOf: empty)
    found.removeAll(keepingCapacity: true)
    var reader = ByteReader(values)
    do {
      for column in columns {
        guard try reader.readUInt8() != 0 else { continue }
        row[Int(column.nullOffset)] &= ~column.nullMask
        if column.kind == .string {
          guard let bytes = Self.text(reader) else { return nil }
          found.append((column.slot, bytes))
          _ = try reader.readBytes(bytes.count + 2)
        } else {
          guard try Self.read(column, &reader, into: &row) else { return nil }
        }
      }
    } catch {
      throw .damagedStore("an entry of an index does not have the values of the index's properties")
    }
    if !texts.isEmpty { storeTexts(of: values) }
    let stored = row.withUnsafeBytes { StoredRow(copying: $0, into: &slab) }
    current = stored
    return stored.view
  }

  /// - Returns: false if the value may be another one that is equal.
  private static func read(
    _ column: Column, _ reader: inout ByteReader, into row: inout [UInt8]
  ) throws(ByteReader.ShortInput) -> Bool {
    switch column.kind {
    case .int64: row.store(try reader.readOrderedInt64(), at: column.offset)
    case .int32: row.store(Int32(truncatingIfNeeded: try reader.readOrderedInt64()), at: column.offset)
    case .int16: row.store(Int16(truncatingIfNeeded: try reader.readOrderedInt64()), at: column.offset)
    case .bool: row.store(UInt8(try reader.readOrderedBool() ? 1 : 0), at: column.offset)
    case .toOne: row.store(try reader.readOrderedUInt64(), at: column.offset)
    case .uuid: row.store(try reader.readBytes(16), at: column.offset)
    case .double, .date, .float:
      let number = try reader.readOrderedDouble()
      // Negative zero has the entry of zero, and all that is not a number has one entry.
      guard number != 0, !number.isNaN else { return false }
      if column.kind == .float {
        row.store(Float(number).bitPattern, at: column.offset)
      } else {
        row.store(number.bitPattern, at: column.offset)
      }
    default: return false
    }
    return true
  }

  /// The bytes of the next text; nil if it may have been written with others. Two zeros end it.
  private static func text(_ reader: ByteReader) -> Range<Int>? {
    let bytes = reader.bytes
    var end = reader.position
    while end < bytes.count, bytes[end].isUnchangedByComposition { end += 1 }
    guard end + 1 < bytes.count, bytes[end] == 0, bytes[end + 1] == 0 else { return nil }
    return reader.position..<end
  }

  private func storeTexts(of values: UnsafeRawBufferPointer) {
    for column in texts {
      if column.previousOffset != 0 { storeEnd(at: column.previousOffset) }
      if let text = found.first(where: { $0.slot == column.slot }) {
        row.append(contentsOf: values[text.bytes])
      }
      storeEnd(at: column.offset)
    }
  }

  private func storeEnd(at offset: UInt16) {
    row.store(UInt32(truncatingIfNeeded: row.count - fixedSize), at: offset)
  }
}

extension ColumnKind {
  /// Whether its values can be read in an index's entries, or at least most of them.
  var isReadableInEntries: Bool {
    switch self {
    case .int16, .int32, .int64, .double, .float, .bool, .date, .uuid, .toOne, .string: true
    case .data, .uri, .decimal, .toMany, .transient, .composite: false
    }
  }
}

extension UInt8 {
  /// Whether a composed text with this byte was written with the same byte: not if it is a part of a character that may have been composed,
  /// nor for the three ASCII characters that are the composed form of another one (the Kelvin sign, the Greek question mark, and the oxia).
  fileprivate var isUnchangedByComposition: Bool {
    self < 0x80 && self != 0 && self != UInt8(ascii: "K") && self != UInt8(ascii: ";")
      && self != UInt8(ascii: "`")
  }
}
