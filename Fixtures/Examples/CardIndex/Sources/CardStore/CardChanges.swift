import Foundation

/// The changes of one commit, as the bytes of its frame: how many bytes they are, their checksum, and the changes one after the
/// other. Numbers are eight bytes, the least significant first.
package final class CardChanges {
  private var bytes = [UInt8](repeating: 0, count: frameHead)

  package func put(_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) {
    append(UInt64(key.count) << 1 | 1)
    append(UInt64(value.count))
    bytes += key
    bytes += value
  }

  package func delete(_ key: UnsafeRawBufferPointer) {
    append(UInt64(key.count) << 1)
    bytes += key
  }

  private func append(_ number: UInt64) { withUnsafeBytes(of: number.littleEndian) { bytes += $0 } }

  func frame() -> [UInt8] {
    let head = bytes.withUnsafeBytes { [UInt64($0.count - frameHead), checksum(of: $0[frameHead...])] }
    for (place, number) in head.enumerated() {
      withUnsafeBytes(of: number.littleEndian) { bytes.replaceSubrange(place * 8..<place * 8 + 8, with: $0) }
    }
    return bytes
  }
}

extension CardTable {
  /// Makes the changes of all frames up to the first that is not whole.
  /// - Returns: Where that one begins, or the end.
  mutating func apply(framesOf bytes: [UInt8]) -> Int {
    bytes.withUnsafeBytes { bytes in
      var rest = bytes[...]
      var end = 0
      while let count = Self.number(&rest), let sum = Self.number(&rest),
        let changes = Self.bytes(count, &rest),
        sum == checksum(of: changes), apply(changes)
      { end = rest.startIndex }
      return end
    }
  }

  /// - Returns: Whether they are changes to their end.
  private mutating func apply(_ changes: Slice<UnsafeRawBufferPointer>) -> Bool {
    var rest = changes
    while !rest.isEmpty {
      guard let head = Self.number(&rest) else { return false }
      let valueCount = head & 1 == 1 ? Self.number(&rest) : 0
      guard let valueCount, let key = Self.bytes(head >> 1, &rest), let value = Self.bytes(valueCount, &rest)
      else { return false }
      if head & 1 == 1 {
        put(Record(key: Array(key), value: Array(value)))
      } else {
        delete(UnsafeRawBufferPointer(rebasing: key))
      }
    }
    return true
  }

  private static func number(_ rest: inout Slice<UnsafeRawBufferPointer>) -> UInt64? {
    bytes(8, &rest).map {
      UInt64(littleEndian: UnsafeRawBufferPointer(rebasing: $0).loadUnaligned(as: UInt64.self))
    }
  }

  private static func bytes(
    _ count: UInt64, _ rest: inout Slice<UnsafeRawBufferPointer>
  ) -> Slice<UnsafeRawBufferPointer>? {
    guard count <= rest.count else { return nil }
    defer { rest = rest.dropFirst(Int(count)) }
    return rest.prefix(Int(count))
  }
}

private let frameHead = 16

/// FNV-1a, begun so that zeros are no frame.
private func checksum(of bytes: Slice<UnsafeRawBufferPointer>) -> UInt64 {
  bytes.reduce(0xCBF2_9CE4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
}
