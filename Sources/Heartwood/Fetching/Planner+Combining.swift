/// Accesses that are combined of others: unions for OR, intersections for AND.
extension Planner {
  /// The most parts of an OR that are looked up one by one.
  private static var greatestUnion: Int { 100 }

  /// The rows that satisfy any of some conjuncts; nil if one of them is served by no access.
  func union(of parts: [Conjunct], _ entity: EntityDescription, _ number: Int) throws -> Candidate? {
    guard parts.count <= Self.greatestUnion else { return nil }
    var chosen: [Candidate] = []
    var isSure = true
    for part in parts {
      let conjuncts = part.parts
      guard let way = try best(for: conjuncts, entity) else { return nil }
      isSure = isSure && way.isSure && way.consumed.count == conjuncts.count
      chosen.append(way)
    }
    guard let first = chosen.first else { return nil }
    let isOneEntity = chosen.allSatisfy { $0.covers === first.covers }
    let entries = chosen.reduce(0) { $0 + $1.count }
    return Candidate(
      access: .union(chosen.map(\.access)), covers: isOneEntity ? first.covers : entity.rootEntity,
      count: min(entries, try view.rowCount(of: entity.rootEntity)), isCountExact: false, isSure: isSure,
      consumed: [number], entriesFirst: entries)
  }

  /// The access with the fewest rows for conjuncts that must all hold, an intersection included.
  func best(for conjuncts: [Conjunct], _ entity: EntityDescription) throws -> Candidate? {
    if let single = uniqueLookup(conjuncts, entity) { return single }
    let single = try candidates(for: conjuncts, entity: entity)
    let all = single + (try intersections(single, entity))
    return all.min { costOfLookup($0) < costOfLookup($1) }
  }

  private func costOfLookup(_ candidate: Candidate) -> Double {
    Double(candidate.entriesFirst) * Self.costOfEntry + Double(candidate.count) * Self.costOfLookup
  }

  /// The intersection of accesses for different conditions, if fewer rows to look up are worth reading more entries: begins with the
  /// access with the fewest rows and adds others as long as each saves more than it costs.
  func intersections(_ candidates: [Candidate], _ entity: EntityDescription) throws -> [Candidate] {
    guard candidates.count > 1 else { return [] }
    let total = Double(max(1, try view.rowCount(of: entity.rootEntity)))
    let sorted = candidates.filter(\.access.hasEntries).sorted { $0.count < $1.count }
    guard var whole = sorted.first else { return [] }
    var parts = [whole]
    whole.entriesFirst = whole.access.isInMemory ? 0 : max(whole.entriesFirst, whole.count)
    for next in sorted.dropFirst() where next.consumed.isDisjoint(with: whole.consumed) {
      let entries = next.access.isInMemory ? 0 : max(next.entriesFirst, next.count)
      let expected = Double(whole.count) * Double(next.count) / total
      let saved = (Double(whole.count) - expected) * Self.costOfLookup
      let first = parts.count == 1 ? Double(whole.entriesFirst) : 0
      guard saved > (Double(entries) + first) * Self.costOfEntry else { continue }
      if request.takesAll(below: next.covers) { whole.covers = next.covers }
      whole.count = max(1, Int(expected))
      whole.entriesFirst += entries
      whole.consumed.formUnion(next.consumed)
      whole.isSure = whole.isSure && next.isSure
      parts.append(next)
    }
    guard parts.count > 1 else { return [] }
    whole.access = .intersection(parts.map(\.access))
    whole.isCountExact = false
    return [whole]
  }
}

extension RowAccess {
  /// Whether its keys are known: they were found while planning.
  fileprivate var isInMemory: Bool {
    if case .identifiers = self { true } else { false }
  }

  /// Whether it reads entries that each belong to a row.
  fileprivate var hasEntries: Bool {
    switch self {
    case .index, .destinations, .identifiers: true
    case .union(let parts): parts.allSatisfy(\.hasEntries)
    case .nothing, .scan, .intersection, .requested: false
    }
  }

  /// The keys of a union or an intersection, ascending; no memory but for keys.
  func combinedKeys(in view: any StoreView, _ entity: EntityDescription) throws -> [UInt64] {
    switch self {
    case .union(let parts):
      var keys: [UInt64] = []
      for part in parts {
        try part.forEachKey(in: view, entity) { key in
          keys.append(key)
          return true
        }
      }
      return keys.ascendingOnce
    case .intersection(let parts):
      var common: [UInt64]?
      for part in parts {
        let keys = try part.ascendingKeys(in: view, entity)
        common = common.map { $0.common(with: keys) } ?? keys
        if common?.isEmpty == true { break }
      }
      return common ?? []
    default: return try ascendingKeys(in: view, entity)
    }
  }

  private func ascendingKeys(in view: any StoreView, _ entity: EntityDescription) throws -> [UInt64] {
    var keys: [UInt64] = []
    try forEachKey(in: view, entity) { key in
      keys.append(key)
      return true
    }
    return keys.ascendingOnce
  }
}

extension [UInt64] {
  /// The elements in order, without repetitions.
  var ascendingOnce: [UInt64] {
    // The entries of one value are in order already.
    let isAscending = zip(self, dropFirst()).allSatisfy { $0 < $1 }
    if isAscending { return self }
    var kept: [UInt64] = []
    kept.reserveCapacity(count)
    for key in sorted() where key != kept.last { kept.append(key) }
    return kept
  }

  /// The elements that another ascending array has, too.
  fileprivate func common(with other: [UInt64]) -> [UInt64] {
    var (kept, place): ([UInt64], Int) = ([], 0)
    for key in self {
      while place < other.count, other[place] < key { place += 1 }
      guard place < other.count else { break }
      if other[place] == key { kept.append(key) }
    }
    return kept
  }
}
