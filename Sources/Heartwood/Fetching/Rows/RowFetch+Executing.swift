/// A row of a fetch of rows, not yet as a tuple.
struct UndecodedRow<Row>: Sendable {
  let values: [Value]
  let decode: @Sendable (inout ColumnValues) throws -> Row

  func decoded() throws -> Row {
    var columns = ColumnValues(values, nil)
    return try decode(&columns)
  }
}

/// Executing fetches of rows that are values.
extension RowFetching {
  func forEachRow<Row>(
    of fetch: RowFetch<Row>, _ reads: inout RowReads, _ body: (UndecodedRow<Row>) throws -> Bool
  ) throws {
    context.beginUse("fetching rows")
    defer { context.endUse() }
    try context.beginReading()
    let view = try context.readingView().forOneReader()
    defer { withExtendedLifetime(view) {} }
    try forEachRow(of: fetch, in: view, &reads, body)
  }

  /// Calls `body` with the rows of a fetch, all of one state, until it returns false.
  ///
  /// - Parameter reads: Takes up what is read.
  func forEachRow<Row>(
    of fetch: RowFetch<Row>, in view: any StoreView, _ reads: inout RowReads,
    _ body: (UndecodedRow<Row>) throws -> Bool
  ) throws {
    switch fetch.content {
    case .part(let part): try forEachRow(of: part, in: view, &reads, body)
    case .combination(let combination): try forEachRow(of: combination, in: view, &reads, body)
    }
  }

  private func forEachRow<Row>(
    of part: RowFetch<Row>.Part, in view: any StoreView, _ reads: inout RowReads,
    _ body: (UndecodedRow<Row>) throws -> Bool
  ) throws {
    var found: RowReads?
    try forEachRow(
      in: view,
      { view, figures in
        let run = try part.prepare(context, view, figures)
        found = run.reads
        return run
      }
    ) { values, converter in
      var stored: [Value] = []
      stored.reserveCapacity(values.count)
      for column in values.indices {
        let value = try converter.value(values, column)
        stored.append(part.types[column].flatMap(value.fitted) ?? value)
      }
      return try body(UndecodedRow(values: stored, decode: part.decode))
    }
    if let found { reads.add(found) }
  }

  private func forEachRow<Row>(
    of combination: RowFetch<Row>.Combination, in view: any StoreView, _ reads: inout RowReads,
    _ body: (UndecodedRow<Row>) throws -> Bool
  ) throws {
    guard combination.limit ?? 0 >= 0, combination.offset >= 0 else {
      throw HeartwoodError(
        .coreData,
        "the limit \(combination.limit ?? 0) or the offset \(combination.offset) of a fetch of rows is negative"
      )
    }
    if combination.limit == 0 { return }
    var window = ResultWindow(offset: combination.offset, limit: combination.limit)
    var distinct: Set<[Value]> = []
    func forEach(_ body: (UndecodedRow<Row>) throws -> Bool) throws {
      var isWanted = true
      for fetch in combination.fetches where isWanted {
        try forEachRow(of: fetch, in: view, &reads) { row in
          if !combination.keepsDuplicates, !distinct.insert(row.values).inserted { return true }
          isWanted = try body(row)
          return isWanted
        }
      }
    }
    guard !combination.order.isEmpty else { return try forEach { try window.take($0, body) } }
    var rows: [UndecodedRow<Row>] = []
    try forEach { row in
      rows.append(row)
      return true
    }
    for number in try combination.order.order(of: rows.map(\.values)) {
      guard try window.take(rows[number], body) else { return }
    }
  }
}

extension [ColumnSort] {
  /// The numbers of rows in this order.
  fileprivate func order(of rows: [[Value]]) throws(HeartwoodError) -> [Int] {
    guard let count = rows.first?.count else { return [] }
    if let wrong = first(where: { !(0..<count).contains($0.column) }) {
      throw HeartwoodError(
        .coreData,
        "the rows have no column \(wrong.column) to sort them by: theirs have the numbers 0 to \(count - 1)")
    }
    var values = SortValues(map { SortValues.Column(isAscending: $0.isAscending, options: $0.options) })
    for row in rows {
      for key in self { values.append(row[key.column], key.options) }
    }
    return values.order()
  }
}

/// The entities and properties that a fetch of rows reads: whether a change may concern it.
struct RowReads {
  /// The numbers of the root entities; nil for any.
  private var roots: Set<UInt16>? = []

  init() {}

  /// - Parameter roots: Nil for any.
  init(_ roots: [EntityDescription]?) { self.roots = roots.map { Set($0.map(\.number)) } }

  static var everything: RowReads { RowReads(nil) }

  mutating func add(_ other: RowReads) {
    guard let own = roots, let others = other.roots else { return roots = nil }
    roots = own.union(others)
  }

  func mayShow(_ touched: TouchedObjects) -> Bool {
    guard !touched.includesAll, let roots else { return true }
    return touched.objects.contains { roots.contains($0.entity.rootEntity.number) }
      || touched.identifiers.contains { roots.contains($0.entity.rootEntity.number) }
  }
}

extension ResolvedRequest {
  /// The rows that the condition, the order and the results read.
  var reads: RowReads {
    if hasFetchedValues || predicate?.readsOtherRows == true || sort?.readsOtherRows == true {
      return .everything
    }
    return RowReads([entity.rootEntity])
  }
}
