import HeartwoodBytes
import HeartwoodFiles

/// A range of a file that is written through a closure.
final class ReportingWindow: FileWindow {
  let range: Range<Int64>
  /// Nil, so that each write calls the closure.
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
