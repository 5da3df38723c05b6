import Synchronization

/// The part of a log segment that readers need to resolve a value's position: the address of its bytes, and
/// the limit up to which they may be read. Readers take no lock: a slot never moves, and its limit only
/// grows.
struct SegmentSlot: ~Copyable {
  let base: UnsafeRawPointer
  let seed: UInt64
  /// Set if the bytes are read on first access instead of mapped.
  let filler: Unmanaged<ChunkFiller>?
  /// Stored after the bytes below it are in place and before any position refers to them.
  let limit: Atomic<Int>

  init(base: UnsafeRawPointer, seed: UInt64, filler: ChunkFiller?, limit: Int) {
    self.base = base
    self.seed = seed
    self.filler = filler.map(Unmanaged.passUnretained)
    self.limit = Atomic(limit)
  }
}

/// A table from segment numbers to slots and the owners of their bytes.
final class SegmentTable: @unchecked Sendable {
  private let table = NumberTable<SegmentSlot>()
  private var owners: [(number: UInt32, owner: AnyObject)] = []

  /// The slot of a segment; nil if the table does not contain it. Any thread.
  @inline(__always)
  func slot(_ number: UInt32) -> UnsafeMutablePointer<SegmentSlot>? { table[number] }

  /// The slots of all current segments, for callers that look up many. Valid while this object exists.
  @inline(__always)
  var known: NumberTable<SegmentSlot>.Known { table.known }

  /// Adds a segment. One caller at a time, before a position in it is published.
  ///
  /// - Parameter owner: Keeps the slot and the bytes.
  func add(_ number: UInt32, _ slot: UnsafeMutablePointer<SegmentSlot>, owner: AnyObject) {
    owners.append((number, owner))
    table.add(number, slot)
  }

  /// Removes a segment that no reader can reach any more. Only the thread that adds.
  ///
  /// - Returns: The owner, which keeps the bytes.
  func remove(_ number: UInt32) -> AnyObject? {
    guard let index = owners.firstIndex(where: { $0.number == number }) else { return nil }
    table.remove(number)
    return owners.remove(at: index).owner
  }
}
