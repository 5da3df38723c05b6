/// A run of an index: fixed values for its leading elements, and at most one condition on the next.
///
/// - Invariant: Values have the kind of their element's column.
struct IndexRange: Sendable {
  /// Values of the leading elements; `.null` for entries without a value.
  var equal: [Value] = []
  /// The lower bound of the next element; nil for none.
  var lower: IndexBound?
  /// The upper bound of the next element; nil for none.
  var upper: IndexBound?
  /// The prefix of the next element, a text, in canonically composed scalars.
  var prefix: String?

  /// Whether the next element must have a value.
  var isPresent = false
  /// Of a range index, what its codes are; nil for all.
  var ranges: BoxRanges.Part?

  /// Whether entries without a value in the next element are excluded: comparisons with a missing value are false.
  var leavesOutNull: Bool { isPresent || isNarrowed }

  /// Whether the next element has bounds or a prefix.
  var isNarrowed: Bool { lower != nil || upper != nil || prefix != nil }

  /// The whole index.
  static let all = IndexRange()
}

extension IndexRange: CustomStringConvertible {
  var description: String { describe(["…"]) }

  /// The range as a condition on the elements' names.
  func describe(_ names: [String]) -> String {
    if let ranges { return ranges.text }
    var parts = zip(names, equal).map { "\($0) == \($1)" }
    let next = equal.count < names.count ? names[equal.count] : "…"
    if let prefix { parts.append("\(next) BEGINSWITH \"\(prefix)\"") }
    if let lower { parts.append("\(next) \(lower.isInclusive ? ">=" : ">") \(lower.value)") }
    if let upper { parts.append("\(next) \(upper.isInclusive ? "<=" : "<") \(upper.value)") }
    if isPresent, !isNarrowed { parts.append("\(next) != nil") }
    return parts.joined(separator: " AND ")
  }
}

extension IndexRange {
  /// Narrows the range by another lower bound; the higher one is kept.
  mutating func raise(to bound: IndexBound?) {
    guard let bound else { return }
    guard let lower else { return self.lower = bound }
    let order = Value.compare(bound.value, lower.value) ?? 0
    if order > 0 || order == 0 && !bound.isInclusive { self.lower = bound }
  }

  /// Narrows the range by another upper bound; the lower one is kept.
  mutating func cut(at bound: IndexBound?) {
    guard let bound else { return }
    guard let upper else { return self.upper = bound }
    let order = Value.compare(bound.value, upper.value) ?? 0
    if order < 0 || order == 0 && !bound.isInclusive { self.upper = bound }
  }
}
