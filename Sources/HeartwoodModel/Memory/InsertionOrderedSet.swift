/// A set that iterates in insertion order. Insertion, lookup and removal take amortised constant time.
///
/// The fixed order makes the bytes of a save depend only on what the program did.
@usableFromInline package struct InsertionOrderedSet<Element: Hashable>: Sequence {
  /// Nil for a removed element.
  @usableFromInline var places: [Element?] = []
  @usableFromInline var placeOf: [Element: Int] = [:]

  @inlinable package var isEmpty: Bool { placeOf.isEmpty }
  @inlinable package var count: Int { placeOf.count }

  @inlinable package func contains(_ element: Element) -> Bool { placeOf[element] != nil }

  /// Appends an element unless the set already contains it.
  @inlinable package mutating func append(_ element: Element) {
    guard placeOf[element] == nil else { return }
    placeOf[element] = places.count
    places.append(element)
  }

  /// Removes an element. Returns whether the set contained it.
  @discardableResult
  @inlinable package mutating func remove(_ element: Element) -> Bool {
    guard let place = placeOf.removeValue(forKey: element) else { return false }
    places[place] = nil
    if places.count > 16 && placeOf.count < places.count / 2 { compact() }
    return true
  }

  @inlinable package func makeIterator() -> Iterator { Iterator(places: places.makeIterator()) }

  /// Passes over the gaps.
  @usableFromInline package struct Iterator: IteratorProtocol {
    @usableFromInline var places: IndexingIterator<[Element?]>

    @inlinable init(places: IndexingIterator<[Element?]>) { self.places = places }

    @inlinable package mutating func next() -> Element? {
      while let place = places.next() {
        if let element = place { return element }
      }
      return nil
    }
  }

  /// Removes the gaps. Runs only if gaps outnumber elements, so its cost per removal is constant.
  @inlinable mutating func compact() {
    places.removeAll { $0 == nil }
    for (place, element) in places.enumerated() { element.map { placeOf[$0] = place } }
  }
}

extension InsertionOrderedSet: ExpressibleByArrayLiteral {
  @inlinable package init(arrayLiteral elements: Element...) {
    for element in elements { append(element) }
  }
}
