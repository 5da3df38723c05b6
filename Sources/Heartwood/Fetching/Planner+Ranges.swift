/// Accesses by range indexes.
extension Planner {
  /// The rows whose two numbers are both within bounds; nil if one of them has none.
  func rangesCandidate(_ index: StoreIndex, _ conditions: SlotConditions) throws -> Candidate? {
    guard let first = conditions.bounds(index.slots[0]), let second = conditions.bounds(index.slots[1]) else {
      return nil
    }
    var candidate = Candidate(
      access: .index(index, [], reversed: false), covers: index.entity, count: 0, isCountExact: true,
      isSure: true, consumed: first.consumed.union(second.consumed))
    guard let box = Box(first.range, second.range) else { return candidate }
    let found = try BoxRanges(box) { codes in
      var range = IndexRange()
      range.ranges = BoxRanges.Part(codes: codes, box: nil)
      return try view.indexCount(index, range) ?? 0
    }
    candidate.isCountExact = found.parts.allSatisfy { $0.box == nil }
    candidate.count = candidate.isCountExact ? found.entries : Int(found.expected.rounded(.up))
    candidate.entriesFirst = candidate.isCountExact ? 0 : found.entries
    let names = index.propertyNames
    let text = "\(first.range.describe([names[0]])) AND \(second.range.describe([names[1]]))"
    candidate.access = .index(
      index,
      found.parts.map { part in
        var range = IndexRange()
        range.ranges = part
        range.ranges?.text = text
        return range
      }, reversed: false)
    return candidate
  }
}

extension Box {
  /// - Returns: nil if nothing is between the bounds.
  fileprivate init?(_ first: IndexRange, _ second: IndexRange) {
    guard let first = Self.numbers(first), let second = Self.numbers(second) else { return nil }
    self.init(first: first, second: second)
  }

  private static func numbers(_ range: IndexRange) -> ClosedRange<UInt64>? {
    var (lower, upper) = (UInt64.min, UInt64.max)
    if let bound = range.lower {
      guard let number = bound.value.orderedNumber, bound.isInclusive || number < .max else { return nil }
      lower = bound.isInclusive ? number : number + 1
    }
    if let bound = range.upper {
      guard let number = bound.value.orderedNumber, bound.isInclusive || number > .min else { return nil }
      upper = bound.isInclusive ? number : number - 1
    }
    return lower <= upper ? lower...upper : nil
  }
}
