/// A request's conditions on single properties.
///
/// Lookup is a linear search: requests have few conditions.
struct SlotConditions {
  let conjuncts: [Conjunct]

  init(_ conjuncts: [Conjunct]) { self.conjuncts = conjuncts }

  /// The range of an index that the conditions restrict it to, and the conjuncts that all of its rows satisfy.
  ///
  /// - Parameter elements: How many of the index's first elements to leave out; the range is then that of the others.
  func range(on index: StoreIndex, after elements: Int = 0) -> (range: IndexRange, consumed: Set<Int>) {
    var range = IndexRange()
    var consumed: Set<Int> = []
    for slot in index.slots.dropFirst(elements) {
      if let (number, value) = equality(slot) {
        range.equal.append(value)
        consumed.insert(number)
        continue
      }
      consumed.formUnion(narrow(&range, slot))
      break
    }
    return (range, consumed)
  }

  /// The first list of values for a property, ascending and without duplicates, with its conjunct's index.
  func list(_ slot: Int) -> (number: Int, values: [Value])? {
    for (number, conjunct) in conjuncts.enumerated() {
      if case .isIn(slot, let values) = conjunct { return (number, Self.ascending(values)) }
    }
    return nil
  }

  /// The first value that a property must equal, with its conjunct's index.
  func equality(_ slot: Int) -> (number: Int, value: Value)? {
    for (number, conjunct) in conjuncts.enumerated() {
      if case .equal(slot, let value) = conjunct { return (number, value) }
    }
    return nil
  }

  /// The bounds of a number, or nil if there are none, with the conjuncts that give them.
  func bounds(_ slot: Int) -> (range: IndexRange, consumed: Set<Int>)? {
    if let (number, value) = equality(slot) {
      guard !value.isNull else { return nil }
      let bound = IndexBound(value: value, isInclusive: true)
      return (IndexRange(lower: bound, upper: bound), [number])
    }
    var range = IndexRange()
    let consumed = narrow(&range, slot)
    return range.lower == nil && range.upper == nil ? nil : (range, consumed)
  }

  /// Adds all bounds on a property to the range; if there are none, its first prefix.
  private func narrow(_ range: inout IndexRange, _ slot: Int) -> Set<Int> {
    var numbers: Set<Int> = []
    for (number, conjunct) in conjuncts.enumerated() {
      guard case .range(slot, let lower, let upper) = conjunct else { continue }
      range.raise(to: lower)
      range.cut(at: upper)
      numbers.insert(number)
    }
    for (number, conjunct) in conjuncts.enumerated() {
      guard case .present(slot) = conjunct else { continue }
      range.isPresent = true
      numbers.insert(number)
    }
    guard range.lower == nil, range.upper == nil else { return numbers }
    for (number, conjunct) in conjuncts.enumerated() {
      guard case .prefix(slot, let text) = conjunct else { continue }
      range.prefix = text
      return numbers.union([number])
    }
    return numbers
  }

  private static func ascending(_ values: [Value]) -> [Value] {
    Set(values).sorted { (Value.compare($0, $1) ?? 0) < 0 }
  }
}
