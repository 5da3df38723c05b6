/// The index that would spare a fetch most of the rows that it reads.
struct IndexAdvice {
  private let indexes: [String]

  /// - Returns: nil if no index serves more of the request than those that exist.
  init?(_ request: ResolvedRequest, _ plan: ChosenPlan, _ existing: [StoreIndex]) {
    guard case .scan = plan.access else { return nil }
    let existing = existing.filter { $0.condition == nil }
    let conjuncts = (request.predicate?.conjuncts ?? []).flatMap(\.parts)
    var found: [String] = []
    if let ranges = Self.ranges(conjuncts, request.entity) {
      found.append(ranges)
    } else if let slots = Self.slots(conjuncts, request.sort), !Self.isServed(slots, existing) {
      found.append(Self.name(slots, request.entity))
    } else if let words = Self.words(conjuncts, request.entity, existing) {
      found.append(words)
    } else if let conjunct = conjuncts.first(where: { !Self.entries($0, request.entity).isEmpty }) {
      found = Self.entries(conjunct, request.entity)
    }
    guard !found.isEmpty else { return nil }
    indexes = found
  }

  /// Whether so many rows were read for so few results that advice is due.
  static func isWorthwhile(reading rows: Int, for results: Int) -> Bool {
    rows >= 1000 && rows / 10 > results
  }

  var text: String {
    indexes.count == 1
      ? "an index on \(indexes[0]) would spare reading most of the rows"
      : "indexes on \(indexes.joined(separator: " and ")) would spare reading most of the rows"
  }

  /// The properties that the conditions fix, then one that they restrict, or those of the order.
  private static func slots(_ conjuncts: [Conjunct], _ sort: CompiledSort?) -> [Int]? {
    var slots: [Int] = []
    for case .equal(let slot, let value) in conjuncts where !slots.contains(slot) {
      if case .object = value { continue }
      slots.append(slot)
    }
    let restricted = conjuncts.lazy.compactMap(\.restrictedSlot).first { !slots.contains($0) }
    let sorted = (sort?.keys ?? []).compactMap(\.slot)
    if let restricted {
      slots.append(restricted)
    } else if let sort, sorted.count == sort.keys.count, sorted.count > 0 {
      let isOneWay = Set(sort.keys.map(\.ascending)).count == 1
      for slot in isOneWay ? sorted : Array(sorted.prefix(1)) where !slots.contains(slot) {
        slots.append(slot)
      }
    }
    return slots.isEmpty ? nil : slots
  }

  /// Two numbers or dates that are restricted to ranges with both bounds, if nothing is fixed.
  private static func ranges(_ conjuncts: [Conjunct], _ entity: EntityDescription) -> String? {
    var (lower, upper): ([Int], Set<Int>) = ([], [])
    for conjunct in conjuncts {
      switch conjunct {
      case .equal, .isIn: return nil
      case .range(let slot, let from, let to):
        // Expressions of indexes have slots behind those of the properties.
        guard entity.slots.contains(slot), let attribute = entity.attribute(at: slot),
          attribute.type.canBeInRangeIndex
        else { continue }
        if from != nil, !lower.contains(slot) { lower.append(slot) }
        if to != nil { upper.insert(slot) }
      default: break
      }
    }
    let bounded = lower.filter(upper.contains)
    return bounded.count < 2 ? nil : "the ranges of \(name(Array(bounded.prefix(2)), entity))"
  }

  /// The text whose words are looked for without a full-text index.
  private static func words(
    _ conjuncts: [Conjunct], _ entity: EntityDescription, _ existing: [StoreIndex]
  ) -> String? {
    for case .word(let slot, _, _) in conjuncts
    where !existing.contains(where: { $0.kind == .words && $0.slots == [slot] }) {
      return "the words of \(name([slot], entity))"
    }
    return nil
  }

  private static func isServed(_ slots: [Int], _ existing: [StoreIndex]) -> Bool {
    existing.contains { $0.isOrdered && $0.slots.first == slots[0] }
  }

  private static func name(_ slots: [Int], _ entity: EntityDescription) -> String {
    let names = slots.map { entity.elementName(at: $0) }.joined(separator: ", ")
    return "\(entity.displayName).\(slots.count > 1 ? "(\(names))" : names)"
  }

  /// The indexes of other entities, or of the parts of an OR.
  private static func entries(_ conjunct: Conjunct, _ entity: EntityDescription) -> [String] {
    switch conjunct {
    case .any(let parts):
      let found = parts.map { slots($0.parts, nil) }
      guard found.allSatisfy({ $0 != nil }) else { return [] }
      return found.compactMap { $0.map { name($0, entity) } }.withoutRepetitions
    case .throughToOne(let slot, let inner), .throughToMany(let slot, let inner):
      guard let destination = entity.relationship(at: slot).destinationEntity else { return [] }
      if let slots = slots(inner.parts, nil) { return [name(slots, destination)] }
      return inner.parts.first.map { entries($0, destination) } ?? []
    default: return []
    }
  }
}

extension Conjunct {
  /// The property that the conjunct restricts to several values.
  fileprivate var restrictedSlot: Int? {
    switch self {
    case .range(let slot, _, _), .prefix(let slot, _): slot
    case .isIn(let slot, let values):
      values.contains { if case .object = $0 { true } else { false } } ? nil : slot
    default: nil
    }
  }
}
