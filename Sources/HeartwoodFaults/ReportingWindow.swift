import HeartwoodBytes
import HeartwoodFiles

/// Some bytes of a file that are written in place, by a closure.
final class ReportingWindow: FileWindow {
  let range: Range<Int64>
  /// Nil: each write is reported.
  var base: UnsafeMutableRawPointer? { nil }
  private let put: @Sendable (UnsafeRawBufferPointer, Int64) -> Void

  /// - Parameter put: Writes bytes at an offset within `range`.
  init(range: Range<Int64>, put: @escaping @Sendable (UnsafeRawBufferPointer, Int64) -> Void) {
    self.range = range
    self.put = put
  }

  func write(_ bytes: UnsafeRawBufferPointer, at offset: Int64) {
    require(
      offset >= range.lowerBound && Int64(bytes.count) <= range.upperBound - offset,
      "A window is written within its range.")
    put(bytes, offset)
  }
}
