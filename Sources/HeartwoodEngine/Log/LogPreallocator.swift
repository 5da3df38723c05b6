import HeartwoodFiles

/// The zeros ahead of the log's end in one segment, and the only way to write behind them.
///
/// A sync of bytes that replace zeros has no length to write: those for synced commits are laid by the
/// background worker in small steps; a commit waits for a step only when it outruns them. Small commits
/// that nobody syncs are put in the place of zeros without a call of the system, where the file system has
/// windows; they lay the zeros themselves, a piece for many.
///
/// Invariant: zeros are laid at and behind `filled` only, and frames that reach behind `filled` move it,
/// both under the lock: no zero ever lands on a frame.
final class LogPreallocator: @unchecked Sendable {
  let segment: LogSegment
  private let segmentBytes: Int
  private let lock = Lock()
  private var filled: Int
  /// Set while zeros are being laid.
  private var isBusy = false
  /// Set when laying them has failed, and when the log goes on elsewhere.
  private var hasStopped = false

  /// Zeros that the one writer writes over in place. It lies in front of `filled`.
  private var window: (any FileWindow)?
  /// Where the window's first byte is in memory, if writing there is all that there is to do.
  private var windowBase: UnsafeMutableRawPointer?
  /// The window's range, which is asked for at every commit.
  private var windowRange = 0..<0
  /// When a frame was written by a call of the system: watchers of the folder are told of those, and of no others.
  private var lastCall: Int64?
  /// Whether the file has windows at all; nil where nobody has asked yet.
  private var hasWindows: Bool?

  /// In a store of less than this, zeros only double what is there.
  private static let largestLead = 1 << 20
  /// The largest frame that is worth zeros of its own in a window.
  private static let largestInWindow = 16 << 10
  /// How long after a call the window may be used, in nanoseconds: who was told of the call looks again later than that
  /// (`CommitWatch.Rest`).
  private static let callInterval: UInt64 = 1_000_000

  init(_ segment: LogSegment, filled: Int, options: EngineOptions) {
    self.segment = segment
    self.filled = filled
    segmentBytes = options.segmentBytes
    hasWindows = options.reading == .mapped ? nil : false
  }

  /// Writes a frame; `filled` is read without the lock by nobody but the one writer's own calls.
  ///
  /// - Parameter time: When it is committed, if it need not be synced; nil else, as each sync takes the window's pages away.
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

  /// Writes to the window, and counts no reference to it where that can be.
  @inline(__always)
  private func writeInPlace(_ bytes: UnsafeRawBufferPointer, at offset: Int) {
    guard let windowBase, let source = bytes.baseAddress else {
      window?.write(bytes, at: Int64(offset))
      return
    }
    (windowBase + (offset &- windowRange.lowerBound)).copyMemory(from: source, byteCount: bytes.count)
  }

  /// Whether watchers were told just now. Not where the clock was put back.
  @inline(__always)
  private func isSoon(_ time: Int64) -> Bool {
    guard let lastCall, time >= lastCall else { return false }
    // A difference too large for a number is not small either.
    return UInt64(bitPattern: time &- lastCall) < Self.callInterval
  }

  /// Whether the bytes lie in the window, which is moved to them where it can be.
  @inline(__always)
  private func reachesWindow(_ range: Range<Int>) -> Bool {
    if range.lowerBound >= windowRange.lowerBound, range.upperBound <= windowRange.upperBound { return true }
    return hasWindows != false && moveWindow(to: range)
  }

  /// Where anything is in the way, the bytes are written as they would be without windows, which tells what it is.
  private func moveWindow(to range: Range<Int>) -> Bool {
    (window, windowBase, windowRange) = (nil, nil, 0..<0)
    // The first byte is always there: whether there is a window on it tells whether to lay zeros for others.
    if hasWindows == nil { hasWindows = (try? segment.file.window(at: 0, length: 1)) != nil }
    guard hasWindows == true else { return false }
    let wanted = range.upperBound + min(lead(range.upperBound), Format.fillStepBytes)
    let target = max(range.upperBound, min(wanted & ~(Format.pageBytes - 1), segmentBytes))
    lock.lock()
    while step(segment.file, to: target) {}
    let end = min(filled, max(target, range.lowerBound + Self.largestLead))
    lock.unlock()
    guard end >= range.upperBound else { return false }
    window = try? segment.file.window(at: Int64(range.lowerBound), length: end - range.lowerBound)
    guard let window else { return false }
    windowBase = window.base
    windowRange = range.lowerBound..<end
    return true
  }

  // MARK: Zeros

  /// True, once, when it is time to lay more zeros.
  ///
  /// - Parameter commitBytes: What the commit just made has written; large ones would write everything twice.
  func isDue(end: Int, commitBytes: Int) -> Bool {
    lock.lock()
    defer { lock.unlock() }
    guard !isBusy, !hasStopped, commitBytes < lead(end) / 4, filled - end < lead(end) / 2, end < segmentBytes
    else { return false }
    isBusy = true
    return true
  }

  /// How far zeros should reach ahead: the segment doubles, by at most a mebibyte.
  private func lead(_ end: Int) -> Int { min(max(end, Format.firstFillBytes), Self.largestLead) }

  /// Lays zeros in steps and syncs them. An error of a write only means that there are no zeros; an error
  /// of the sync is thrown, since the bytes that it covered may be a commit's too.
  ///
  /// - Parameter file: The segment opened once more: a file tells each opener of a failed sync, and what
  ///   is told here must not be lost to the commit that syncs next.
  func fill(_ file: any File, syncs: Bool) throws(FileSystemError) {
    let target = lock.withLock { (filled + lead(filled)) & ~(Format.pageBytes - 1) }
    while lock.withLock({ step(file, to: target) }) {}
    if syncs { try file.sync(.data) }
    lock.withLock { isBusy = false }
  }

  /// Overwrites everything from `end` to the end of the file with zeros: the remains of a write that failed. These bytes
  /// have their place on the disk already, so this needs no room where files are written in place.
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

  /// No more zeros are laid once this returns.
  func stop() { lock.withLock { hasStopped = true } }

  /// Zeros are laid again, in a segment of so many bytes: another process may have written to it meanwhile.
  func resume(filled: Int) {
    lock.withLock {
      self.filled = filled
      hasStopped = false
    }
  }

  /// Lays some of the zeros that are missing; false where none are. Under the lock.
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
