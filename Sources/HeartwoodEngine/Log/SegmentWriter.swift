import HeartwoodFiles

/// Writes frames to one segment of the log, over preallocated zeros.
///
/// Small commits that are not synced are copied over zeros in mapped memory without a system call, if the file
/// system offers windows; they preallocate for many commits at a time. Part of the `Log`, whose user writes alone.
final class SegmentWriter {
  let preallocator: LogPreallocator

  /// The mapped zeros that are overwritten in place.
  private var window: (any FileWindow)?
  /// The window's bytes in memory, if a plain copy to them is sufficient.
  private var windowBytes: WritableBytes?
  /// The window's range in the file, cached because every commit needs it.
  private var windowRange = 0..<0
  /// When a frame was last written by a system call: watchers of the folder are notified of those only.
  private var lastCall: Int64?
  /// Whether the file has windows; nil if unknown.
  private var hasWindows: Bool?

  /// The largest frame in bytes that is written through a window.
  private static let largestInWindow = 16 << 10
  /// How long after a system call the window may be used, in nanoseconds. Watchers that the call woke still
  /// poll after that time (`CommitWatch.Rest`).
  private static let callInterval: UInt64 = 1_000_000

  init(_ segment: LogSegment, filled: Int, options: EngineOptions) {
    preallocator = LogPreallocator(segment, filled: filled, options: options)
    hasWindows = options.reading == .mapped ? nil : false
  }

  var segment: LogSegment { preallocator.segment }

  /// Writes a frame.
  ///
  /// - Parameter time: Commit time in nanoseconds if the frame need not be synced; otherwise nil. A frame
  ///   that is synced does not use the window, because each sync makes its pages clean again.
  func write(_ bytes: UnsafeRawBufferPointer, at offset: Int, unsyncedAt time: Int64?) throws(FileSystemError)
  {
    if let time {
      if bytes.count <= Self.largestInWindow, isSoon(time), reachesWindow(offset..<(offset + bytes.count)) {
        return writeInPlace(bytes, at: offset)
      }
      lastCall = time
    }
    try preallocator.write(bytes, at: offset)
  }

  // MARK: In place

  /// Copies to the window, without counting a reference to it if possible.
  @inline(__always)
  private func writeInPlace(_ bytes: UnsafeRawBufferPointer, at offset: Int) {
    guard let windowBytes else {
      window?.write(bytes, at: Int64(offset))
      return
    }
    windowBytes.copy(bytes, to: offset &- windowRange.lowerBound)
  }

  /// Whether watchers were notified within `callInterval`. False if the clock was set back.
  @inline(__always)
  private func isSoon(_ time: Int64) -> Bool {
    guard let lastCall, time >= lastCall else { return false }
    // A difference that overflows is large too.
    return UInt64(bitPattern: time &- lastCall) < Self.callInterval
  }

  /// Whether the bytes are in the window, moving it to them if possible.
  @inline(__always)
  private func reachesWindow(_ range: Range<Int>) -> Bool {
    if range.lowerBound >= windowRange.lowerBound, range.upperBound <= windowRange.upperBound {
      return windowBytes != nil || window?.isUsable == true
    }
    return hasWindows != false && moveWindow(to: range)
  }

  /// Moves the window. If anything fails, the frame is written by a call instead, which then reports the
  /// error.
  private func moveWindow(to range: Range<Int>) -> Bool {
    (window, windowBytes, windowRange) = (nil, nil, 0..<0)
    // The first byte always exists: a window on it shows whether to preallocate for more windows.
    if hasWindows == nil { hasWindows = (try? preallocator.segment.file.window(at: 0, length: 1)) != nil }
    guard hasWindows == true else { return false }
    let end = preallocator.zeros(for: range)
    guard end >= range.upperBound else { return false }
    window = try? preallocator.segment.file.window(
      at: Int64(range.lowerBound), length: end - range.lowerBound)
    guard let window else { return false }
    windowBytes = window.writable
    windowRange = range.lowerBound..<end
    return true
  }
}
