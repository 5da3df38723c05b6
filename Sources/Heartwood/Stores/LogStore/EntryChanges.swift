import Foundation
import HeartwoodEngine

/// Changes of entries that are derived from rows: collected while rows are written, then applied in key
/// order.
///
/// Neighbours in the tree are then changed one after another, in whatever order the rows were written. In the
/// log the rows are contiguous, without entries between them, which makes scans faster.
///
/// - Invariant: Changes of one key keep the order in which they were made.
struct EntryChanges {
  enum Kind: UInt8 {
    case delete, put
    /// A put into an index whose values must be unique.
    case putUnique
  }

  private struct Change {
    /// The key's first sixteen bytes as numbers, which distinguish nearly all keys.
    let first, second: UInt64
    let offset: Int
    let count: UInt16
    let kind: Kind
  }

  /// The keys, one after another.
  private var bytes: [UInt8] = []
  private var changes: [Change] = []
  private(set) var hasUnique = false

  var isEmpty: Bool { changes.isEmpty }
  var count: Int { changes.count }

  /// Reserves memory for `count` more changes.
  mutating func reserve(_ count: Int) {
    let usualKeySize = 32
    changes.reserveCapacity(changes.count + count)
    bytes.reserveCapacity(bytes.count + count * usualKeySize)
  }

  mutating func add(_ kind: Kind, _ key: [UInt8]) {
    add(kind) { bytes in
      bytes += key
      return true
    }
  }

  /// - Parameter write: appends the key; returns false if there is none.
  @inline(__always)
  mutating func add(_ kind: Kind, _ write: (inout [UInt8]) -> Bool) {
    let offset = bytes.count
    guard write(&bytes) else { return }
    let count = bytes.count - offset
    let (first, second) = bytes.withUnsafeBytes { bytes in
      (Self.word(bytes, offset, count), Self.word(bytes, offset + 8, count - 8))
    }
    changes.append(
      Change(first: first, second: second, offset: offset, count: UInt16(count), kind: kind))
    if kind == .putUnique { hasUnique = true }
  }

  /// Adds the changes of all entries of a row in an index.
  mutating func add(_ kind: Kind, _ index: StoreIndex, _ row: RowView, _ key: UInt64) {
    guard index.kind == .words else { return add(kind) { IndexKey.append(index, row, key, to: &$0) } }
    IndexKey.forEachWord(index, row) { word in
      add(kind) { bytes in
        IndexKey.append(index, word, key, to: &bytes)
        return true
      }
    }
  }

  /// Writes the changes in key order, and removes them from the collection.
  ///
  /// - Returns: the changes.
  @discardableResult
  mutating func write(to transaction: WriteTransaction) throws -> EntryChanges {
    var written = EntryChanges()
    swap(&written, &self)
    written.sort()
    let nothing = UnsafeRawBufferPointer(start: nil, count: 0)
    try written.forEach { kind, key, _ in
      if kind == .delete { _ = try transaction.delete(key) } else { try transaction.put(key, nothing) }
    }
    return written
  }

  /// Calls `body` with each change and a number that ascends in the order in which changes were made. The
  /// changes are in key order after `sort()`.
  func forEach(_ body: (Kind, UnsafeRawBufferPointer, Int) throws -> Void) rethrows {
    try bytes.withUnsafeBytes { bytes in
      for change in changes { try body(change.kind, Self.key(change, bytes), change.offset) }
    }
  }

  mutating func sort() {
    bytes.withUnsafeBytes { bytes in
      changes.sort { left, right in
        if left.first != right.first { return left.first < right.first }
        if left.second != right.second { return left.second < right.second }
        return Self.precedes(left, right, bytes)
      }
      assert(
        zip(changes, changes.dropFirst()).allSatisfy { Self.precedes($0, $1, bytes) },
        "changes of entries are out of order")
    }
  }

  private static func precedes(_ left: Change, _ right: Change, _ bytes: UnsafeRawBufferPointer) -> Bool {
    let order = key(left, bytes).order(to: key(right, bytes))
    return order != 0 ? order < 0 : left.offset < right.offset
  }

  private static func key(_ change: Change, _ bytes: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(rebasing: bytes[change.offset..<change.offset + Int(change.count)])
  }

  /// Eight bytes as a number with the same order, padded with zeros.
  private static func word(_ bytes: UnsafeRawBufferPointer, _ offset: Int, _ count: Int) -> UInt64 {
    if count >= 8 {
      return UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
    }
    var word: UInt64 = 0
    for index in 0..<8 { word = word << 8 | (index < count ? UInt64(bytes[offset + index]) : 0) }
    return word
  }
}
