import Observation

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

  /// Another buffer with the same values, and copies of the relationship states.
  func copy() -> PendingValues {
    let copy = PendingValues.make(slotCount: header.slotCount)
    copy.header = header
    copy.header.relationships = header.relationships.map { $0?.copy() }
    withUnsafeMutablePointerToElements { former in
      copy.withUnsafeMutablePointerToElements { $0.update(from: former, count: header.slotCount) }
    }
    return copy
  }

  // Each edit asks for these. They are read by pointer, as each access to `header` is checked for exclusivity.

  /// How often the object was edited; a save repeats `willSave` while it changes.
  var editCount: Int {
    get { withUnsafeMutablePointerToHeader { $0.pointee.editCount } }
    set { withUnsafeMutablePointerToHeader { $0.pointee.editCount = newValue } }
  }
  /// Whether there is a registrar.
  var isObserved: Bool { withUnsafeMutablePointerToHeader { $0.pointee.isObserved } }
  var hasEdits: Bool { withUnsafeMutablePointerToHeader { $0.pointee.editedCount > 0 } }
  var hasTransients: Bool { withUnsafeMutablePointerToHeader { !$0.pointee.transients.isEmpty } }
  var relationships: [RelationshipState?] { withUnsafeMutablePointerToHeader { $0.pointee.relationships } }

  /// The state of a to-many relationship; nil until it is used.
  func relationship(_ slot: Int) -> RelationshipState? {
    withUnsafeMutablePointerToHeader { header in
      header.pointee.relationships.isEmpty ? nil : header.pointee.relationships[slot]
    }
  }

  /// Whether some value is not in the row.
  var hidesRow: Bool { hasEdits || hasTransients }

  func edit(_ slot: Int) -> Value? { withUnsafeMutablePointerToElements { $0[slot] } }

  func setEdit(_ slot: Int, _ value: Value) {
    withUnsafeMutablePointers { header, elements in
      if elements[slot] == nil { header.pointee.editedCount += 1 }
      elements[slot] = value
      if !header.pointee.madeDefaults.isEmpty { header.pointee.madeDefaults.removeAll { $0 == slot } }
    }
  }

  func dropEdits() {
    guard hasEdits else { return }
    withUnsafeMutablePointers { header, elements in
      elements.update(repeating: nil, count: header.pointee.slotCount)
      header.pointee.editedCount = 0
      header.pointee.conflictBase = nil
      header.pointee.madeDefaults = []
    }
  }

  /// Notes that the value of a slot is a default that was evaluated for the new object.
  func noteMadeDefault(_ slot: Int) {
    withUnsafeMutablePointerToHeader { header in
      if !header.pointee.madeDefaults.contains(slot) { header.pointee.madeDefaults.append(slot) }
    }
  }

  /// Drops one unsaved value.
  func dropEdit(_ slot: Int) {
    withUnsafeMutablePointers { header, elements in
      guard elements[slot] != nil else { return }
      elements[slot] = nil
      header.pointee.editedCount -= 1
      header.pointee.madeDefaults.removeAll { $0 == slot }
    }
  }
}

struct PendingValuesHeader {
  let slotCount: Int
  var editedCount = 0
  var editCount = 0
  /// The row that the unsaved values were made on, if another save has changed the same properties since and the object
  /// shows that save's other values: the next save meets the conflict.
  var conflictBase: StoredRow?
  /// The slots whose values are defaults that were evaluated for the new object, such as `UUID()`: the program has not set them.
  fileprivate(set) var madeDefaults: [Int] = []
  /// The object that this one has become one with; nil for an object that is still its context's.
  var united: UnitedObject?
  /// The values of transient attributes as of the last save, by slot; without those that were never set.
  var transients: [Int: Value] = [:]
  /// By slot; empty until a to-many relationship is used.
  var relationships: [RelationshipState?] = []
  /// The destinations of relationships while the object has no context, by slot.
  var detached: [Int: OrderedKeys<ManagedObject>] = [:]
  /// The properties between `willChangeValue` and `didChangeValue`.
  var changing: [ChangingValue] = []
  /// The results of fetched properties, by name.
  var fetched: [String: [ManagedObjectID]] = [:]
  /// Whom the Observation framework notifies of changes; nil for an object that was not observed.
  var registrar: ObservationRegistrar? { didSet { isObserved = registrar != nil } }
  /// To look at this takes less time.
  private(set) var isObserved = false

  init(slotCount: Int) { self.slotCount = slotCount }
}
