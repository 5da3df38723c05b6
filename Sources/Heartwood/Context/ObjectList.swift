/// A list of distinct objects in insertion order. Insertion, lookup and removal take amortised constant time and need no
/// hashing, because each object stores its index.
///
/// The fixed order makes the bytes of a save depend only on what the program did.
///
/// - Invariant: An object is in at most one list of its context.
struct ObjectList: Sequence {
  /// Nil for a removed object.
  private var places: [ManagedObject?] = []
  private(set) var count = 0

  var isEmpty: Bool { count == 0 }

  func contains(_ object: ManagedObject) -> Bool { place(of: object) != nil }

  /// Appends an object unless the list already contains it.
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

  /// Checks that each object has its place, in debug builds.
  ///
  /// - Complexity: Linear in the number of objects.
  func checkInvariants() {
    assert(count == places.count { $0 != nil }, "the count of a list of changes is not that of its objects")
    assert(
      places.indices.allSatisfy { places[$0].map(place) ?? $0 == $0 },
      "an object is in a list of changes, and has its place in another one")
  }

  private func place(of object: ManagedObject) -> Int? {
    let place = Int(object.placeInChanges)
    return place < places.count && places[place] === object ? place : nil
  }

  /// Removes the gaps. Runs only if gaps outnumber objects, so its cost per removal is constant.
  private mutating func compact() {
    places.removeAll { $0 == nil }
    for (place, object) in places.enumerated() { object?.placeInChanges = UInt32(truncatingIfNeeded: place) }
  }
}
