/// Fetches of rows: computed columns, groups and windows.
struct RowFetching {
  let context: ManagedObjectContext

  init(_ context: ManagedObjectContext) { self.context = context }

  /// Calls `body` with the values of each row, in the order of the columns, until it returns false.
  ///
  /// - Parameters:
  ///   - request: The objects that the rows are about, in an order that counts if each is one row.
  ///   - query: The rows.
  func forEachRow<Object: FetchRequestResult>(
    of request: FetchRequest<Object>, _ query: RowQuery, _ body: ([Value], RowValues) throws -> Bool
  ) throws {
    try context.beginReading()
    let view = try context.readingView().forOneReader()
    defer { withExtendedLifetime(view) {} }
    try forEachRow(in: view, { try rowExecution(of: request, query, in: $0, counting: $1) }, body)
  }

  /// Calls `body` with the values of each row of an execution until it returns false.
  ///
  /// - Parameter prepare: Makes the execution, which counts in the figures if there are some.
  func forEachRow(
    in view: any StoreView, _ prepare: (any StoreView, FetchFigures?) throws -> RowExecution,
    _ body: ([Value], RowValues) throws -> Bool
  ) throws {
    let figures = context.fetchLog?.makeFigures()
    try forEachRow(of: prepare(view, figures), figures, body)
  }

  /// Calls `body` with the columns of each row of an execution until it returns false.
  ///
  /// - Parameter prepare: Makes the execution, which counts in the figures if there are some.
  func forEachRow(
    in view: any StoreView, _ prepare: (any StoreView, FetchFigures?) throws -> RowExecution,
    columns body: (inout ColumnValues) throws -> Bool
  ) throws {
    let figures = context.fetchLog?.makeFigures()
    let run = try prepare(view, figures)
    if figures == nil, run.readsColumns { return try run.forEachDirect(columns: body) }
    try forEachRow(of: run, figures) { row, values in
      var columns = ColumnValues(row, values)
      return try body(&columns)
    }
  }

  private func forEachRow(
    of run: RowExecution, _ figures: FetchFigures?, _ body: ([Value], RowValues) throws -> Bool
  ) throws {
    let values = RowValues(
      outputs: run.program.outputs, source: run.execution.source, store: context.storeIdentity)
    guard let figures, let log = context.fetchLog else {
      return try run.forEachInWindow { try body($0, values) }
    }
    try log.note(
      .rows, run.execution.request.entity, figures, plan: { try run.explain(results: figures.results) }
    ) {
      try run.forEachInWindow { row in
        figures.results += 1
        return try body(row, values)
      }
    }
  }

  /// - Parameter figures: The figures that are counted; nil unless the execution is analysed.
  func rowExecution<Object: FetchRequestResult>(
    of request: FetchRequest<Object>, _ written: RowQuery, in view: any StoreView,
    counting figures: FetchFigures? = nil
  ) throws -> RowExecution {
    let query = withFetchedValues(written, in: view)
    let objects = request.copy()
    (objects.propertiesToGroupBy, objects.havingPredicate) = (nil, nil)
    let isDirect = RowProgram.isDirect(query)
    if isDirect {
      objects.sortDescriptors = query.sorts.map(RowOfObjectSort.init) + (request.sortDescriptors ?? [])
    } else {
      (objects.fetchLimit, objects.fetchOffset) = (0, 0)
    }
    let program = try RowProgram(query, ObjectFetch(context).entity(of: objects), context.storeIdentity)
    var resolved = try ObjectFetch(context).resolve(objects, reading: program.usedSlots, of: view)
    let readsOthers = written.needsFetch || program.readsOtherRows
    let reads = readsOthers ? RowReads.everything : resolved.reads
    resolved.reachedRoots = program.reachedRoots
    resolved.extremes = program.extremes
    var execution = try ObjectFetch(context).execution(resolved, in: view)
    (execution.figures, execution.log) = (figures, nil)
    return RowExecution(
      program: program, execution: execution, reads: reads, isDirect: isDirect,
      offset: request.fetchOffset, limit: request.fetchLimit == 0 ? nil : request.fetchLimit)
  }
}

/// A sort of rows of which each is an object.
private struct RowOfObjectSort: FetchSort {
  let sortKey: SortKey

  init(_ key: RowSortKey) {
    sortKey = SortKey(expression: key.expression, isAscending: key.isAscending, options: key.options)
  }
}

/// One run of a fetch of rows.
struct RowExecution {
  let program: RowProgram
  let execution: FetchExecution
  let reads: RowReads
  /// Whether each object that the fetch delivers is a row, so that its order and window are the rows'.
  let isDirect: Bool
  let offset: Int
  let limit: Int?

  /// Calls `body` with each row of the result until it returns false.
  func forEachInWindow(_ body: ([Value]) throws -> Bool) throws {
    try program.memos.whileActive { try forEachRow(body) }
  }

  private func forEachRow(_ body: ([Value]) throws -> Bool) throws {
    guard !isDirect else { return try forEachDirect(body) }
    var window = ResultWindow(offset: offset, limit: limit)
    try forEach { row in try window.take(row, body) }
  }

