import HeartwoodFiles

/// Preallocates zeros after the log's end in one segment, and writes frames over them.
///
/// Syncing bytes that replace zeros need not write a new file size. For synced commits, the background worker
/// writes the zeros in small steps; a commit waits for a step only if it reaches the zeros' end. Small
/// commits that are not synced are copied over zeros in mapped memory without a system call, if the file
/// system offers windows; they preallocate for many commits at a time.
///
/// Invariant: zeros are written only at and after `filled`, and frames that reach past `filled` raise it,
/// both under the lock: a zero never overwrites a frame.
final class LogPreallocator: @unchecked Sendable {
  let segment: LogSegment
  private let segmentBytes: Int
  private let lock = Lock()
  private var filled: Int
  /// Whether zeros are being written.
  private var isBusy = false
  /// Set if writing zeros failed, or if the log continues elsewhere.
  private var hasStopped = false

  /// The mapped zeros before `filled` that the writer overwrites in place.
  private var window: (any FileWindow)?
  /// The window's address in memory, if a plain copy to it is sufficient.
  private var windowBase: UnsafeMutableRawPointer?
  /// The window's range in the file, cached because every commit needs it.
  private var windowRange = 0..<0
  /// When a frame was last written by a system call: watchers of the folder are notified of those only.
  private var lastCall: Int64?
  /// Whether the file has windows; nil if unknown.
  private var hasWindows: Bool?

  /// Greatest preallocation in bytes. A smaller segment is doubled.
  private static let largestPreallocation = 1 << 20
  /// The largest frame in bytes that is written through a window.
  private static let largestInWindow = 16 << 10
  /// How long after a system call the window may be used, in nanoseconds. Watchers that the call woke still
  /// poll after that time (`CommitWatch.Rest`).
  private static let callInterval: UInt64 = 1_000_000

  init(_ segment: LogSegment, filled: Int, options: EngineOptions) {
    self.segment = segment
    self.filled = filled
    segmentBytes = options.segmentBytes
    hasWindows = options.reading == .mapped ? nil : false
  }

  /// Writes a frame. Only the writer calls this.
  ///
  /// - Parameter time: Commit time in nanoseconds if the frame need not be synced; otherwise nil. A frame
  ///   that is synced does not use the window, because each sync makes its pages clean again.
  func write(_ bytes: UnsafeRawBufferPointer, at offset: Int, unsyncedAt time: Int64?) throws(FileSystemError)
  {
    let end = offset + bytes.count
    if let time {
      if bytes.count <= Self.largestInWindow, isSoon(time), reachesWindow(offset..<end) {
        return writeInPlace(bytes, at: offset)
      }
      lastCall = time
    }
    lock.lock()
    if end <= filled {
      lock.unlock()
      try segment.file.writeFully(bytes, at: Int64(offset))
      return
    }
    defer { lock.unlock() }
    try segment.file.writeFully(bytes, at: Int64(offset))
    filled = end
  }

  // MARK: In place

  /// Copies to the window, without counting a reference to it if possible.
  @inline(__always)
  private func writeInPlace(_ bytes: UnsafeRawBufferPointer, at offset: Int) {
    guard let windowBase, let source = bytes.baseAddress else {
      window?.write(bytes, at: Int64(offset))
      return
    }
    (windowBase + (offset &- windowRange.lowerBound)).copyMemory(from: source, byteCount: bytes.count)
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
    if range.lowerBound >= windowRange.lowerBound, range.upperBound <= windowRange.upperBound { return true }
    return hasWindows != false && moveWindow(to: range)
  }

