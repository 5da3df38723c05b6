import HeartwoodFiles

/// Preallocates zeros after the log's end in one segment. Any thread.
///
/// Syncing bytes that replace zeros need not write a new file size. For synced commits, the background worker
/// writes the zeros in small steps; a commit waits for a step only if it reaches the zeros' end.
///
/// Invariant: zeros are written only at and after `filled`, and frames that reach past `filled` raise it,
/// both with `lock` held: a zero never overwrites a frame.
final class LogPreallocator: @unchecked Sendable {
  let segment: LogSegment
  private let segmentBytes: Int
  private let lock = Lock()
  /// The end of the zeros. Guarded by `lock`, like the properties after it.
  private var filled: Int
  /// Whether zeros are being written.
  private var isBusy = false
  /// Set if writing zeros failed, or if the log continues elsewhere.
  private var hasStopped = false

  /// Greatest preallocation in bytes. A smaller segment is doubled.
  private static let largestPreallocation = 1 << 20
  init(_ segment: LogSegment, filled: Int, options: EngineOptions) {
    self.segment = segment
    self.filled = filled
    segmentBytes = options.segmentBytes
  }

  /// Writes bytes over the zeros, or after them.
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

  // MARK: Zeros

  /// Writes zeros for bytes that are to be written in place; returns the end of the zeros to map.
  func zeros(for range: Range<Int>) -> Int {
    let wanted = range.upperBound + min(preallocationBytes(range.upperBound), Format.fillStepBytes)
    let target = max(range.upperBound, min(wanted & ~(Format.pageBytes - 1), segmentBytes))
    lock.lock()
    defer { lock.unlock() }
    while step(segment.file, to: target) {}
    return min(filled, max(target, range.lowerBound + Self.largestPreallocation))
  }

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
