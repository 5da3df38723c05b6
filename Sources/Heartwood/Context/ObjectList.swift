/// Objects in the order in which they came, each once; adding, finding and taking out are constant time and
/// hash nothing, as each object knows its place.
///
/// The order makes a save's bytes depend on what the program did and on nothing else.
///
/// - Invariant: an object is in one list of its context at most.
struct ObjectList: Sequence {
  /// Nil where an object was taken out.
  private var places: [ManagedObject?] = []
  private(set) var count = 0

  var isEmpty: Bool { count == 0 }

  func contains(_ object: ManagedObject) -> Bool { place(of: object) != nil }

  /// Puts an object at the end, unless it is there already.
  mutating func append(_ object: ManagedObject) {
    guard !contains(object) else { return }
    object.placeInChanges = UInt32(truncatingIfNeeded: places.count)
    places.append(object)
    count += 1
  }

  mutating func remove(_ object: ManagedObject) {
    guard let place = place(of: object) else { return }
    places[place] = nil
    count -= 1
    if places.count > 16 && count < places.count / 2 { compact() }
  }

  func makeIterator() -> some IteratorProtocol<ManagedObject> {
    places.lazy.compactMap { $0 }.makeIterator()
  }

  private func place(of object: ManagedObject) -> Int? {
    let place = Int(object.placeInChanges)
    return place < places.count && places[place] === object ? place : nil
  }

  /// Closes the gaps: there are as many of them as objects, so that each has paid for it by leaving.
  private mutating func compact() {
    places.removeAll { $0 == nil }
    for (place, object) in places.enumerated() { object?.placeInChanges = UInt32(truncatingIfNeeded: place) }
  }
}
