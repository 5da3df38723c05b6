import Foundation
import HeartwoodBytes

/// Index entries: values encoded as keys whose order is the order of the values.
///
/// An entry is the index's head, the values one after another in the form of `Value.appendOrderedKey`, and
/// the row's key. Values of more than 200 bytes in total are cut to 200 bytes, followed by a hash of all of
/// them, so that equal values have equal entries and different ones do not. Entries that begin with the same
/// cut bytes are not in the order of their values; a reader must compare the rows.
///
/// A full-text index has an entry for each different word of a row, with the word in place of the values; see `TextWords`. A range index has
/// one with a `BoxCode` in place of them.
///
/// - Invariant: Uncut values have at most `longestValues` bytes, cut ones exactly `cutSize`.
enum IndexKey {
  static let headSize = 3
  static let keySize = 8
  static let longestValues = 200
  static let hashSize = 16
  static let cutSize = longestValues + hashSize

  /// Replaces values that are too long by their first bytes and their hash.
  static func cut(_ key: inout [UInt8]) {
    guard key.count > headSize + longestValues else { return }
    let hash = key.withUnsafeBytes { bytes in
      let values = UnsafeRawBufferPointer(rebasing: bytes[headSize...])
      return (XXH3.hash(values, seed: 0), XXH64.hash(values, seed: 0x9E37_79B9_7F4A_7C15))
    }
    key.removeSubrange((headSize + longestValues)...)
    OrderedKey.append(hash.0, to: &key)
    OrderedKey.append(hash.1, to: &key)
    assert(key.count == headSize + cutSize, "the values of an entry are cut to another size")
  }

  static func isCut(_ entry: UnsafeRawBufferPointer) -> Bool { entry.count == headSize + cutSize + keySize }

  /// The values of an entry that is not cut.
  static func values(of entry: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(rebasing: entry[headSize..<max(headSize, entry.count - keySize)])
  }

  /// The head and the uncut values of a row, or the first of them.
  static func whole(_ index: StoreIndex, _ row: RowView, elements: Int = .max) -> [UInt8] {
    var key = KeySpace.head(KeySpace.index, index.number)
    key.reserveCapacity(64)
    append(index, row, elements: elements, to: &key)
    return key
  }

  /// The complete entry of a row; nil if the index does not apply to it.
  static func entry(_ index: StoreIndex, _ row: RowView, _ key: UInt64) -> [UInt8]? {
    var entry: [UInt8] = []
    entry.reserveCapacity(64)
    return append(index, row, key, to: &entry) ? entry : nil
  }

  /// All entries of a row, ascending.
  static func entries(_ index: StoreIndex, _ row: RowView, _ key: UInt64) -> [[UInt8]] {
    var entries: [[UInt8]] = []
    guard index.kind == .words else { return entry(index, row, key).map { [$0] } ?? [] }
    forEachWord(index, row) { word in
      var entry: [UInt8] = []
      append(index, word, key, to: &entry)
      entries.append(entry)
    }
    return entries
  }

  /// Calls `body` with each word of a row that a full-text index has, ascending.
  static func forEachWord(
    _ index: StoreIndex, _ row: RowView, _ body: (ArraySlice<UInt8>) throws -> Void
  ) rethrows {
    let column = index.columns[0]
    guard index.condition?.holds(for: row) != false else { return }
    if !row.isNull(column) { try TextWords(row.bytes(column)).forEachIndexed(body) }
  }

  /// Appends the entry of a word in a form that is that of a value.
  static func append(_ index: StoreIndex, _ word: ArraySlice<UInt8>, _ key: UInt64, to bytes: inout [UInt8]) {
    KeySpace.appendHead(KeySpace.index, index.number, to: &bytes)
    bytes.append(1)
    word.withUnsafeBytes { OrderedKey.append($0, to: &bytes) }
    OrderedKey.append(key, to: &bytes)
  }

  /// Appends the complete entry of a row. Appends nothing and returns false if the index does not apply to it.
  static func append(_ index: StoreIndex, _ row: RowView, _ key: UInt64, to bytes: inout [UInt8]) -> Bool {
    if index.isUnique, index.columns.contains(where: row.isNull) { return false }
    if let condition = index.condition, !condition.holds(for: row) { return false }
    if index.kind == .ranges { return appendRange(index, row, key, to: &bytes) }
    let start = bytes.count
    KeySpace.appendHead(KeySpace.index, index.number, to: &bytes)
    append(index, row, elements: .max, to: &bytes)
    if bytes.count - start > headSize + longestValues {
      var entry = Array(bytes[start...])
      cut(&entry)
      bytes.replaceSubrange(start..., with: entry)
    }
    OrderedKey.append(key, to: &bytes)
    return true
  }

  /// Appends the values of a row, or the first of them.
  private static func append(_ index: StoreIndex, _ row: RowView, elements: Int, to bytes: inout [UInt8]) {
    guard index.hasExpressions else {
      for column in index.columns.prefix(elements) { row.appendOrderedKey(column, to: &bytes) }
      return
    }
    for element in index.elements.prefix(elements) {
      switch element {
      case .column(let column): row.appendOrderedKey(column, to: &bytes)
      case .expression(let expression): expression.value(of: row).appendOrderedKey(to: &bytes)
      }
    }
  }

  /// The same for a range index, which has no entry for a row in which a value is missing.
  private static func appendRange(
    _ index: StoreIndex, _ row: RowView, _ key: UInt64, to bytes: inout [UInt8]
  ) -> Bool {
    guard let first = row.orderedNumber(index.columns[0]), let second = row.orderedNumber(index.columns[1])
    else { return false }
    KeySpace.appendHead(KeySpace.index, index.number, to: &bytes)
    bytes.append(1)
    BoxCode(first, second).append(to: &bytes)
    OrderedKey.append(key, to: &bytes)
    return true
  }
}

extension RowView {
  /// A number or date as an unsigned number of the same order; nil if it is missing, or of another kind.
  fileprivate func orderedNumber(_ column: Column) -> UInt64? {
    guard !isNull(column) else { return nil }
    switch column.kind {
    case .int16, .int32, .int64: return OrderedKey.ordered(int(column))
    case .double, .float, .date: return OrderedKey.ordered(double(column))
    default: return nil
    }
  }
}

extension Value {
  /// A number or date as an unsigned number of the same order; nil for other values.
  var orderedNumber: UInt64? {
    switch self {
    case .int(let value): OrderedKey.ordered(value)
    case .double(let value), .date(let value): OrderedKey.ordered(value)
    default: nil
    }
  }
}

extension RowView {
  /// Appends the same bytes as `value(column).appendOrderedKey(to:)`, without making a value if possible.
  func appendOrderedKey(_ column: Column, to key: inout [UInt8]) {
    if isNull(column) { return key.append(0) }
    switch column.kind {
    case .int16, .int32, .int64:
      key.append(1)
      OrderedKey.append(int(column), to: &key)
    case .double, .float, .date:
      key.append(1)
      OrderedKey.append(double(column), to: &key)
    case .bool:
      key.append(1)
      OrderedKey.append(bool(column), to: &key)
    case .toOne:
      key.append(1)
      OrderedKey.append(self.key(column), to: &key)
    case .string where bytes(column).allSatisfy({ $0 < 0x80 }):
      key.append(1)
      OrderedKey.append(bytes(column), to: &key)
    case .uuid, .string, .uri, .data, .decimal, .toMany, .transient, .composite:
      value(column).appendOrderedKey(to: &key)
    }
  }
}
