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
  /// Set while work is under way or has failed.
  private var isBusy = false
  private var hasFailed = false

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
  func isDue(end: Int, segmentBytes: Int) -> Bool {
    lock.lock()
    defer { lock.unlock() }
    guard !isBusy, !hasFailed, filled - end < lead(end) / 2, end < segmentBytes else { return false }
    isBusy = true
    return true
  }

  /// How far zeros should reach ahead: the segment doubles, by at most a mebibyte.
  private func lead(_ end: Int) -> Int { min(max(end, Format.firstFillBytes), Self.largestLead) }

  /// Lays zeros in steps and syncs them. An error of a write only means that there are no zeros; an error
  /// of the sync may be a commit's, and is thrown.
  func fill(from end: Int, syncs: Bool) throws(FileSystemError) {
    var target: Int
    lock.lock()
    target = max(filled, end) + lead(end)
    lock.unlock()
    target &= ~(Format.pageBytes - 1)
    while try step(to: target) {}
    if syncs { try segment.file.sync(.data) }
    lock.withLock { isBusy = false }
  }

  private func step(to target: Int) throws(FileSystemError) -> Bool {
    lock.lock()
    defer { lock.unlock() }
    guard filled < target, !hasFailed else { return false }
    let count = min(Format.fillStepBytes, target - filled)
    do {
      try segment.file.write(all: [UInt8](repeating: 0, count: count), at: filled)
      filled += count
    } catch {
      hasFailed = true
    }
    return true
  }
}