  /// Moves the window. If anything fails, the frame is written by a call instead, which then reports the
  /// error.
  private func moveWindow(to range: Range<Int>) -> Bool {
    (window, windowBase, windowRange) = (nil, nil, 0..<0)
    // The first byte always exists: a window on it shows whether to preallocate for more windows.
    if hasWindows == nil { hasWindows = (try? segment.file.window(at: 0, length: 1)) != nil }
    guard hasWindows == true else { return false }
    let wanted = range.upperBound + min(preallocationBytes(range.upperBound), Format.fillStepBytes)
    let target = max(range.upperBound, min(wanted & ~(Format.pageBytes - 1), segmentBytes))
    lock.lock()
    while step(segment.file, to: target) {}
    let end = min(filled, max(target, range.lowerBound + Self.largestPreallocation))
    lock.unlock()
    guard end >= range.upperBound else { return false }
    window = try? segment.file.window(at: Int64(range.lowerBound), length: end - range.lowerBound)
    guard let window else { return false }
    windowBase = window.base
    windowRange = range.lowerBound..<end
    return true
  }

  // MARK: Zeros

  /// Returns true once when more zeros should be written.
  ///
  /// - Parameter commitBytes: Bytes of the last commit; for large commits zeros would double the bytes
  ///   written.
  func isDue(end: Int, commitBytes: Int) -> Bool {
    lock.lock()
    defer { lock.unlock() }
    guard !isBusy, !hasStopped, commitBytes < preallocationBytes(end) / 4,
      filled - end < preallocationBytes(end) / 2, end < segmentBytes
    else { return false }
    isBusy = true
    return true
  }

  /// How far zeros should reach past the end: as much as the segment has, at most 1 MiB.
  private func preallocationBytes(_ end: Int) -> Int {
    min(max(end, Format.firstFillBytes), Self.largestPreallocation)
  }

  /// Writes zeros in steps and syncs them. If a write fails, there are only fewer zeros. An error of the sync
  /// is thrown, because it may concern the bytes of a commit.
  ///
  /// - Parameter file: The segment, opened once more: the system reports a failed sync once per open file,
  ///   and the commit that syncs next must see the error too.
  func fill(_ file: any File, syncs: Bool) throws(FileSystemError) {
    let target = lock.withLock { (filled + preallocationBytes(filled)) & ~(Format.pageBytes - 1) }
    while lock.withLock({ step(file, to: target) }) {}
    if syncs { try file.sync(.data) }
    lock.withLock { isBusy = false }
  }

  /// Overwrites everything from `end` to the end of the file with zeros: what a failed write has left. These
  /// bytes are allocated already, so this needs no space on file systems that write in place.
  func wipe(from end: Int) throws(FileSystemError) {
    lock.lock()
    defer { lock.unlock() }
    let size = Int(try segment.file.size())
    var offset = end
    while offset < size {
      let count = min(Format.fillStepBytes, size - offset)
      try Self.zeros.withBytes { (zeros) throws(FileSystemError) in
        try segment.file.writeFully(UnsafeRawBufferPointer(rebasing: zeros.prefix(count)), at: Int64(offset))
      }
      offset += count
    }
    filled = max(end, size)
    hasStopped = false
  }

  /// Stops preallocation. No more zeros are written once this returns.
  func stop() { lock.withLock { hasStopped = true } }

  /// Resumes preallocation in a segment of `filled` bytes, to which another process may have written
  /// meanwhile.
  func resume(filled: Int) {
    lock.withLock {
      self.filled = filled
      hasStopped = false
    }
  }

  /// Writes one step of the missing zeros; returns false if none are missing.
  ///
  /// - Precondition: The caller holds `lock`.
  private func step(_ file: any File, to target: Int) -> Bool {
    guard filled < target, !hasStopped else { return false }
    let count = min(Format.fillStepBytes, target - filled)
    do {
      try Self.zeros.withBytes { (zeros) throws(FileSystemError) in
        try file.writeFully(UnsafeRawBufferPointer(rebasing: zeros.prefix(count)), at: Int64(filled))
      }
      filled += count
    } catch {
      hasStopped = true
    }
    return true
  }

  private static let zeros = [UInt8](repeating: 0, count: Format.fillStepBytes)
}
