import HeartwoodFiles

/// The zeros ahead of the log's end in one segment, and the only way to write behind them.
///
/// A sync of bytes that replace zeros has no length to write. The zeros are laid by the background
/// worker in small steps; a commit waits for a step only when it outruns them.
///
/// Invariant: zeros are laid at and behind `filled` only, and frames that reach behind `filled` move it,
/// both under the lock: no zero ever lands on a frame.
final class ZeroFilling: @unchecked Sendable {
  let segment: LogSegment
  private let lock = Lock()
  private var filled: Int
  /// Set while zeros are being laid.
  private var isBusy = false
  /// Set when laying them has failed, and when the log goes on elsewhere.
  private var hasStopped = false

  /// In a store of less than this, zeros only double what is there.
  private static let largestLead = 1 << 20

  init(_ segment: LogSegment, filled: Int) {
    self.segment = segment
    self.filled = filled
  }

  /// Writes a frame; `filled` is read without the lock by nobody but the one writer's own calls.
  func write(_ bytes: UnsafeRawBufferPointer, at offset: Int) throws(FileSystemError) {
    let end = offset + bytes.count
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

  /// True, once, when it is time to lay more zeros.
  ///
  /// - Parameter commitBytes: What the commit just made has written; large ones would write everything twice.
  func isDue(end: Int, commitBytes: Int, segmentBytes: Int) -> Bool {
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
    while step(file, to: target) {}
    if syncs { try file.sync(.data) }
    lock.withLock { isBusy = false }
  }

  /// No more zeros are laid once this returns.
  func stop() { lock.withLock { hasStopped = true } }

  private func step(_ file: any File, to target: Int) -> Bool {
    lock.lock()
    defer { lock.unlock() }
    guard filled < target, !hasStopped else { return false }
    let count = min(Format.fillStepBytes, target - filled)
    do {
      try file.write(all: [UInt8](repeating: 0, count: count), at: filled)
      filled += count
    } catch {
      hasStopped = true
    }
    return true
  }
}
