/// A way of a fetch of rows that looks at few objects, because an index has the values in order.
enum RowShortcut {
  /// Minima and maxima are at the ends of indexes.
  case ends(IndexEnds)
  /// Groups are runs of an index, and are counted in the tree.
  case runs(IndexRuns)

  /// - Returns: nil if the rows need all objects, or if an index would not be faster.
  init?(_ program: RowProgram, _ execution: FetchExecution) throws {
    guard program.joins.isEmpty, program.joinedTest == nil else { return nil }
    if let ends = try IndexEnds(program, execution) {
      self = .ends(ends)
    } else if let runs = try IndexRuns(program, execution) {
      self = .runs(runs)
    } else {
      return nil
    }
  }
}

/// The ends of indexes where the least and the greatest values are.
struct IndexEnds {
  struct End {
    let index: StoreIndex
    let range: IndexRange
    let isLast: Bool
  }

  let ends: [End]

  fileprivate init?(_ program: RowProgram, _ execution: FetchExecution) throws {
    guard let slots = program.extremes else { return nil }
    var ends: [End] = []
    for (value, slot) in zip(program.groupValues, slots) {
      let found = try execution.servingIndex { index, range in
        guard index.slots.count > range.equal.count, index.slots[range.equal.count] == slot else {
          return false
        }
        // A unique index has no entry for a row in which another value is missing.
        return !index.isUnique || index.slots.count == 1
      }
      guard let found else { return nil }
      var range = found.range
      range.isPresent = true
      ends.append(End(index: found.index, range: range, isLast: value.function == .max))
    }
    self.ends = ends
  }

  /// Calls `body` with the objects of which one has the least or greatest value.
  func forEach(_ execution: FetchExecution, _ body: (Place) throws -> Void) throws {
    let anywhere = Place(in: execution.source)
    let view = execution.view
    for end in ends {
      try view.scanIndex(end.index, end.range, reversed: end.isLast) { key in
        if execution.pending.hidden.contains(key) { return true }
        let root = end.index.entity.rootEntity
        guard let row = try view.row(root, key) else { throw HeartwoodError.missingRow(key, end.index, root) }
        try body(anywhere.moved(to: FoundRow(key: key, row: row)))
        view.releaseRows()
        return false
      }
    }
    for found in execution.pending.matches { try body(anywhere.moved(to: found)) }
  }

  var text: String {
    let texts = ends.map { end in
      let names = end.index.propertyNames
      let condition = end.range.describe(names)
      return "\(end.isLast ? "last" : "first") of \(end.index.entity.displayName).\(condition)"
    }
    return "ends: \(texts.joined(separator: ", "))"
  }
}

/// The runs of an index whose entries share the values that groups are formed by.
struct IndexRuns {
  let index: StoreIndex
  let range: IndexRange
  /// How many of the index's elements the entries of a run share.
  let elements: Int
  /// How many runs there are, by samples.
  let expected: Int

  /// The smallest run that is faster to count than to read: each costs a few descents of the tree.
  private static var leastRun: Int { 8 }

  fileprivate init?(_ program: RowProgram, _ execution: FetchExecution) throws {
    guard let keys = Self.keys(program), execution.pending.isEmpty else { return nil }
    var elements = 0
    let found = try execution.servingIndex { index, range in
      guard !index.isUnique, !index.columns.contains(where: { $0.kind == .toOne }) else { return false }
      var rest = keys
      for (number, slot) in index.slots.enumerated() {
        if rest.isEmpty { break }
        guard rest.remove(slot) != nil || number < range.equal.count else { return false }
        elements = number + 1
      }
      return rest.isEmpty
    }
    guard let found, elements >= found.range.equal.count else { return nil }
    let view = execution.view
    let count = try view.indexCount(found.index, found.range) ?? 0
    var length = 0
    for part in 1...3 {
      length += try view.indexRunLength(
        found.index, found.range, elements: elements, atRank: count * part / 4)
    }
    guard length >= 3 * Self.leastRun else { return nil }
    (index, range, self.elements) = (found.index, found.range, elements)
    expected = max(1, count * 3 / max(1, length))
  }

  /// The properties that groups, or distinct rows, are formed by; nil if they are computed, or if more than counts is wanted of groups.
  private static func keys(_ program: RowProgram) -> Set<Int>? {
    let slots: [Int?]
    if program.table == nil {
      guard program.isDistinct else { return nil }
      slots = program.outputs.map(\.slot)
    } else {
      guard program.isGrouped, program.keyCount > 0, program.inputs.count == program.keyCount,
        program.groupValues.allSatisfy({ $0.function == .count && $0.input == nil && $0.filter == nil })
      else { return nil }
      slots = program.inputSlots
    }
    let known = slots.compactMap { $0 }
    return known.count == slots.count && !known.isEmpty ? Set(known) : nil
  }

  /// Calls `body` with an object of each run and the number of objects in it, until it returns false.
  ///
  /// - Returns: false if long values make the runs uncertain; the calls before mean nothing then.
  func forEach(_ execution: FetchExecution, _ body: (Place, Int) throws -> Bool) throws -> Bool {
    let anywhere = Place(in: execution.source)
    let view = execution.view
    let root = index.entity.rootEntity
    return try view.forEachIndexRun(index, range, elements: elements) { key, count in
      guard let row = try view.row(root, key) else { throw HeartwoodError.missingRow(key, index, root) }
      defer { view.releaseRows() }
      return try body(anywhere.moved(to: FoundRow(key: key, row: row)), count)
    }
  }

  var text: String {
    let condition = range.describe(index.propertyNames)
    let names = index.propertyNames.prefix(elements).joined(separator: ", ")
    return
      "runs: \(index.entity.displayName).(\(names))\(condition.isEmpty ? "" : " where \(condition)"), counted in the tree"
  }
}

extension RowProgram {
  /// The properties of which the least and greatest values are all that is read, one for each value of the only group; nil if more is read.
  var extremes: [Int]? {
    guard isGrouped, keyCount == 0, !groupValues.isEmpty, joins.isEmpty, joinedTest == nil, stage == nil
    else {
      return nil
    }
    let slots = groupValues.compactMap { value -> Int? in
      guard value.function == .min || value.function == .max, value.filter == nil else { return nil }
      return value.input.flatMap { inputSlots[$0] }
    }
    return slots.count == groupValues.count ? slots : nil
  }
}

extension FetchExecution {
  /// An index whose entries in one range are exactly the stored objects of the request.
  fileprivate func servingIndex(
    where isFitting: (StoreIndex, IndexRange) -> Bool
  ) throws -> (index: StoreIndex, range: IndexRange)? {
    let conjuncts = request.predicate?.conjuncts ?? []
    let conditions = SlotConditions(conjuncts)
    for index in view.indexes(of: request.entity)
    where index.isOrdered && request.takesAll(below: index.entity) {
      var same: Set<Int>? = []
      if let condition = index.condition {
        same = condition.consequence(of: conjuncts, request.predicate?.condition)
      }
      let (range, consumed) = conditions.range(on: index)
      guard let same, consumed.union(same).count == conjuncts.count, isFitting(index, range),
        try view.indexCount(index, range) != nil
      else { continue }
      return (index, range)
    }
    return nil
  }
}
