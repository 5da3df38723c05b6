import Synchronization

/// Numbers to slots that never move. A look-up is two loads and takes no lock; growing makes a new
/// table and keeps the old ones, so that a reader in the middle of a look-up is safe.
final class SlotTable<Slot: ~Copyable>: @unchecked Sendable {
  private typealias Entry = UnsafeMutablePointer<Slot>?

  /// The address of the newest table's first entry; the entry before it holds the count, so that one
  /// atomic word publishes both.
  private let newest: Atomic<UInt>
  /// All tables ever made, with how many entries they have. For the one who adds.
  private var tables: [(entries: UnsafeMutablePointer<Entry>, count: Int)]

  init() {
    let entries = Self.makeTable(count: 64)
    tables = [(entries, 64)]
    newest = Atomic(UInt(bitPattern: entries))
  }

  deinit {
    let last = tables[tables.count - 1]
    for index in 0..<last.count {
      guard let slot = last.entries[index] else { continue }
      slot.deinitialize(count: 1)
      slot.deallocate()
    }
    for table in tables { (table.entries - 1).deallocate() }
  }

  private static func makeTable(count: Int) -> UnsafeMutablePointer<Entry> {
    let memory = UnsafeMutablePointer<Entry>.allocate(capacity: count + 1)
    memory.initialize(repeating: nil, count: count + 1)
    memory[0] = UnsafeMutablePointer(bitPattern: count)
    return memory + 1
  }

  /// The slot of a number, nil where there is none. Any thread.
  @inline(__always)
  subscript(number: UInt32) -> UnsafeMutablePointer<Slot>? {
    // Acquiring pairs with the release in `add`: whoever sees a table sees its entries.
    guard let entries = UnsafeMutablePointer<Entry>(bitPattern: newest.load(ordering: .acquiring)) else {
      return nil
    }
    guard UInt(number) < UInt(bitPattern: (entries - 1).pointee) else { return nil }
    return entries[Int(number)]
  }

  /// Makes a slot known. One caller at a time, and before anybody is told a reference to it.
  func add(_ number: UInt32, _ slot: consuming Slot) {
    let pointer = UnsafeMutablePointer<Slot>.allocate(capacity: 1)
    pointer.initialize(to: slot)
    if Int(number) >= tables[tables.count - 1].count { grow(toHold: Int(number)) }
    tables[tables.count - 1].entries[Int(number)] = pointer
  }

  /// Forgets a slot that nobody can come to any more. The one who adds.
  func remove(_ number: UInt32) {
    let table = tables[tables.count - 1]
    guard Int(number) < table.count, let slot = table.entries[Int(number)] else { return }
    for table in tables where Int(number) < table.count { table.entries[Int(number)] = nil }
    slot.deinitialize(count: 1)
    slot.deallocate()
  }

  private func grow(toHold number: Int) {
    let old = tables[tables.count - 1]
    var count = old.count
    while count <= number { count *= 2 }
    let entries = Self.makeTable(count: count)
    for index in 0..<old.count { entries[index] = old.entries[index] }
    tables.append((entries, count))
    newest.store(UInt(bitPattern: entries), ordering: .releasing)
  }
}