  /// Calls `body` with the row of each object that the fetch delivers, until it returns false.
  private func forEachDirect(_ body: ([Value]) throws -> Bool) throws {
    let anywhere = Place(in: execution.source)
    let readers = program.outputs.map(\.reader)
    // Used again for each row, unless `body` keeps it.
    var row = [Value](repeating: .null, count: readers.count)
    try execution.forEach { found in
      let place = anywhere.moved(to: found)
      for column in row.indices { row[column] = try readers[column].read(place) }
      return try body(row)
    }
  }

  /// Whether each column is read of the object that the fetch delivers, as it is.
  var readsColumns: Bool {
    isDirect
      && !program.outputs.contains { if case .object = $0.kind { true } else { false } }
  }

  /// Calls `body` with the columns of each object that the fetch delivers, until it returns false. They are read when they are asked for.
  func forEachDirect(columns body: (inout ColumnValues) throws -> Bool) throws {
    try program.memos.whileActive {
      let readers = program.outputs.map(\.reader)
      var columns = ColumnValues(readers.map(UnownedReference.init), in: execution.source)
      try execution.forEach { found in
        columns.move(to: found)
        return try body(&columns)
      }
      withExtendedLifetime(readers) {}
    }
  }

  /// Calls `body` with each row in order, until it returns false.
  private func forEach(_ body: ([Value]) throws -> Bool) throws {
    var distinct: Set<[Value]> = []
    func take(_ values: [Value]) throws -> Bool {
      if program.isDistinct, !distinct.insert(values).inserted { return true }
      return try body(values)
    }
    let anywhere = Place(in: execution.source)
    let shortcut = try RowShortcut(program, execution)
    guard let row = program.table else {
      let readers = program.outputs.map(\.reader)
      if case .runs(let runs) = shortcut,
        try runs.forEach(execution, { place, _ in try take(readers.map { try $0.read(place) }) })
      {
        return
      }
      return try forEachJoined { place in try take(readers.map { try $0.read(place) }) }
    }
    var table = try table(row, shortcut)
    let outputs = program.outputs.map(\.reader)
    try table.forEach(anywhere) { try take(outputs.map { try $0.read(anywhere) }) }
  }

  /// The table of all objects, or of those that decide where an index has the rest.
  private func table(_ row: ComputedRow, _ shortcut: RowShortcut?) throws -> RowTable {
    let inputs = program.inputs
    var table = RowTable(program, row)
    if let stage = program.stage {
      try forEachRow(of: stage.program) { place in table.add(try inputs.map { try $0.read(place) }) }
      return table
    }
    switch shortcut {
    case .ends(let ends):
      try ends.forEach(execution) { place in table.add(try inputs.map { try $0.read(place) }) }
      return table
    case .runs(let runs):
      let isCertain = try runs.forEach(execution) { place, count in
        table.add(try inputs.map { try $0.read(place) }, count: count)
        return true
      }
      if isCertain { return table }
      table = RowTable(program, row)
    case nil: break
    }
    try forEachJoined { place in
      table.add(try inputs.map { try $0.read(place) })
      return true
    }
    return table
  }

  /// Calls `body` for each row of a stage, which its table has then.
  private func forEachRow(of stage: RowProgram, _ body: (Place) throws -> Void) throws {
    guard let row = stage.table else { return }
    let anywhere = Place(in: execution.source)
    var table = RowTable(stage, row)
    try forEachJoined { place in
      table.add(try stage.inputs.map { try $0.read(place) })
      return true
    }
    try table.forEach(anywhere) {
      try body(anywhere)
      return true
    }
  }

  private func forEachJoined(_ body: (Place) throws -> Bool) throws {
    let anywhere = Place(in: execution.source)
    try execution.forEach { found in
      try join(anywhere.moved(to: found), program.joins[...], body)
    }
  }

  /// Calls `body` with each combination of destinations; returns false if it did.
  private func join(
    _ place: Place, _ joins: ArraySlice<Destinations>, _ body: (Place) throws -> Bool
  ) throws -> Bool {
    guard let destinations = joins.first else {
      if let test = program.joinedTest, try !test.matches(place) { return true }
      return try body(place)
    }
    var continuesAfter = true
    try destinations.forEach(place) { destination in
      continuesAfter = try join(destination, joins.dropFirst(), body)
      return continuesAfter
    }
    return continuesAfter
  }
}

/// The values of rows as Swift values.
struct RowValues {
  let outputs: [RowProgram.Output]
  let source: any RowSource
  let store: StoreIdentity

  /// The value of a column as it is stored: an object as its identifier, not its key.
  func value(_ values: [Value], _ column: Int) throws -> Value {
    guard case .object(let root) = outputs[column].kind, case .int(let number) = values[column] else {
      return values[column]
    }
    let key = UInt64(bitPattern: number)
    guard let row = try source.row(root, key) else { return .null }
    return .object(
      ManagedObjectID(entity: try root.entity(numbered: row.entityNumber), key: key, store: store))
  }

  /// The value in the type that the attribute has in objects of run-time models; nil for null.
  ///
  /// - Parameter type: The type to convert numbers to; `.undefined` for the value's own.
  func anyValue(_ values: [Value], _ column: Int, as type: AttributeType) throws -> Any? {
    let value = try value(values, column)
    let output = outputs[column]
    if case .object(let id) = value { return id }
    guard type == .undefined else { return (value.fitted(to: type) ?? value).anyValue(type) }
    if output.isCount, case .int(let count) = value { return Int(count) }
    return value.anyValue(output.type ?? .integer64)
  }
}
