/// The changed objects of a context: each in the order in which it was changed first.
struct PendingChanges {
  var inserted = ObjectList()
  var updated = ObjectList()
  var deleted = ObjectList()

  var isEmpty: Bool { inserted.isEmpty && updated.isEmpty && deleted.isEmpty }
}

/// Objects in the order in which they came, each once; taking one out is constant time.
///
/// The order makes a save's bytes depend on what the program did and on nothing else.
struct ObjectList: Sequence {
  private var objects: [ManagedObject?] = []
  private var places: [ObjectIdentifier: Int] = [:]

  var isEmpty: Bool { places.isEmpty }
  var count: Int { places.count }
  var asSet: Set<ManagedObject> { Set(self) }

  func contains(_ object: ManagedObject) -> Bool { places[ObjectIdentifier(object)] != nil }

  mutating func append(_ object: ManagedObject) {
    guard places.updateValue(objects.count, forKey: ObjectIdentifier(object)) == nil else {
      preconditionFailure("an object was noted twice in one list of changes")
    }
    objects.append(object)
  }

  mutating func remove(_ object: ManagedObject) {
    guard let place = places.removeValue(forKey: ObjectIdentifier(object)) else { return }
    objects[place] = nil
    if places.isEmpty { objects = [] }
  }

  mutating func removeAll() {
    objects = []
    places = [:]
  }

  func makeIterator() -> some IteratorProtocol<ManagedObject> {
    objects.lazy.compactMap { $0 }.makeIterator()
  }
}
