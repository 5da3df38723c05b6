import Foundation

/// Comparisons of UTF-8 as bytes, whose order is that of the scalars.
extension UnsafeRawBufferPointer {
  /// A copy of the string's UTF-8, which the caller deallocates.
  static func copy(of text: String) -> UnsafeRawBufferPointer {
    let copy = UnsafeMutableRawBufferPointer.allocate(byteCount: text.utf8.count, alignment: 8)
    copy.copyBytes(from: text.utf8)
    return UnsafeRawBufferPointer(copy)
  }

  var isASCII: Bool { allBytesAreBelow(0x80) }

  /// Whether the text is certainly in composed form: no scalar below U+0300 composes or decomposes further.
  package var isSurelyComposed: Bool { allBytesAreBelow(0xCC) }

  /// Reads eight bytes at a time while all are ASCII.
  @inline(__always)
  private func allBytesAreBelow(_ limit: UInt8) -> Bool {
    guard let base = baseAddress else { return true }
    var position = 0
    while position + 8 <= count {
      let word = base.loadUnaligned(fromByteOffset: position, as: UInt64.self)
      guard word & 0x8080_8080_8080_8080 == 0 else { break }
      position += 8
    }
    while position < count {
      guard base.load(fromByteOffset: position, as: UInt8.self) < limit else { return false }
      position += 1
    }
    return true
  }

  @inline(__always)
  package func isEqual(to other: UnsafeRawBufferPointer) -> Bool {
    count == other.count && holds(other, at: 0)
  }

  package func hasPrefix(_ prefix: UnsafeRawBufferPointer) -> Bool { holds(prefix, at: 0) }

  func hasSuffix(_ suffix: UnsafeRawBufferPointer) -> Bool { holds(suffix, at: count - suffix.count) }

  func contains(_ part: UnsafeRawBufferPointer) -> Bool {
    guard let first = part.first else { return true }
    var position = 0
    while position + part.count <= count {
      guard let found = firstIndex(of: first, from: position) else { return false }
      if holds(part, at: found) { return true }
      position = found + 1
    }
    return false
  }

  private func firstIndex(of byte: UInt8, from start: Int) -> Int? {
    guard let base = baseAddress, let found = memchr(base + start, Int32(byte), count - start) else {
      return nil
    }
    return UnsafeRawPointer(found) - base
  }

  @inline(__always)
  private func holds(_ part: UnsafeRawBufferPointer, at position: Int) -> Bool {
    guard position >= 0, position + part.count <= count else { return false }
    guard let base = baseAddress, let other = part.baseAddress else { return part.isEmpty }
    return memcmp(base + position, other, part.count) == 0
  }

  /// Negative, zero or positive.
  @inlinable package func order(to other: UnsafeRawBufferPointer) -> Int {
    if let left = baseAddress, let right = other.baseAddress {
      let order = memcmp(left, right, Swift.min(count, other.count))
      if order != 0 { return Int(order) }
    }
    return Value.order(count, other.count)
  }

  /// The order of two texts in composed form if their first different byte decides it, otherwise nil. It
  /// decides if both texts continue with ASCII there, or end, and no combining scalar can follow.
  @inline(__always)
  package func orderAtFirstDifference(to other: UnsafeRawBufferPointer) -> Int? {
    let position = firstDifference(from: other)
    let (left, right) = (unitForOrder(at: position), other.unitForOrder(at: position))
    guard left < 0x80, right < 0x80, unitForOrder(at: position + 1) < 0xCC,
      other.unitForOrder(at: position + 1) < 0xCC
    else { return nil }
    return left == right ? 0 : left < right ? -1 : 1
  }

  /// The byte at `position`; -1 past the end, so that a prefix sorts before its extensions.
  @inline(__always)
  private func unitForOrder(at position: Int) -> Int { position < count ? Int(self[position]) : -1 }

  @inline(__always)
  private func firstDifference(from other: UnsafeRawBufferPointer) -> Int {
    guard let left = baseAddress, let right = other.baseAddress else { return 0 }
    let common = Swift.min(count, other.count)
    var position = 0
    while position + 8 <= common {
      let difference =
        left.loadUnaligned(fromByteOffset: position, as: UInt64.self)
        ^ right.loadUnaligned(fromByteOffset: position, as: UInt64.self)
      if difference != 0 { return position + UInt64(littleEndian: difference).trailingZeroBitCount / 8 }
      position += 8
    }
    while position < common && self[position] == other[position] { position += 1 }
    return position
  }

  /// Calls `body` with a copy of the text in which ASCII letters are in lower case.
  @inline(__always)
  func withLowercasedASCII<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
    guard count <= 256 else {
      let copy = map { $0.lowercasedASCII }
      return copy.withUnsafeBytes(body)
    }
    return withUnsafeTemporaryAllocation(byteCount: 256, alignment: 8) { copy in
      for index in 0..<count { copy[index] = self[index].lowercasedASCII }
      return body(UnsafeRawBufferPointer(start: copy.baseAddress, count: count))
    }
  }

  /// The index after the scalar that begins at `position`.
  func endOfScalar(at position: Int) -> Int {
    var end = position + 1
    while end < count, self[end] & 0xC0 == 0x80 { end += 1 }
    return end
  }
}

extension UInt8 {
  @inline(__always)
  fileprivate var lowercasedASCII: UInt8 { self &- 0x41 < 26 ? self | 0x20 : self }
}
