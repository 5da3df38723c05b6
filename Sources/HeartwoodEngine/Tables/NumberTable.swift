import Synchronization

/// A hash table from segment numbers to addresses in memory. Its size depends on how many numbers there are,
/// not on how large they are. A lookup takes no lock. Growing makes a new table and keeps the old ones, so
/// that a reader in the middle of a lookup is safe.
///
/// The index of a number is its lowest bits, or the next free index: consecutive numbers do not collide.
final class NumberTable<Value: ~Copyable>: @unchecked Sendable {
  /// A table: the index mask, and then per index the number, 0 if free, and the address, 0 if removed.
  fileprivate typealias Words = UnsafeMutablePointer<Atomic<UInt>>

  private struct Table {
    let words: Words
    let count: Int
  }

  /// Address of the newest table.
  private let newest: Atomic<UInt>
  /// All tables ever made. Only the thread that adds uses it.
  private var tables: [Table]
  /// Number of used indexes of the newest table.
  private var used = 0

  private static var firstCount: Int { 64 }

  init() {
    let first = Self.makeTable(count: Self.firstCount)
    tables = [first]
    newest = Atomic(UInt(bitPattern: first.words))
  }

  deinit {
    for table in tables {
      table.words.deinitialize(count: 1 + 2 * table.count)
      table.words.deallocate()
    }
  }

  private static func makeTable(count: Int) -> Table {
    let words = Words.allocate(capacity: 1 + 2 * count)
    (words).initialize(to: Atomic(UInt(count - 1)))
    for index in 1...(2 * count) { (words + index).initialize(to: Atomic(0)) }
    return Table(words: words, count: count)
  }

  /// The address of a number; nil if the table does not contain it. Any thread.
  @inline(__always)
  subscript(number: UInt32) -> StableReference<Value>? { known[number] }

  /// The current table, for callers that look up many numbers. Valid while this object exists.
  @inline(__always)
  var known: Known {
    // Acquiring pairs with the release in `add`: a reader that sees a table or a number also sees its
    // content.
    Known(words: Words(bitPattern: newest.load(ordering: .acquiring)).unsafelyUnwrapped)
  }

  /// One table.
  struct Known {
    fileprivate let words: Words

    @inline(__always)
    subscript(number: UInt32) -> StableReference<Value>? {
      let mask = words.pointee.load(ordering: .relaxed)
      var place = UInt(number) & mask
      while true {
        let entry = words + Int(bitPattern: 1 &+ 2 &* place)
        let found = entry.pointee.load(ordering: .acquiring)
        if found == UInt(number) {
          return StableReference(address: (entry + 1).pointee.load(ordering: .acquiring))
        }
        // At least half of the indexes are free, so the loop ends.
        if found == 0 { return nil }
        place = (place &+ 1) & mask
      }
    }
  }

  /// Adds a number. One caller at a time, before any reference to the number is published.
  func add(_ number: UInt32, _ value: StableReference<Value>) {
    if 2 * (used + 1) > tables[tables.count - 1].count { grow() }
    put(UInt(number), value.address, in: tables[tables.count - 1])
  }

  private func put(_ number: UInt, _ address: UInt, in table: Table) {
    var place = Int(number) & (table.count - 1)
    while true {
      let entry = table.words + (1 + 2 * place)
      let found = entry.pointee.load(ordering: .relaxed)
      if found == 0 || found == number {
        (entry + 1).pointee.store(address, ordering: .releasing)
        if found == 0 { used += 1 }
        entry.pointee.store(number, ordering: .releasing)
        return
      }
      place = (place + 1) & (table.count - 1)
    }
  }

  /// Removes a number that no reader can reach any more. Only the thread that adds.
  func remove(_ number: UInt32) {
    for table in tables {
      for place in 0..<table.count {
        let entry = table.words + (1 + 2 * place)
        guard entry.pointee.load(ordering: .relaxed) == UInt(number) else { continue }
        (entry + 1).pointee.store(0, ordering: .releasing)
      }
    }
  }

  /// Calls `body` with every address. Only the thread that adds.
  func forEach(_ body: (StableReference<Value>) -> Void) {
    let table = tables[tables.count - 1]
    for place in 0..<table.count {
      let address = (table.words + (2 + 2 * place)).pointee.load(ordering: .relaxed)
      if let value = StableReference<Value>(address: address) { body(value) }
    }
  }

  private func grow() {
    let old = tables[tables.count - 1]
    let live = (0..<old.count).count { (old.words + (2 + 2 * $0)).pointee.load(ordering: .relaxed) != 0 }
    let larger = Self.makeTable(count: max(Self.firstCount, 4 * live).nextPowerOfTwo)
    used = 0
    for place in 0..<old.count {
      let address = (old.words + (2 + 2 * place)).pointee.load(ordering: .relaxed)
      guard address != 0 else { continue }
      put((old.words + (1 + 2 * place)).pointee.load(ordering: .relaxed), address, in: larger)
    }
    tables.append(larger)
    newest.store(UInt(bitPattern: larger.words), ordering: .releasing)
  }
}

extension Int {
  /// The smallest power of two that is not less than this positive number.
  fileprivate var nextPowerOfTwo: Int {
    self <= 1 ? 1 : 1 << (Int.bitWidth - (self - 1).leadingZeroBitCount)
  }
}
