import Synchronization

/// The part of a log segment that readers need to resolve a value's position: its bytes, and
/// the limit up to which they may be read. Readers take no lock: a slot never moves, and its limit only
/// grows.
struct SegmentSlot: ~Copyable {
  /// The addresses of the file's bytes, as many as it can come to have.
  let bytes: Bytes
  let seed: UInt64
  /// Set if the bytes are read on first access instead of mapped.
  let filler: UnownedReference<ChunkFiller>?
  /// Stored after the bytes below it are in place and before any position refers to them.
  let limit: Atomic<Int>

  init(bytes: Bytes, seed: UInt64, filler: ChunkFiller?, limit: Int) {
    self.bytes = bytes
    self.seed = seed
    self.filler = filler.map { UnownedReference($0) }
    self.limit = Atomic(limit)
  }

  /// The readable bytes from a record's offset on; nil if there are fewer than a record has.
  @inline(__always)
  func recordBytes(at offset: Int) -> Bytes? {
    let available = limit.load(ordering: .acquiring) &- offset
    return available >= 10 ? bytes.bytes(offset, available) : nil
  }
}

/// A table from segment numbers to slots and the owners of their bytes.
final class SegmentTable: @unchecked Sendable {
  private let table = NumberTable<SegmentSlot>()
  /// Whether values may be compressed, so that readers need memory for them.
  let hasCompressedValues = Atomic(false)
  /// Compressed values of readers that do not keep them themselves.
  let decompressed = DecompressedValues()
  private var owners: [(number: UInt32, firstGeneration: UInt64, owner: AnyObject)] = []

  /// The slot of a segment; nil if the table does not contain it. Any thread.
  @inline(__always)
  func slot(_ number: UInt32) -> StableReference<SegmentSlot>? { table[number] }

  /// The slots of all current segments, for callers that look up many. Valid while this object exists.
  @inline(__always)
  var known: NumberTable<SegmentSlot>.Known { table.known }

  /// Adds a segment. One caller at a time, before a position in it is published.
  ///
  /// - Parameters:
  ///   - firstGeneration: The first generation that can refer to a position in it.
  ///   - owner: Keeps the slot and the bytes.
  func add(
    _ number: UInt32, _ slot: StableReference<SegmentSlot>, firstGeneration: UInt64, owner: AnyObject
  ) {
    owners.append((number, firstGeneration, owner))
    table.add(number, slot)
  }

  /// The first generation that can refer to a position in a segment. Only the thread that adds.
  func firstGeneration(of number: UInt32) -> UInt64 {
    owners.first { $0.number == number }?.firstGeneration ?? 0
  }

  /// The owner of a segment; nil if the table does not contain it. Only the thread that adds.
  func owner(of number: UInt32) -> AnyObject? { owners.first { $0.number == number }?.owner }

  /// Removes a segment that no reader can reach any more. Only the thread that adds.
  ///
  /// - Returns: The owner, which keeps the bytes.
  func remove(_ number: UInt32) -> AnyObject? {
    guard let index = owners.firstIndex(where: { $0.number == number }) else { return nil }
    table.remove(number)
    return owners.remove(at: index).owner
  }
}
