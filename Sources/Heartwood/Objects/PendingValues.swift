/// The pending values and relationship states of an object that was changed or whose relationships were used: one
/// allocation, with an optional pending value for every slot at its end.
final class PendingValues: ManagedBuffer<PendingValuesHeader, Value?> {
  static func make(slotCount: Int) -> PendingValues {
    let buffer = PendingValues.create(minimumCapacity: slotCount) { _ in
      PendingValuesHeader(slotCount: slotCount)
    }
    buffer.withUnsafeMutablePointerToElements { $0.initialize(repeating: nil, count: slotCount) }
    return unsafeDowncast(buffer, to: PendingValues.self)
  }

  deinit {
    _ = withUnsafeMutablePointers { header, elements in elements.deinitialize(count: header.pointee.slotCount)
    }
  }

  var hasEdits: Bool { header.editedCount > 0 }

  func edit(_ slot: Int) -> Value? { withUnsafeMutablePointerToElements { $0[slot] } }

  func setEdit(_ slot: Int, _ value: Value) {
    withUnsafeMutablePointers { header, elements in
      if elements[slot] == nil { header.pointee.editedCount += 1 }
      elements[slot] = value
    }
  }

  func dropEdits() {
    guard hasEdits else { return }
    withUnsafeMutablePointers { header, elements in
      elements.update(repeating: nil, count: header.pointee.slotCount)
      header.pointee.editedCount = 0
    }
  }
}

struct PendingValuesHeader {
  let slotCount: Int
  var editedCount = 0
  /// How often the object was edited; a save repeats `willSave` while it changes.
  var editCount = 0
  /// By slot; empty until a to-many relationship is used.
  var relationships: [RelationshipState?] = []

  init(slotCount: Int) { self.slotCount = slotCount }
}
