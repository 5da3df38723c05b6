/// How a fetch finds its results among many changed objects.
enum PendingWay {
  /// Their number is known.
  case count(Int)
  /// These are looked at, until the window is full if they are in the order of delivery.
  case candidates(PendingCandidates)
  /// All are looked at in the order of the request, until its window is full.
  case order(PendingIndex)
  /// Of each index, all are looked at from both ends, until one is a result.
  case ends([PendingIndex])
  /// All are looked at.
  case all

  init(
    _ request: ResolvedRequest, _ lookup: PendingLookup, _ context: ManagedObjectContext, isCount: Bool
  ) {
    let conjuncts = request.predicate?.conjuncts ?? []
    if isCount, request.predicate == nil, request.stores == nil {
      self = .count(lookup.liveCount(where: request.accepts))
      return
    }
    let candidates = PendingCandidates(request.entity, conjuncts, lookup, context)
    let ofCondition: PendingWay = candidates.map { .candidates($0) } ?? .all
    if isCount {
      let isExact =
        candidates?.isExact == true && conjuncts.count == 1 && request.stores == nil
        && request.takesAll(below: request.entity)
      self = isExact ? .count(candidates?.count ?? 0) : ofCondition
      return
    }
    if let indexes = Self.ends(request, lookup, context) {
      self = candidates?.count ?? .max < Self.fewCandidates ? ofCondition : .ends(indexes)
      return
    }
    guard let window = request.window else {
      self = ofCondition
      return
    }
    if request.sort == nil, let candidates, candidates.areInKeyOrder {
      self = .candidates(candidates.first(window))
      return
    }
    guard let order = Self.order(request, lookup, context) else {
      self = ofCondition
      return
    }
    guard let candidates else {
      self = .order(order)
      return
    }
    let all = Double(order.count(order.all))
    let walked = Double(window) * all / Double(max(1, candidates.count))
    self = walked < Double(candidates.count) ? .order(order) : .candidates(candidates)
  }

  /// So many candidates cost less than what an order may have to pass.
  private static var fewCandidates: Int { 64 }

  /// The index in the order of the request, which is that of keys if it has none; nil if it is not only one of properties.
  private static func order(
    _ request: ResolvedRequest, _ lookup: PendingLookup, _ context: ManagedObjectContext
  ) -> PendingIndex? {
    var keys: [PendingIndex.Key] = []
    for key in request.sort?.keys ?? [] {
      guard let slot = key.slot, request.entity.hasPendingOrder(at: slot) else { return nil }
      keys.append(PendingIndex.Key(slot: slot, of: request.entity, isAscending: key.ascending))
    }
    return lookup.index(of: request.entity, by: keys, in: context)
  }

  /// The indexes at whose ends the results are; nil if that is not sure.
  private static func ends(
    _ request: ResolvedRequest, _ lookup: PendingLookup, _ context: ManagedObjectContext
  ) -> [PendingIndex]? {
    guard let slots = request.extremes, slots.allSatisfy(request.entity.hasPendingOrder) else { return nil }
    let indexes = slots.map { lookup.index(of: request.entity, by: $0, in: context) }
    let known = indexes.compactMap { $0 }
    return known.count == indexes.count ? known : nil
  }
}

/// The changed objects that may satisfy one conjunct of a condition, the one with the fewest of them.
struct PendingCandidates {
  private enum Source {
    case runs([PendingIndex.Run], PendingIndex)
    case objects([ManagedObject])
  }

  private let source: Source
  let count: Int
  /// How many matches are needed; nil for all.
  private(set) var limit: Int?

  /// Whether they are those objects of the entity and its subentities that satisfy the conjunct, and no others.
  let isExact: Bool
  private let hasOneValue: Bool

  /// - Returns: nil if no conjunct is served.
  init?(
    _ entity: EntityDescription, _ conjuncts: [Conjunct], _ lookup: PendingLookup,
    _ context: ManagedObjectContext
  ) {
    var best: PendingCandidates?
    for conjunct in conjuncts {
      guard let found = PendingCandidates(entity, conjunct, lookup, context) else { continue }
      if found.count < best?.count ?? .max { best = found }
    }
    guard let best else { return nil }
    self = best
  }

  private init?(
    _ entity: EntityDescription, _ conjunct: Conjunct, _ lookup: PendingLookup,
    _ context: ManagedObjectContext
  ) {
    if case .identity(let keys) = conjunct {
      let objects = keys.compactMap { context.registered(entity.rootEntity, $0) }.filter(\.hasUnsavedState)
      (source, count, isExact, hasOneValue) = (.objects(objects), objects.count, false, false)
      return
    }
    guard let (slot, ranges) = conjunct.ranges, entity.hasPendingOrder(at: slot),
      let index = lookup.index(of: entity, by: slot, in: context)
    else { return nil }
    let runs = ranges.map { index.run(from: $0.lower, to: $0.upper) }
    (source, count) = (.runs(runs, index), runs.reduce(0) { $0 + index.count($1) })
    hasOneValue = if case .equal = conjunct { true } else { false }
    // Other subentities of the superentity have its properties, too.
    isExact = entity.superentity.map { !$0.slots.contains(slot) } ?? true
  }

  /// Whether they ascend by their keys: those that are equal in the only property do.
  var areInKeyOrder: Bool {
    if case .runs(let runs, _) = source { return runs.count == 1 && hasOneValue }
    return false
  }

  /// The same with only the first matches of them.
  func first(_ limit: Int) -> PendingCandidates {
    var candidates = self
    candidates.limit = limit
    return candidates
  }

  /// Calls `body` with each of them until it returns false.
  func forEach(_ body: (ManagedObject) throws -> Bool) rethrows {
    switch source {
    case .objects(let objects): for object in objects where try !body(object) { return }
    case .runs(let runs, let index): for run in runs where try !index.forEach(run, body) { return }
    }
  }
}

extension Conjunct {
  /// The values of a property as ranges that do not overlap; nil if it is about something else.
  fileprivate var ranges: (slot: Int, ranges: [(lower: IndexBound?, upper: IndexBound?)])? {
    func only(_ value: Value) -> (lower: IndexBound?, upper: IndexBound?) {
      let bound = IndexBound(value: value, isInclusive: true)
      return (bound, bound)
    }
    switch self {
    case .equal(let slot, let value): return (slot, [only(value)])
    case .range(let slot, let lower, let upper): return (slot, [(lower, upper)])
    case .isIn(let slot, let values): return (slot, Set(values).map(only))
    default: return nil
    }
  }
}

extension EntityDescription {
  /// Whether the values of a property have an order among changed objects, which is that of its column.
  fileprivate func hasPendingOrder(at slot: Int) -> Bool {
    guard slots.contains(slot) else { return false }
    guard let attribute = attribute(at: slot) else { return !relationship(at: slot).isToMany }
    switch attribute.type {
    case .composite, .transformable, .undefined: return false
    default: return !attribute.isTransient
    }
  }
}
