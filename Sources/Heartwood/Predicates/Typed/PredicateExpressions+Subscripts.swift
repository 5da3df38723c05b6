import Foundation

extension PredicateExpressions.CollectionIndexSubscript: TranslatableExpression {
  package func part(in translation: PredicateTranslation) throws(HeartwoodError) -> PredicatePart {
    let place = try translation.value(index)
    switch try translation.value(wrapped).kind {
    case .value(.list(let values)):
      return .value(ConstantLookup.value(at: place, in: values.map { .value($0) }))
    case .list(let values): return .value(ConstantLookup.value(at: place, in: values))
    case .path(let path):
      guard case .value(.int(let place)) = place.kind else { break }
      return .value(.path(PropertyPath(path.scope, path.steps + [.item(.index(Int(clamping: place)))])))
    default: break
    }
    throw .predicate(
      "an index of a #Predicate is translated after a constant list, and as a constant after an ordered relationship"
    )
  }
}

extension PredicateExpressions.DictionaryKeySubscript: TranslatableExpression {
  package func part(in translation: PredicateTranslation) throws(HeartwoodError) -> PredicatePart {
    .value(
      ConstantLookup.value(
        at: try translation.value(key), in: try translation.entries(wrapped), otherwise: .value(.null)))
  }
}

extension PredicateExpressions.DictionaryKeyDefaultValueSubscript: TranslatableExpression {
  package func part(in translation: PredicateTranslation) throws(HeartwoodError) -> PredicatePart {
    .value(
      ConstantLookup.value(
        at: try translation.value(key), in: try translation.entries(wrapped),
        otherwise: try translation.value(`default`)))
  }
}

/// Dictionaries as constants.
protocol ConstantDictionary {
  func part(in translation: PredicateTranslation) throws(HeartwoodError) -> PredicatePart
}

extension Dictionary: ConstantDictionary {
  func part(in translation: PredicateTranslation) throws(HeartwoodError) -> PredicatePart {
    var entries: [ConstantEntry] = []
    for (key, value) in self {
      try translation.vocabulary?.checkEquality(of: Key.self, with: key)
      let (key, value) = (try translation.constant(key), try translation.constant(value))
      entries.append(
        ConstantEntry(key: try translation.value(of: key), value: try translation.value(of: value)))
    }
    return .dictionary(entries)
  }
}

extension PredicateTranslation {
  fileprivate func entries(_ dictionary: any PredicateExpression) throws(HeartwoodError) -> [ConstantEntry] {
    guard case .dictionary(let entries) = try part(dictionary) else {
      throw .predicate("a key of a #Predicate is translated only after a constant dictionary")
    }
    return entries
  }
}

/// Finds a constant by a key that is read from a row.
private enum ConstantLookup {
  /// The value at a place; nil for a place that the list does not have.
  static func value(at place: ConditionExpression, in values: [ConditionExpression]) -> ConditionExpression {
    let entries = values.enumerated().map {
      ConstantEntry(key: .value(.int(Int64($0.offset))), value: $0.element)
    }
    return value(at: place, in: entries, otherwise: .value(.null))
  }

  static func value(
    at key: ConditionExpression, in entries: [ConstantEntry], otherwise: ConditionExpression
  ) -> ConditionExpression {
    guard !entries.isEmpty else { return otherwise }
    return ConditionExpression(
      .conditional(isKey(key, of: entries[...]), choice(key, entries[...]), otherwise))
  }

  private static func isKey(_ key: ConditionExpression, of entries: ArraySlice<ConstantEntry>) -> Condition {
    .comparing(key, .isIn, ConditionExpression(list: entries.map(\.key)))
  }

  /// The value of one of the keys. Halved, so that the expression is as deep as the logarithm of their number.
  private static func choice(
    _ key: ConditionExpression, _ entries: ArraySlice<ConstantEntry>
  ) -> ConditionExpression {
    let middle = entries.startIndex + entries.count / 2
    guard middle > entries.startIndex else { return entries[entries.startIndex].value }
    let (first, second) = (entries[..<middle], entries[middle...])
    return ConditionExpression(.conditional(isKey(key, of: first), choice(key, first), choice(key, second)))
  }
}

extension PredicateTranslation {
  /// Whether a value is in a range.
  func isContained<Output>(
    _ element: any PredicateExpression<Output>, in range: PredicatePart
  ) throws(HeartwoodError) -> Condition {
    guard case .range(let lower, let upper, let isClosed) = range else { return .always(false) }
    try vocabulary?.checkOrder(of: Output.self)
    let value = try value(element)
    var bounds: [Condition] = []
    if let lower { bounds.append(.comparing(value, .greaterOrEqual, lower)) }
    if let upper { bounds.append(.comparing(value, isClosed ? .lessOrEqual : .less, upper)) }
    return .all(bounds)
  }
}
