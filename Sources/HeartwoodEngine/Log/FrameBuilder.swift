import HeartwoodBytes

/// Builds a frame in one buffer, which grows and is reused. The frame's position in the log is known from the
/// start, so the positions of values are final when they are added.
final class FrameBuilder {
  // Only the writer uses it, one method at a time: checks for overlapping access would find nothing.
  @exclusivity(unchecked) private var memory = OwnedBytes(count: firstCapacity)
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
  }

  /// The bytes in use from an offset on, which is less than `count`.
  func bytes(from offset: Int) -> Bytes { memory.bytes.bytes(offset, count - offset) }

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
    guard memory.bytes.count > Self.keptCapacity else { return }
    memory = OwnedBytes(count: Self.firstCapacity)
    count = Format.frameHeaderBytes
  }

  /// Adds a record; returns its offset in the segment.
  @inline(__always)
  func append(operation: UInt64, key: UnsafeRawBufferPointer, value: UnsafeRawBufferPointer) -> Int {
    let needed = count &+ key.count &+ value.count &+ Record.overheadLimit &+ 16
    let target = memory.writable
    if needed > target.count {
      return appendGrowing(to: needed, operation: operation, key: key, value: value)
    }
    let offset = start &+ count
    let written = Record.write(
      to: target.bytes(from: count), operation: operation, key: key, value: value,
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
    var former = OwnedBytes(count: max(needed, memory.bytes.count * 2))
    former.writable.copy(memory.bytes.bytes(0, count), to: 0)
    swap(&former, &memory)
    // Key and value may be in the former memory, which is freed after this.
    defer { extendLifetime(former) }
    return append(operation: operation, key: key, value: value)
  }

  /// Completes the frame: padding, header, trailing checksum.
  func finish(_ fields: FrameHeader) -> (bytes: UnsafeRawBufferPointer, checksum: UInt64) {
    var header = fields
    header.payloadBytes = count - Format.frameHeaderBytes
    header.recordCount = recordCount
    let total = header.totalBytes
    let frame = memory.writable.bytes(0, total)
    var end = count
    while end < total - Format.frameTrailerBytes {
      frame.setField(end, UInt8(0))
      end += 1
    }
    let headerSum = header.encode(to: frame, seed: Checksums.seed(segmentSeed, at: start))
    let checksum = Checksums.mix(headerSum, joined)
    frame.setField(end, checksum)
    return (frame.bytes.buffer, checksum)
  }
}
