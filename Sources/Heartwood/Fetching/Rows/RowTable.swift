/// The computed rows of a fetch: one for each group, or for each object.
struct RowTable {
  private let program: RowProgram
  private let row: ComputedRow
  private var rows: [[Value]] = []
  private var groups: [[Value]: Int] = [:]
  /// The states of the aggregates of each group.
  private var states: [[AggregateState]] = []

  init(_ program: RowProgram, _ row: ComputedRow) {
    self.program = program
    self.row = row
  }

  /// Adds an object by its inputs.
  ///
  /// - Parameter count: How many objects there are with these inputs: more than 1 only if the objects are counted, and no values of them
  ///   are aggregated.
  mutating func add(_ inputs: [Value], count: Int = 1) {
    guard program.isGrouped else {
      var values = [Value](repeating: .null, count: row.columns.count)
      for (input, place) in program.inputPlaces.enumerated() { values[place] = inputs[input] }
      rows.append(values)
      return
    }
    let keys = inputs.count == program.keyCount ? inputs : Array(inputs[..<program.keyCount])
    let group = groups[keys] ?? addGroup(keys)
    for (place, value) in program.groupValues.enumerated() {
      if let filter = value.filter, inputs[filter] != .bool(true) { continue }
      if let input = value.input {
        states[group][place].add(inputs[input])
      } else {
        states[group][place].addObjects(count)
      }
    }
  }

  private mutating func addGroup(_ keys: [Value]) -> Int {
    let group = rows.count
    groups[keys] = group
    rows.append(keys)
    states.append(program.groupValues.map { AggregateState($0.function, isDistinct: $0.isDistinct) })
    return group
  }

  /// Calls `body` with the row of each result in order, which `row` has then, until it returns false.
  mutating func forEach(_ place: Place, _ body: () throws -> Bool) throws {
    try finishGroups(place)
    for window in program.windows { try WindowPass(window, row, place).compute(&rows) }
    try keep(program.qualifying, place)
    for number in try order(place) {
      row.values = rows[number]
      guard try body() else { return }
    }
  }

  private mutating func finishGroups(_ place: Place) throws {
    guard program.isGrouped else { return }
    // All objects are one group if there is no key, even if there is no object.
    if program.keyCount == 0, rows.isEmpty { _ = addGroup([]) }
    for number in rows.indices {
      rows[number] += repeatElement(Value.null, count: row.columns.count - rows[number].count)
      for (position, value) in program.groupValues.enumerated() {
        rows[number][value.place] = states[number][position].value(
          fraction: value.fraction, zero: value.zero)
      }
    }
    (states, groups) = ([], [:])
    try keep(program.having, place)
  }

  private mutating func keep(_ test: RowTest?, _ place: Place) throws {
    guard let test else { return }
    rows = try rows.filter { values in
      row.values = values
      return try test.matches(place)
    }
  }

  private func order(_ place: Place) throws -> [Int] {
    guard !program.order.isEmpty else { return Array(rows.indices) }
    let sorting = RowSorting(keys: program.order, row: row, place: place)
    return try sorting.values(of: rows, rows.indices).order()
  }
}
