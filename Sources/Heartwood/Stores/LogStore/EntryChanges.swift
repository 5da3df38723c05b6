import Foundation

/// Changes of entries that follow from rows: gathered while rows are written, carried out in the order of
/// their keys.
///
/// Neighbours in the tree are then changed one after the other, whatever the order in which the rows came;
/// and in the log the rows stand side by side, where a scan reads them, with no entries between them.
///
/// - Invariant: changes of one key keep the order in which they were made.
struct EntryChanges {
  enum Kind: UInt8 {
    case delete, put
    /// Put into an index whose values must be unique.
    case putUnique
  }

  private struct Change {
    /// The key's first sixteen bytes as numbers, which tell nearly all keys apart.
    let first, second: UInt64
    let offset: Int
    let count: UInt16
    let kind: Kind
  }

  /// Keys one after the other.
  private var bytes: [UInt8] = []
  private var changes: [Change] = []
  private(set) var hasUnique = false

  var isEmpty: Bool { changes.isEmpty }

  /// Makes room for so many changes more.
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

  /// - Parameter write: appends the key; false where there is none.
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

  /// Calls `body` with each change in the order of the keys, and with a number that tells which came first.
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
    }
  }

  private static func precedes(_ left: Change, _ right: Change, _ bytes: UnsafeRawBufferPointer) -> Bool {
    let order = key(left, bytes).order(to: key(right, bytes))
    return order != 0 ? order < 0 : left.offset < right.offset
  }

  private static func key(_ change: Change, _ bytes: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(rebasing: bytes[change.offset..<change.offset + Int(change.count)])
  }

  /// Eight bytes as a number whose order is theirs; as if zeros followed the last byte.
  private static func word(_ bytes: UnsafeRawBufferPointer, _ offset: Int, _ count: Int) -> UInt64 {
    if count >= 8 {
      return UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
    }
    var word: UInt64 = 0
    for index in 0..<8 { word = word << 8 | (index < count ? UInt64(bytes[offset + index]) : 0) }
    return word
  }
}
