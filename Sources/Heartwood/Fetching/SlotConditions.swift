/// A request's conditions on single properties.
///
/// Requests have few, so that looking through all of them is cheaper than any table.
struct SlotConditions {
  let conjuncts: [Conjunct]

  init(_ conjuncts: [Conjunct]) { self.conjuncts = conjuncts }

  /// The part of an index in which the conditions can hold, and the conjuncts that hold for all of it.
  func range(on index: StoreIndex) -> (range: IndexRange, consumed: Set<Int>) {
    var range = IndexRange()
    var consumed: Set<Int> = []
    for slot in index.slots {
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

  /// The first list of values for a property, ascending and each once, with its conjunct's number.
  func list(_ slot: Int) -> (number: Int, values: [Value])? {
    for (number, conjunct) in conjuncts.enumerated() {
      if case .isIn(slot, let values) = conjunct { return (number, Self.ascending(values)) }
    }
    return nil
  }

  /// The first value that a property has to have, with its conjunct's number.
  func equality(_ slot: Int) -> (number: Int, value: Value)? {
    for (number, conjunct) in conjuncts.enumerated() {
      if case .equal(slot, let value) = conjunct { return (number, value) }
    }
    return nil
  }

  /// Takes all bounds on a property into the range, or else one prefix.
  private func narrow(_ range: inout IndexRange, _ slot: Int) -> Set<Int> {
    var numbers: Set<Int> = []
    for (number, conjunct) in conjuncts.enumerated() {
      guard case .range(slot, let lower, let upper) = conjunct else { continue }
      range.raise(to: lower)
      range.cut(at: upper)
      numbers.insert(number)
    }
    guard numbers.isEmpty else { return numbers }
    for (number, conjunct) in conjuncts.enumerated() {
      guard case .prefix(slot, let text) = conjunct else { continue }
      range.prefix = text
      return [number]
    }
    return []
  }

  private static func ascending(_ values: [Value]) -> [Value] {
    Set(values).sorted { (Value.compare($0, $1) ?? 0) < 0 }
  }
}
