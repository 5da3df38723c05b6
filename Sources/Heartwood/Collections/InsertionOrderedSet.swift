/// A set that iterates in insertion order. Insertion, lookup and removal take amortised constant time.
///
/// The fixed order makes the bytes of a save depend only on what the program did.
struct InsertionOrderedSet<Element: Hashable>: Sequence {
  /// Nil for a removed element that was not the last.
  private var places: [Element?] = []
  private var placeOf: [Element: Int] = [:]

  var isEmpty: Bool { placeOf.isEmpty }
  var count: Int { placeOf.count }

  /// The element that was inserted last.
  var last: Element? { places.last ?? nil }

  func contains(_ element: Element) -> Bool { placeOf[element] != nil }

  /// Appends an element unless the set already contains it.
  mutating func append(_ element: Element) {
    guard placeOf[element] == nil else { return }
    placeOf[element] = places.count
    places.append(element)
  }

  /// Removes an element. Returns whether the set contained it.
  @discardableResult
  mutating func remove(_ element: Element) -> Bool {
    guard let place = placeOf.removeValue(forKey: element) else { return false }
    places[place] = nil
    while places.last == .some(nil) { places.removeLast() }
    if places.count > 16 && placeOf.count < places.count / 2 { compact() }
    return true
  }

  /// Puts another element, which the set does not contain, in the place of one. Returns whether the set contained it.
  mutating func replace(_ element: Element, by other: Element) -> Bool {
    guard let place = placeOf.removeValue(forKey: element) else { return false }
    placeOf[other] = place
    places[place] = other
    return true
  }

  func makeIterator() -> some IteratorProtocol<Element> {
    places.lazy.compactMap { $0 }.makeIterator()
  }

  /// Removes the gaps. Runs only if gaps outnumber elements, so its cost per removal is constant.
  private mutating func compact() {
    places.removeAll { $0 == nil }
    for (place, element) in places.enumerated() { element.map { placeOf[$0] = place } }
  }
}

extension InsertionOrderedSet: ExpressibleByArrayLiteral {
  init(arrayLiteral elements: Element...) {
    for element in elements { append(element) }
  }
}
