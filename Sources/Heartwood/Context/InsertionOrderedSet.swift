/// Elements in the order in which they came, each once; adding, finding and taking out are constant time.
///
/// The order makes a save's bytes depend on what the program did and on nothing else.
struct InsertionOrderedSet<Element: Hashable>: Sequence {
  /// Nil where an element was taken out.
  private var places: [Element?] = []
  private var placeOf: [Element: Int] = [:]

  var isEmpty: Bool { placeOf.isEmpty }

  func contains(_ element: Element) -> Bool { placeOf[element] != nil }

  /// Puts an element at the end, unless it is there already.
  mutating func append(_ element: Element) {
    guard placeOf[element] == nil else { return }
    placeOf[element] = places.count
    places.append(element)
  }

  /// Takes an element out and says whether it was there.
  @discardableResult
  mutating func remove(_ element: Element) -> Bool {
    guard let place = placeOf.removeValue(forKey: element) else { return false }
    places[place] = nil
    if places.count > 16 && placeOf.count < places.count / 2 { compact() }
    return true
  }

  func makeIterator() -> some IteratorProtocol<Element> {
    places.lazy.compactMap { $0 }.makeIterator()
  }

  /// Closes the gaps: there are as many of them as elements, so that each has paid for it by leaving.
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
