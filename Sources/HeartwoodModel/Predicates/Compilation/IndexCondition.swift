/// Which rows a partial index has: a condition of the row alone.
///
/// Unchecked: a compiled predicate never changes.
package struct IndexCondition: @unchecked Sendable {
  /// The condition in the language of `FormatPredicate`, in one form for all ways to write it.
  package let text: String
  /// The columns that it reads.
  package let columns: [Column]
  private let predicate: CompiledPredicate
  /// The parts that must all hold, with what conditions of requests are compared with.
  private let parts: [(text: String, conjuncts: [Conjunct])]

  /// - Throws: `.invalidPredicate` if it is no condition, or depends on more than the row.
  package init(_ text: String, of entity: EntityDescription) throws(HeartwoodError) {
    let condition = try FormatPredicate(text).condition
    self.text = condition.description
    predicate = try CompiledPredicate(condition, entity: entity)
    if let composite = predicate.usedComposite {
      throw .predicate(
        "it asks whether \(composite), a composite value, is there, which an index does not keep: compare an element of it"
      )
    }
    guard !predicate.readsOtherRows, let slots = predicate.usedSlots else {
      throw .predicate("it reads more than attributes of the object itself and its to-one relationships")
    }
    var parts: [(String, [Conjunct])] = []
    for part in condition.joined {
      let conjuncts = try CompiledPredicate(part, entity: entity).conjuncts
      guard !conjuncts.contains(where: \.isOfIdentity) else {
        throw .predicate("it is about identifiers, which are no part of the row")
      }
      parts.append((part.description, conjuncts))
    }
    self.parts = parts
    for function in condition.functions { try function.requireLastingValue() }
    for slot in slots {
      guard let attribute = entity.attribute(at: slot), attribute.mayBeOutsideRow else { continue }
      throw .predicate(
        "the values of \(attribute.name) may be stored outside the rows: do not allow external storage for it"
      )
    }
    columns = slots.sorted().map { entity.layout.columns[$0] }
  }

  /// Whether the index has a row.
  package func holds(for row: RowView) -> Bool {
    // Only other rows cannot be read, and the condition reads none.
    (try? predicate.matches(row, key: 0, in: NoRows.shared)) ?? false
  }

  /// Whether the condition is true of each row of which conjuncts are.
  ///
  /// - Parameter whole: The condition of which the conjuncts are, whose other parts are compared as they are written; nil if there are others.
  /// - Returns: The numbers of the conjuncts that say no more than the condition; nil if it does not follow.
  package func consequence(of conjuncts: [Conjunct], _ whole: Condition?) -> Set<Int>? {
    // Made only for what the forms do not show: this is asked for each plan.
    lazy var written = Set(whole?.joined.map(\.description) ?? [])
    var same: Set<Int> = []
    for (text, wanted) in parts {
      for part in wanted {
        guard conjuncts.contains(where: { $0.implies(part) }) || written.contains(text) else { return nil }
        for (number, conjunct) in conjuncts.enumerated()
        where conjunct.implies(part) && part.implies(conjunct) {
          same.insert(number)
        }
      }
    }
    return same
  }
}

extension Condition {
  /// The parts that must all hold.
  fileprivate var joined: [Condition] {
    guard case .and(let parts) = node else { return [self] }
    return parts.flatMap(\.joined)
  }

  /// The functions that are called anywhere in it.
  fileprivate var functions: [ConditionFunction] {
    var found: [ConditionFunction] = []
    _ = rewritten { expression in
      if case .function(let function, _) = expression.kind { found.append(function) }
      return expression
    }
    return found
  }
}

extension Conjunct {
  fileprivate var isOfIdentity: Bool {
    switch self {
    case .identity: true
    case .any(let parts), .all(let parts): parts.contains(where: \.isOfIdentity)
    default: false
    }
  }

  /// Whether another conjunct is true of each row of which this one is. False where that is not seen.
  func implies(_ other: Conjunct) -> Bool {
    switch (self, other) {
    case (_, .constant(true)): return true
    case (.any(let parts), _): return !parts.isEmpty && parts.allSatisfy { $0.implies(other) }
    case (_, .all(let parts)): return parts.allSatisfy { implies($0) }
    case (.all(let parts), _): return parts.contains { $0.implies(other) }
    case (_, .any(let parts)): return parts.contains { implies($0) }
    case (.equal(let slot, let value), _): return other.holds(for: value, at: slot)
    case (.isIn(let slot, let values), _):
      return !values.isEmpty && values.allSatisfy { other.holds(for: $0, at: slot) }
    case (.range(let slot, let lower, let upper), .range(let otherSlot, let otherLower, let otherUpper)):
      return slot == otherSlot && IndexBound.isInside(lower, otherLower, order: 1)
        && IndexBound.isInside(upper, otherUpper, order: -1)
    case (.prefix(let slot, let text), .prefix(let otherSlot, let otherText)):
      return slot == otherSlot && text.utf8.elementsEqual(otherText.utf8)
    case (.range(let slot, _, _), .present(let otherSlot)), (.prefix(let slot, _), .present(let otherSlot)),
      (.present(let slot), .present(let otherSlot)):
      return slot == otherSlot
    default: return false
    }
  }

  /// Whether the conjunct is true where a property has a value.
  private func holds(for value: Value, at slot: Int) -> Bool {
    switch self {
    case .equal(slot, let other): value == other
    case .isIn(slot, let others): others.contains(value)
    case .present(slot): !value.isNull
    case .range(slot, let lower, let upper):
      !value.isNull && (lower.map { $0.allows(value, order: 1) } ?? true)
        && (upper.map { $0.allows(value, order: -1) } ?? true)
    default: false
    }
  }
}

extension IndexBound {
  /// Whether a value is on the right side of the bound: behind a lower one, with order 1, or before an upper one, with order −1.
  fileprivate func allows(_ other: Value, order: Int) -> Bool {
    guard let found = Value.compare(other, value) else { return false }
    return found == 0 ? isInclusive : (found < 0) == (order < 0)
  }

  /// Whether a bound of a range leaves out at least what another one does.
  fileprivate static func isInside(_ bound: IndexBound?, _ other: IndexBound?, order: Int) -> Bool {
    guard let other else { return true }
    guard let bound, let found = Value.compare(bound.value, other.value) else { return false }
    return found == 0 ? other.isInclusive || !bound.isInclusive : (found < 0) == (order < 0)
  }
}
