import HeartwoodFiles
import Synchronization

/// An open file of the log, with its bytes in memory.
final class LogSegment: @unchecked Sendable {
  let header: SegmentHeader
  let seed: UInt64
  let file: any File
  let path: String
  let slot: StableReference<SegmentSlot>
  private let filler: ChunkFiller?
  private let map: (any FileMap)?
  /// Bytes of address space for the file's contents.
  let capacity: Int

  var number: UInt32 { header.number }

  /// The first generation that has values in it.
  var firstGeneration: UInt64 { header.firstPoint.generation &+ 1 }

  /// Wraps a file whose header was read.
  ///
  /// - Parameters:
  ///   - limit: Number of bytes that exist.
  ///   - capacity: Greatest number of bytes while the file is open.
  init(
    header: SegmentHeader, file: any File, path: String, limit: Int, capacity: Int,
    reading: EngineOptions.Reading
  ) throws(EngineError) {
    self.header = header
    self.seed = header.seed
    self.file = file
    self.path = path
    let room = try Self.reserve(file, path: path, limit: limit, capacity: capacity, reading: reading)
    (self.capacity, map, filler) = (room.bytes.count, room.map, room.filler)
    slot = StableReference(SegmentSlot(bytes: room.bytes, seed: seed, filler: filler, limit: limit))
  }

  // The file stays open while any reader may need it, such as a snapshot held after the store was closed.
  deinit {
    try? file.close()
    slot.free()
  }

  private typealias Room = (bytes: Bytes, map: (any FileMap)?, filler: ChunkFiller?)

  /// Reserves address space: less of it if the process has an address limit and the system refuses.
  private static func reserve(
    _ file: any File, path: String, limit: Int, capacity: Int, reading: EngineOptions.Reading
  ) throws(EngineError) -> Room {
    for smaller in [0, Format.valueLimit, Format.valueLimit + (60 << 20)] {
      let room = capacity - smaller
      guard room > limit else { break }
      do throws(EngineError) {
        return try reserve(file, path: path, room, reading)
      } catch {
        guard (error.underlying as? FileSystemError)?.code == .outOfMemory else { throw error }
      }
    }
    return try reserve(file, path: path, limit, reading)
  }

  private static func reserve(
    _ file: any File, path: String, _ capacity: Int, _ reading: EngineOptions.Reading
  ) throws(EngineError) -> Room {
    if reading == .mapped, let map = try map(file, length: capacity, path: path) {
      return (map.bytes.bytes(0, capacity), map, nil)
    }
    let filler = try ChunkFiller(file: file, path: path, capacity: capacity)
    return (filler.bytes, nil, filler)
  }

  private static func map(_ file: any File, length: Int, path: String) throws(EngineError) -> (any FileMap)? {
    do {
      return try file.map(length: length)
    } catch {
      if error.code == .unsupported { return nil }
      throw EngineError.reading(error, path: path, offset: 0)
    }
  }

  /// Number of readable bytes.
  var limit: Int { slot.value.limit.load(ordering: .acquiring) }

  /// `count` bytes at `offset`; nil if the segment is shorter.
  func bytes(at offset: Int, _ count: Int) throws(EngineError) -> Bytes? {
    guard offset >= 0, count >= 0, offset <= limit, count <= limit - offset else { return nil }
    try filler?.require(offset, count)
    return slot.value.bytes.bytes(offset, count)
  }

  /// Throws `.tooLarge` if bytes up to `end` do not fit into the reserved address space.
  func checkHasRoom(upTo end: Int) throws(EngineError) {
    guard end > capacity else { return }
    throw EngineError(.tooLarge, "the value does not fit: \(EngineError.tooFewAddresses)", file: path)
  }

  /// Makes the bytes from `offset` to `end` readable, which another process has written. The writer only.
  func extend(from offset: Int, to end: Int) throws(EngineError) {
    guard end > offset else { return }
    let size: Int64
    do {
      size = try file.size()
    } catch {
      throw EngineError.reading(error, path: path, offset: Int64(offset))
    }
    guard end <= capacity, Int64(end) <= size else {
      throw EngineError.damaged(
        "another process has written past the end of the file, or more than fits into the reserved addresses: use the same segment size in both",
        file: path, offset: end)
    }
    if let filler { try filler.readAgain(offset, end - offset) }
    raiseLimit(to: end)
  }

  /// Makes `count` bytes readable that were written at `offset` and are not in memory. The writer only.
  func publish(_ count: Int, at offset: Int) throws(EngineError) {
    try filler?.refresh(offset, count)
    raiseLimit(to: offset + count)
  }

  /// Makes bytes readable that were written at `offset`. The writer only.
  func publish(_ bytes: UnsafeRawBufferPointer, at offset: Int) throws(EngineError) {
    try filler?.noteWritten(bytes, at: offset)
    raiseLimit(to: offset + bytes.count)
  }

  @inline(__always)
  private func raiseLimit(to end: Int) {
    // Releasing: a reader that sees the new limit sees the bytes.
    if end > limit { slot.value.limit.store(end, ordering: .releasing) }
  }
}

extension SegmentTable {
  /// Adds a segment. One caller at a time, before a position in it is published.
  func add(_ segment: LogSegment) {
    add(segment.number, segment.slot, firstGeneration: segment.firstGeneration, owner: segment)
  }
}
