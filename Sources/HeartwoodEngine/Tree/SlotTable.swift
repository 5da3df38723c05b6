/// Numbers to slots that never move, and are the table's own. A look-up takes no lock.
final class SlotTable<Slot: ~Copyable>: @unchecked Sendable {
  private let table = NumberTable<Slot>()

  deinit {
    table.forEach { slot in
      slot.deinitialize(count: 1)
      slot.deallocate()
    }
  }

  /// The slot of a number, nil where there is none. Any thread.
  @inline(__always)
  subscript(number: UInt32) -> UnsafeMutablePointer<Slot>? { table[number] }

  /// Makes a slot known. One caller at a time, and before anybody is told a reference to it.
  func add(_ number: UInt32, _ slot: consuming Slot) {
    let pointer = UnsafeMutablePointer<Slot>.allocate(capacity: 1)
    pointer.initialize(to: slot)
    table.add(number, pointer)
  }

  /// Forgets a slot that nobody can come to any more. The one who adds.
  func remove(_ number: UInt32) {
    guard let slot = table[number] else { return }
    table.remove(number)
    slot.deinitialize(count: 1)
    slot.deallocate()
  }
}
