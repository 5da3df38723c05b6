import Synchronization

/// What a reader needs of one log segment to follow a value's position: where its bytes are in memory
/// and up to where they may be read. Readers take no lock: a slot never moves, and its limit only grows.
struct SegmentSlot: ~Copyable {
  let base: UnsafeRawPointer
  let seed: UInt64
  /// Set where the bytes come by reading at first touch instead of a map.
  let filler: Unmanaged<ChunkFiller>?
  /// Stored after the bytes below it are in place and before anything refers to them.
  let limit: Atomic<Int>

  init(base: UnsafeRawPointer, seed: UInt64, filler: ChunkFiller?, limit: Int) {
    self.base = base
    self.seed = seed
    self.filler = filler.map(Unmanaged.passUnretained)
    self.limit = Atomic(limit)
  }
}

/// Segment numbers to slots, and the segments that they are of.
final class SegmentTable: @unchecked Sendable {
  private let table = NumberTable<SegmentSlot>()
  private var owners: [LogSegment] = []

  /// The slot of a segment, nil where there is none. Any thread.
  @inline(__always)
  func slot(_ number: UInt32) -> UnsafeMutablePointer<SegmentSlot>? { table[number] }

  /// The slots of all segments that are known now, for who looks many up. As long as this is there.
  @inline(__always)
  var known: NumberTable<SegmentSlot>.Known { table.known }

  /// Makes a segment known. One caller at a time, and before a position in it is published.
  func add(_ segment: LogSegment) {
    owners.append(segment)
    table.add(segment.number, segment.slot)
  }

  /// Forgets a segment that no reader can come to any more. The one who adds.
  ///
  /// - Returns: what keeps its bytes.
  func remove(_ number: UInt32) -> LogSegment? {
    guard let index = owners.firstIndex(where: { $0.number == number }) else { return nil }
    table.remove(number)
    return owners.remove(at: index)
  }
}
