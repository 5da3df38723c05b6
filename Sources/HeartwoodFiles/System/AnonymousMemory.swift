import HeartwoodBytes

/// A range of addresses that reads as zeros and takes memory only where it is written.
///
/// It does not move; it is given back when the last reference goes.
package final class AnonymousMemory: @unchecked Sendable {
  /// The first byte, at the beginning of a page of memory.
  package let base: UnsafeMutableRawPointer
  /// How many bytes are reserved.
  package let byteCount: Int

  /// Reserves at least `byteCount` bytes.
  ///
  /// - Throws: `.outOfMemory` where the system refuses so large a range.
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

  /// Makes a range zero again and gives the memory behind it back. The range begins and ends at
  /// multiples of `pageSize`, or at the end of the reservation.
  package func giveBack(_ range: Range<Int>) throws(FileSystemError) {
    require(
      range.lowerBound >= 0 && range.upperBound <= byteCount && range.lowerBound % Self.pageSize == 0,
      "Only whole pages of the reservation are given back.")
    guard !range.isEmpty else { return }
    do {
      try SystemCall.renewMemory(base + range.lowerBound, range.count)
    } catch {
      throw FileSystemError(error, .map, path: "memory")
    }
  }

  /// Lets the system use large pages from an offset on, a multiple of `pageSize`: fewer misses of addresses where
  /// much memory is used here and there, and up to one large page more than is used.
  package func preferLargePages(from offset: Int) {
    guard offset < byteCount else { return }
    SystemCall.preferLargePages(base + offset, byteCount - offset)
  }

  /// The size of the pages in which the system gives out memory, in bytes.
  package static let pageSize = SystemCall.memoryPageSize
}
