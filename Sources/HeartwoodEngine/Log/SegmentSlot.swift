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

/// Segment numbers to slots. Lookups are two loads; growing makes a new table and keeps the old ones,
/// so that a reader in the middle of a lookup is safe.
final class SegmentTable: @unchecked Sendable {
  typealias Entry = UnsafeMutablePointer<SegmentSlot>?
  private struct Tables {
    var entries: UnsafeMutablePointer<Entry>
    var count: Int
  }

  /// The address of the newest table; its first word is the count.
  private let newest: Atomic<UInt>
  /// All tables ever made, for `deinit`. Changed under the owner's lock.
  private var all: [Tables]
  private var owners: [LogSegment] = []

  init() {
    let first = Self.makeTable(count: 64)
    all = [first]
    newest = Atomic(UInt(bitPattern: first.entries))
  }

  deinit {
    for table in all { (table.entries - 1).deallocate() }
  }

  private static func makeTable(count: Int) -> Tables {
    let memory = UnsafeMutablePointer<Entry>.allocate(capacity: count + 1)
    memory.initialize(repeating: nil, count: count + 1)
    // The entry before the first holds the count, so that one atomic word publishes both.
    memory[0] = UnsafeMutablePointer(bitPattern: count)
    return Tables(entries: memory + 1, count: count)
  }

  /// The slot of a segment, nil where there is none. Any thread.
  @inline(__always)
  func slot(_ number: UInt32) -> UnsafeMutablePointer<SegmentSlot>? {
    // Acquiring pairs with the release in `add`: whoever sees the table sees its entries.
    guard let entries = UnsafeMutablePointer<Entry>(bitPattern: newest.load(ordering: .acquiring)) else {
      return nil
    }
    let count = UInt(bitPattern: (entries - 1).pointee)
    guard UInt(number) < count else { return nil }
    return entries[Int(number)]
  }

  /// Makes a segment known. One caller at a time.
  ///
  /// The entry is written in place where there is room: nobody reads it before a position in that
  /// segment has been published to them.
  func add(_ segment: LogSegment) {
    let number = Int(segment.number)
    owners.append(segment)
    if number < all[all.count - 1].count {
      all[all.count - 1].entries[number] = segment.slot
    } else {
      addToLargerTable(segment, number)
    }
  }

  /// Forgets a segment that no reader can come to any more. The one who adds.
  func remove(_ number: UInt32) {
    let table = all[all.count - 1]
    guard Int(number) < table.count else { return }
    table.entries[Int(number)] = nil
    owners.removeAll { $0.number == number }
  }

  private func addToLargerTable(_ segment: LogSegment, _ number: Int) {
    let table = all[all.count - 1]
    var count = table.count
    while count <= number { count *= 2 }
    let larger = Self.makeTable(count: count)
    for index in 0..<table.count { larger.entries[index] = table.entries[index] }
    larger.entries[number] = segment.slot
    all.append(larger)
    newest.store(UInt(bitPattern: larger.entries), ordering: .releasing)
  }
}
