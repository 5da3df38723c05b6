import HeartwoodFiles
import Synchronization

/// The bytes of a file in anonymous memory, read in chunks when they are first needed: what a map is,
/// where there is no map or none is wanted. A media error is thrown here instead of ending the process.
final class ChunkFiller: @unchecked Sendable {
  static let chunkBytes = 16 << 10

  let memory: AnonymousMemory
  private let file: any File
  private let path: String
  private let lock = Lock()
  /// 1 where the chunk has been read. Most chunks are never reached, and their marks take no memory.
  private let marks: UnsafeMutablePointer<Atomic<UInt8>>
  private let marksMemory: AnonymousMemory
  private let markCount: Int

  init(file: any File, path: String, capacity: Int) throws(EngineError) {
    self.file = file
    self.path = path
    memory = try AnonymousMemory.reserving(capacity, for: path)
    markCount = (capacity + Self.chunkBytes - 1) / Self.chunkBytes
    marksMemory = try AnonymousMemory.reserving(max(markCount, 1), for: path)
    marks = marksMemory.base.bindMemory(to: Atomic<UInt8>.self, capacity: markCount)
  }

  /// Sees to it that `count` bytes from `offset` are in memory.
  @inline(__always)
  func require(_ offset: Int, _ count: Int) throws(EngineError) {
    guard count > 0 else { return }
    let last = (offset &+ count &- 1) / Self.chunkBytes
    var chunk = offset / Self.chunkBytes
    while chunk <= last {
      // Acquiring pairs with the release in `fill`: a chunk marked is a chunk read.
      if chunk >= markCount || marks[chunk].load(ordering: .acquiring) == 0 { try fill(chunk) }
      chunk &+= 1
    }
  }

  @inline(never)
  private func fill(_ chunk: Int) throws(EngineError) {
    guard chunk < markCount else {
      throw EngineError(.damaged, "a position lies outside its file; run verify", file: path)
    }
    lock.lock()
    defer { lock.unlock() }
    try fillLocked(chunk)
  }

  private func fillLocked(_ chunk: Int) throws(EngineError) {
    guard marks[chunk].load(ordering: .acquiring) == 0 else { return }
    let offset = chunk * Self.chunkBytes
    let target = UnsafeMutableRawBufferPointer(
      start: memory.base + offset, count: min(Self.chunkBytes, memory.byteCount - offset))
    try read(into: target, at: offset)
    marks[chunk].store(1, ordering: .releasing)
  }

  /// Reads bytes that another process has written since their chunk was read, before anybody can ask for them.
  func readAgain(_ offset: Int, _ count: Int) throws(EngineError) {
    lock.lock()
    defer { lock.unlock() }
    let target = UnsafeMutableRawBufferPointer(start: memory.base + offset, count: count)
    let first = offset / Self.chunkBytes
    if offset % Self.chunkBytes != 0 { try fillLocked(first) }
    try read(into: target, at: offset)
    for chunk in first...(offset + count - 1) / Self.chunkBytes {
      marks[chunk].store(1, ordering: .releasing)
    }
  }

  /// Reads those of the bytes again that were read before they were written. Nobody can ask for them yet.
  func refresh(_ offset: Int, _ count: Int) throws(EngineError) {
    lock.lock()
    defer { lock.unlock() }
    let end = offset + count
    for chunk in offset / Self.chunkBytes...(end - 1) / Self.chunkBytes {
      guard marks[chunk].load(ordering: .acquiring) != 0 else { continue }
      let first = max(offset, chunk * Self.chunkBytes)
      let bytes = min(end, (chunk + 1) * Self.chunkBytes) - first
      try read(into: UnsafeMutableRawBufferPointer(start: memory.base + first, count: bytes), at: first)
    }
  }

  /// Reads bytes of the file elsewhere, and keeps nothing of them.
  func read(into target: UnsafeMutableRawBufferPointer, at offset: Int) throws(EngineError) {
    do {
      _ = try file.readFully(into: target, at: Int64(offset))
    } catch {
      throw EngineError.reading(error, path: path, offset: Int64(offset))
    }
  }

  /// Takes over bytes that were just written to the file, before anybody can ask for them.
  func noteWritten(_ bytes: UnsafeRawBufferPointer, at offset: Int) throws(EngineError) {
    guard let source = bytes.baseAddress, bytes.count > 0 else { return }
    lock.lock()
    defer { lock.unlock() }
    let first = offset / Self.chunkBytes
    let last = (offset + bytes.count - 1) / Self.chunkBytes
    // The first chunk holds older bytes too; the ones after it hold nothing but what comes now.
    if offset % Self.chunkBytes != 0 { try fillLocked(first) }
    (memory.base + offset).copyMemory(from: source, byteCount: bytes.count)
    for chunk in first...last { marks[chunk].store(1, ordering: .releasing) }
  }
}
