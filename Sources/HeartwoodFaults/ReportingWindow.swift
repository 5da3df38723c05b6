import HeartwoodBytes
import HeartwoodFiles

/// A range of a file that is written through a closure.
final class ReportingWindow: FileWindow {
  let range: Range<Int64>
  /// Nil, so that each write calls the closure.
  var base: UnsafeMutableRawPointer? { nil }
  var isUsable: Bool { mayPut() }
  private let mayPut: @Sendable () -> Bool
  private let put: @Sendable (UnsafeRawBufferPointer, Int64) -> Void

  /// - Parameters:
  ///   - isUsable: Whether bytes may still be written.
  ///   - put: Writes bytes at an offset within `range`.
  init(
    range: Range<Int64>, isUsable: @escaping @Sendable () -> Bool = { true },
    put: @escaping @Sendable (UnsafeRawBufferPointer, Int64) -> Void
  ) {
    self.range = range
    mayPut = isUsable
    self.put = put
  }

  func write(_ bytes: UnsafeRawBufferPointer, at offset: Int64) {
    require(
      offset >= range.lowerBound && Int64(bytes.count) <= range.upperBound - offset,
      "A window is written within its range.")
    put(bytes, offset)
  }
}
