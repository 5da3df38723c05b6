/// A table from numbers to slots that never move and that the table owns. A lookup takes no lock.
final class SlotTable<Slot: ~Copyable>: @unchecked Sendable {
  private let table = NumberTable<Slot>()

  deinit {
    table.forEach { $0.free() }
  }

  /// The slot of a number; nil if the table does not contain it. Any thread.
  @inline(__always)
  subscript(number: UInt32) -> StableReference<Slot>? { table[number] }

  /// Adds a slot. One caller at a time, before any reference to it is published.
  func add(_ number: UInt32, _ slot: consuming Slot) {
    table.add(number, StableReference(slot))
  }

  /// Removes a slot that no reader can reach any more. Only the thread that adds.
  func remove(_ number: UInt32) {
    guard let slot = table[number] else { return }
    table.remove(number)
    slot.free()
  }
}
