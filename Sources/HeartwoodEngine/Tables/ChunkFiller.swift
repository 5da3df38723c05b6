import HeartwoodFiles
import Synchronization

/// The bytes of a file in anonymous memory, read in chunks on first access. Replaces a map if the file system
/// has none or the options ask for none: a media error is then thrown instead of ending the process.
final class ChunkFiller: @unchecked Sendable {
  static let chunkBytes = 16 << 10

  private let memory: AnonymousMemory
  private let file: any File
  private let path: String
  private let lock = Lock()
  /// One mark per chunk: 1 if it has been read. Most chunks are never read, and their marks take no memory.
  private let marks: FixedArray<Atomic<UInt8>>

  init(file: any File, path: String, capacity: Int) throws(EngineError) {
    self.file = file
    self.path = path
    memory = try AnonymousMemory.reserving(capacity, for: path)
    let markCount = (capacity + Self.chunkBytes - 1) / Self.chunkBytes
    marks = FixedArray(count: markCount, in: try AnonymousMemory.reserving(max(markCount, 1), for: path))
  }

  /// The bytes of the file, those that have been read.
  var bytes: Bytes { memory.writable.bytes }

  /// Ensures that `count` bytes from `offset` are in memory.
  ///
  /// - Throws: `.damaged` if they are outside the file; `.inputOutput` if reading fails.
  @inline(__always)
  func require(_ offset: Int, _ count: Int) throws(EngineError) {
    guard count > 0 else { return }
    let last = (offset &+ count &- 1) / Self.chunkBytes
    var chunk = offset / Self.chunkBytes
    while chunk <= last {
      // Acquiring pairs with the release in `fill`: a marked chunk has been read.
      if chunk >= marks.count || marks[chunk].load(ordering: .acquiring) == 0 { try fill(chunk) }
      chunk &+= 1
    }
  }

  @inline(never)
  private func fill(_ chunk: Int) throws(EngineError) {
    guard chunk < marks.count else {
      throw EngineError(.damaged, "a position is outside its file; run verify", file: path)
    }
    lock.lock()
    defer { lock.unlock() }
    try fillLocked(chunk)
  }

  private func fillLocked(_ chunk: Int) throws(EngineError) {
    guard marks[chunk].load(ordering: .acquiring) == 0 else { return }
    let offset = chunk * Self.chunkBytes
    let count = min(Self.chunkBytes, memory.byteCount - offset)
    try read(into: memory.writable.bytes(offset, count), at: offset)
    marks[chunk].store(1, ordering: .releasing)
  }

  /// Reads bytes that another process has appended, before readers can refer to them. A chunk that was read
  /// earlier may contain what was there before.
  func readAgain(_ offset: Int, _ count: Int) throws(EngineError) {
    lock.lock()
    defer { lock.unlock() }
    let first = offset / Self.chunkBytes
    if offset % Self.chunkBytes != 0 { try fillLocked(first) }
    try read(into: memory.writable.bytes(offset, count), at: offset)
    for chunk in first...(offset + count - 1) / Self.chunkBytes {
      marks[chunk].store(1, ordering: .releasing)
    }
  }

  /// Reads again those bytes that were read before another process wrote them. Readers cannot refer to them
  /// yet.
  func refresh(_ offset: Int, _ count: Int) throws(EngineError) {
    lock.lock()
    defer { lock.unlock() }
    let end = offset + count
    for chunk in offset / Self.chunkBytes...(end - 1) / Self.chunkBytes {
      guard marks[chunk].load(ordering: .acquiring) != 0 else { continue }
      let first = max(offset, chunk * Self.chunkBytes)
      let bytes = min(end, (chunk + 1) * Self.chunkBytes) - first
      try read(into: memory.writable.bytes(first, bytes), at: first)
    }
  }

  /// Reads bytes of the file into the caller's memory without keeping them.
  func read(into target: WritableBytes, at offset: Int) throws(EngineError) {
    do {
      _ = try file.readFully(into: target, at: Int64(offset))
    } catch {
      throw EngineError.reading(error, path: path, offset: Int64(offset))
    }
  }

  /// Copies bytes that were just written to the file, before readers can refer to them.
  func noteWritten(_ bytes: UnsafeRawBufferPointer, at offset: Int) throws(EngineError) {
    guard bytes.count > 0 else { return }
    lock.lock()
    defer { lock.unlock() }
    let first = offset / Self.chunkBytes
    let last = (offset + bytes.count - 1) / Self.chunkBytes
    // The first chunk also contains older bytes; later chunks contain only the new ones.
    if offset % Self.chunkBytes != 0 { try fillLocked(first) }
    memory.writable.copy(bytes, to: offset)
    for chunk in first...last { marks[chunk].store(1, ordering: .releasing) }
  }
}
