import HeartwoodBytes

/// Bytes of a file, mapped for writing.
final class PosixFileWindow: FileWindow, @unchecked Sendable {
  let range: Range<Int64>
  /// The map begins at a page boundary, at or before the beginning of the range.
  private let map: UnsafeMutableRawPointer
  private let first: Int64

  var base: UnsafeMutableRawPointer? { map + Int(range.lowerBound - first) }

  init(_ descriptor: Int32, _ range: Range<Int64>) throws(SystemError) {
    self.range = range
    first = range.lowerBound & ~Int64(MemoryPages.byteCount - 1)
    map = try SystemCall.shareFile(descriptor, at: first, length: Int(range.upperBound - first))
  }

  deinit { SystemCall.unmap(map, Int(range.upperBound - first)) }

  func write(_ bytes: UnsafeRawBufferPointer, at offset: Int64) {
    require(
      offset >= range.lowerBound && Int64(bytes.count) <= range.upperBound - offset,
      "A window is written within its range.")
    UnsafeMutableRawBufferPointer(start: map + Int(offset - first), count: bytes.count).copyMemory(
      from: bytes)
  }
}
