/// A part of a predicate that must hold, in a form that an index may serve.
///
/// Each form is equivalent to its part, so rows found by it need no further test of that part; those of `all` that are
/// `other` do. All values are of the column's own kind.
package indirect enum Conjunct {
  /// The property has this value: null for a missing one, an identifier for a to-one relationship.
  case equal(slot: Int, value: Value)
  /// The property has a value between the bounds, of which there is at least one.
  case range(slot: Int, lower: IndexBound?, upper: IndexBound?)
  /// The property has a value.
  case present(slot: Int)
  /// The string begins with this one; compared in composed form.
  case prefix(slot: Int, String)
  /// The text has this word, or one that begins with it: folded, and no longer than an index keeps words.
  case word(slot: Int, String, isPrefix: Bool)
  /// The property has one of these values, which may include null.
  case isIn(slot: Int, [Value])
  /// The object is one of those with these keys.
  case identity([UInt64])
  /// The destination of a to-one relationship exists and satisfies a conjunct of its own.
  case throughToOne(slot: Int, Conjunct)
  /// Any destination of a to-many relationship satisfies a conjunct of its own.
  case throughToMany(slot: Int, Conjunct)
  /// The object with the key is a destination of a to-many relationship.
  case containsDestination(slot: Int, key: UInt64)
  /// All of these hold.
  case all([Conjunct])
  /// At least one of these holds.
  case any([Conjunct])
  /// The part is true or false for every object.
  case constant(Bool)
  /// Only a test of the row decides.
  case other

  /// The form of a comparison with a value of the column's own kind; `other` for one that has none.
  static func comparison(_ slot: Int, _ comparator: ComparisonOperator, _ value: Value) -> Conjunct {
    let bound = { (isInclusive: Bool) in IndexBound(value: value, isInclusive: isInclusive) }
    return switch comparator {
    case .equal: .equal(slot: slot, value: value)
    case .less: .range(slot: slot, lower: nil, upper: bound(false))
    case .lessOrEqual: .range(slot: slot, lower: nil, upper: bound(true))
    case .greater: .range(slot: slot, lower: bound(false), upper: nil)
    case .greaterOrEqual: .range(slot: slot, lower: bound(true), upper: nil)
    default: .other
    }
  }

  /// The conjuncts that must all hold.
  package var parts: [Conjunct] {
    guard case .all(let parts) = self else { return [self] }
    return parts
  }

  var isOther: Bool {
    if case .other = self { return true }
    return false
  }

  /// The form of the opposite; `other` for one that has none.
  var negation: Conjunct {
    switch self {
    case .equal(let slot, .bool(let value)): .isIn(slot: slot, [.bool(!value), .null])
    case .equal(let slot, .null): .present(slot: slot)
    case .present(let slot): .equal(slot: slot, value: .null)
    case .constant(let value): .constant(!value)
    default: .other
    }
  }

  /// Conjuncts joined by AND.
  static func conjunction(_ parts: [Conjunct]) -> Conjunct {
    parts.allSatisfy(\.isOther) ? .other : .all(parts.flatMap(\.parts))
  }

  /// Conjuncts joined by OR: equalities of one property are one membership.
  static func disjunction(_ parts: [Conjunct]) -> Conjunct {
    if parts.contains(where: \.isOther) { return .other }
    let whole = membership(parts)
    if !whole.isOther { return whole }
    var isAlways = false
    let possible = parts.filter { part in
      guard case .constant(let value) = part else { return true }
      if value { isAlways = true }
      return false
    }
    return isAlways ? .other : .any(possible)
  }

  /// The words that a text must have to satisfy a query.
  static func words(_ node: WordQuery.Node, slot: Int) -> Conjunct {
    switch node {
    case .not: .other
    case .all(let parts): conjunction(parts.map { words($0, slot: slot) })
    case .any(let parts): disjunction(parts.map { words($0, slot: slot) })
    case .phrase(let phrase): words(phrase, slot: slot)
    }
  }

  private static func words(_ phrase: WordQuery.Phrase, slot: Int) -> Conjunct {
    var parts: [Conjunct] = []
    var isWhole = phrase.words.count == 1
    for (place, word) in phrase.words.enumerated() {
      let cut = TextWords.cut(word[...])
      // An index has no more of a long word.
      if cut.count < word.count { isWhole = false }
      let isPrefix = phrase.isPrefix && place == phrase.words.count - 1
      parts.append(.word(slot: slot, String(decoding: cut, as: UTF8.self), isPrefix: isPrefix))
    }
    if isWhole { return parts[0] }
    // The row decides whether the words are in this order.
    return .all(parts + [.other])
  }
}

/// One end of a range of values.
package struct IndexBound: Sendable {
  package var value: Value
  package var isInclusive: Bool

  package init(value: Value, isInclusive: Bool) {
    self.value = value
    self.isInclusive = isInclusive
  }
}
