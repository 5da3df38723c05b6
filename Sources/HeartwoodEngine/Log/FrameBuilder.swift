import HeartwoodBytes

/// Builds a frame in one buffer, which grows and is reused. The frame's position in the log is known from the
/// start, so the positions of values are final when they are added.
final class FrameBuilder {
  private(set) var base: UnsafeMutableRawPointer
  private var capacity: Int
  /// Bytes in use, including the header.
  private(set) var count = Format.frameHeaderBytes
  /// Offset of the frame in its segment.
  private(set) var start = 0
  private(set) var recordCount: UInt32 = 0
  private var segmentSeed: UInt64 = 0
  /// The combined checksums of the records: no byte is hashed twice.
  private var joined: UInt64 = 0

  /// A frame with this many bytes is full; a larger value gets a frame of its own.
  let fullBytes: Int

  private static let firstCapacity = 64 << 10
  /// Bytes of the buffer that are kept between transactions.
  private static let keptCapacity = 32 << 20

  /// - Parameter fullBytes: A frame with this many bytes is full.
  init(fullBytes: Int = Format.frameBytes) {
    self.fullBytes = fullBytes
    capacity = Self.firstCapacity
    base = .allocate(byteCount: capacity, alignment: 16)
  }

  deinit { base.deallocate() }

  var isEmpty: Bool { recordCount == 0 }
  var isFull: Bool { count >= fullBytes }

  /// Begins a frame at `offset` of a segment.
  func begin(at offset: Int, segmentSeed: UInt64) {
    start = offset
    self.segmentSeed = segmentSeed
    count = Format.frameHeaderBytes
    recordCount = 0
    joined = 0
  }

  /// Frees the memory that a large transaction needed.
  func trim() {
    guard capacity > Self.keptCapacity else { return }
    base.deallocate()
    capacity = Self.firstCapacity
    base = .allocate(byteCount: capacity, alignment: 16)
    count = Format.frameHeaderBytes
  }

  /// Adds a record; returns its offset in the segment.
  @inline(__always)
  func append(operation: UInt64, key: UnsafeRawBufferPointer, value: UnsafeRawBufferPointer) -> Int {
    let needed = count &+ key.count &+ value.count &+ Record.overheadLimit &+ 16
    if needed > capacity { return appendGrowing(to: needed, operation: operation, key: key, value: value) }
    let offset = start &+ count
    let written = Record.write(
      to: base + count, operation: operation, key: key, value: value,
      seed: Checksums.seed(segmentSeed, at: offset))
    joined = Checksums.mix(joined, written.checksum)
    count &+= written.bytes
    recordCount &+= 1
    return offset
  }

  @inline(never)
  private func appendGrowing(
    to needed: Int, operation: UInt64, key: UnsafeRawBufferPointer, value: UnsafeRawBufferPointer
  ) -> Int {
    let larger = max(needed, capacity * 2)
    let memory = UnsafeMutableRawPointer.allocate(byteCount: larger, alignment: 16)
    memory.copyMemory(from: base, byteCount: count)
    // Key and value may be in the buffer that is being replaced.
    let former = base
    defer { former.deallocate() }
    base = memory
    capacity = larger
    return append(operation: operation, key: key, value: value)
  }

  /// Completes the frame: padding, header, trailing checksum.
  func finish(_ fields: FrameHeader) -> (bytes: UnsafeRawBufferPointer, checksum: UInt64) {
    var header = fields
    header.payloadBytes = count - Format.frameHeaderBytes
    header.recordCount = recordCount
    let total = header.totalBytes
    var end = count
    while end < total - Format.frameTrailerBytes {
      base.setField(end, UInt8(0))
      end += 1
    }
    let headerSum = header.encode(to: base, seed: Checksums.seed(segmentSeed, at: start))
    let checksum = Checksums.mix(headerSum, joined)
    base.setField(end, checksum)
    return (UnsafeRawBufferPointer(start: base, count: total), checksum)
  }
}
