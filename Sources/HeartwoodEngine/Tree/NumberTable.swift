import Synchronization

/// Numbers of segments to places in memory. What it takes depends on how many numbers there are, and not on how high they
/// are. A look-up takes no lock; growing makes a new table and keeps the old ones, so that a reader in the middle of
/// a look-up is safe.
///
/// A number's place is its lowest bits, or the next free one: numbers that follow one another never meet.
final class NumberTable<Value: ~Copyable>: @unchecked Sendable {
  /// A table: the mask of its places, and then for each place the number, 0 where it is free, and the address, 0 where it
  /// was taken out.
  fileprivate typealias Words = UnsafeMutablePointer<Atomic<UInt>>

  private struct Table {
    let words: Words
    let count: Int
  }

  /// The address of the newest table.
  private let newest: Atomic<UInt>
  /// All tables ever made. For the one who adds.
  private var tables: [Table]
  /// How many places of the newest table have a number.
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

  /// What a number stands for; nil for none. Any thread.
  @inline(__always)
  subscript(number: UInt32) -> UnsafeMutablePointer<Value>? { known[number] }

  /// All numbers that are known now, for who looks many up. As long as the table is there.
  @inline(__always)
  var known: Known {
    // Acquiring pairs with the release in `add`: whoever sees a table or a number sees what belongs to it.
    Known(words: Words(bitPattern: newest.load(ordering: .acquiring)).unsafelyUnwrapped)
  }

  /// One table of numbers.
  struct Known {
    fileprivate let words: Words

    @inline(__always)
    subscript(number: UInt32) -> UnsafeMutablePointer<Value>? {
      let mask = words.pointee.load(ordering: .relaxed)
      var place = UInt(number) & mask
      while true {
        let entry = words + Int(bitPattern: 1 &+ 2 &* place)
        let found = entry.pointee.load(ordering: .acquiring)
        if found == UInt(number) {
          return UnsafeMutablePointer(bitPattern: (entry + 1).pointee.load(ordering: .acquiring))
        }
        // At least half of the places are free.
        if found == 0 { return nil }
        place = (place &+ 1) & mask
      }
    }
  }

  /// Makes a number known. One caller at a time, and before anybody is told of it.
  func add(_ number: UInt32, _ value: UnsafeMutablePointer<Value>) {
    if 2 * (used + 1) > tables[tables.count - 1].count { grow() }
    put(UInt(number), UInt(bitPattern: value), in: tables[tables.count - 1])
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

  /// Forgets a number that nobody can come to any more. The one who adds.
  func remove(_ number: UInt32) {
    for table in tables {
      for place in 0..<table.count {
        let entry = table.words + (1 + 2 * place)
        guard entry.pointee.load(ordering: .relaxed) == UInt(number) else { continue }
        (entry + 1).pointee.store(0, ordering: .releasing)
      }
    }
  }

  /// Calls `body` with all that is known. The one who adds.
  func forEach(_ body: (UnsafeMutablePointer<Value>) -> Void) {
    let table = tables[tables.count - 1]
    for place in 0..<table.count {
      let address = (table.words + (2 + 2 * place)).pointee.load(ordering: .relaxed)
      if let value = UnsafeMutablePointer<Value>(bitPattern: address) { body(value) }
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
  /// The power of two that is not less; the number is positive.
  fileprivate var nextPowerOfTwo: Int {
    self <= 1 ? 1 : 1 << (Int.bitWidth - (self - 1).leadingZeroBitCount)
  }
}
