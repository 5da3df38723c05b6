import HeartwoodBytes

/// An address range that reads as zeros and takes memory only where it is written.
///
/// It does not move. It is released with the last reference.
package final class AnonymousMemory: @unchecked Sendable {
  /// The first byte, at the beginning of a memory page.
  package let base: UnsafeMutableRawPointer
  /// The number of bytes that are reserved.
  package let byteCount: Int

  /// Reserves `byteCount` bytes.
  ///
  /// - Throws: `.outOfMemory` if the system refuses a range of this size.
  package init(byteCount: Int) throws(FileSystemError) {
    require(byteCount > 0, "A reservation has at least one byte.")
    self.byteCount = byteCount
    do {
      base = try SystemCall.reserveMemory(byteCount)
    } catch {
      throw FileSystemError(error, .map, path: "memory")
    }
  }

  deinit { SystemCall.unmap(base, byteCount) }

  /// Zeroes a range and releases its memory. The range begins and ends at multiples of `pageSize`, or ends at
  /// the end of the reservation.
  package func discard(_ range: Range<Int>) throws(FileSystemError) {
    require(
      range.lowerBound >= 0 && range.upperBound <= byteCount && range.lowerBound % Self.pageSize == 0,
      "Only whole pages of the reservation can be released.")
    guard !range.isEmpty else { return }
    do {
      try SystemCall.renewMemory(base + range.lowerBound, range.count)
    } catch {
      throw FileSystemError(error, .map, path: "memory")
    }
  }

  /// Requests large pages from an offset on, a multiple of `pageSize`. They reduce TLB misses where much
  /// memory is accessed at random, and take up to one large page more than is used.
  package func preferLargePages(from offset: Int) {
    guard offset < byteCount else { return }
    SystemCall.preferLargePages(base + offset, byteCount - offset)
  }

  /// The size of a memory page of the system, in bytes.
  package static var pageSize: Int { MemoryPages.byteCount }
}
