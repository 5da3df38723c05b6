/// Executing fetches of rows.
extension ManagedObjectContext {
  /// Calls `body` with the values of each row, in the order of the columns, until it returns false.
  ///
  /// - Parameters:
  ///   - request: The objects that the rows are about, in an order that counts if each is one row.
  ///   - query: The rows.
  func forEachRow<Object: FetchRequestResult>(
    of request: FetchRequest<Object>, _ query: RowQuery, _ body: ([Value], RowValues) throws -> Bool
  ) throws {
    try beginReading()
    let view = try readingView().forOneReader()
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
    guard let log = fetchLog else {
      let run = try prepare(view, nil)
      let values = RowValues(run.program.outputs, run.execution.source, storeIdentity)
      return try run.forEachInWindow { try body($0, values) }
    }
    let figures = FetchFigures()
    let run = try prepare(view, figures)
    let values = RowValues(run.program.outputs, run.execution.source, storeIdentity)
    try log.note(
      .rows, run.execution.request.entity, figures, plan: { try run.explain(results: figures.results) }
    ) {
      try run.forEachInWindow { row in
        figures.results += 1
        return try body(row, values)
      }
    }
  }

  /// - Parameter figures: What is counted; nil unless the execution is analysed.
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
    let program = try RowProgram(query, entity(of: objects), storeIdentity)
    var resolved = try resolve(objects, reading: program.usedSlots, of: view)
    let readsOthers = written.needsFetch || program.readsOtherRows
    let reads = readsOthers ? RowReads.everything : resolved.reads
    resolved.reachedRoots = program.reachedRoots
    resolved.extremes = program.extremes
    var execution = try execution(resolved, in: view)
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
  private let source: any RowSource
  private let store: StoreIdentity

  init(_ outputs: [RowProgram.Output], _ source: any RowSource, _ store: StoreIdentity) {
    self.outputs = outputs
    self.source = source
    self.store = store
  }

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

/// Fetching rows as values of a `Decodable` type.
extension ManagedObjectContext {
  /// The rows of named columns, decoded.
  ///
  /// ```swift
  /// struct Sales: Decodable { var artist: String; var sold: Int }
  /// let sales = try context.fetchRows(
  ///   InvoiceLine.self, as: Sales.self,
  ///   columns: { ["artist": $0.track.album.artist.name, "sold": $0.quantity.sum()] })
  /// ```
  ///
  /// - Parameters:
  ///   - type: A class that has exactly one entity in the model; objects of subentities are included.
  ///   - row: The type of the rows, whose keys are names of columns.
  ///   - columns: The columns by name.
  ///   - condition: Selects the objects; nil for all.
  ///   - groups: What groups are formed by; nil for the columns that are not about groups.
  ///   - having: Selects the groups, and the rows by windows; nil for all.
  ///   - sort: The order of the rows, most significant first; nil for no order.
  ///   - distinct: Whether rows that are equal to another are left out.
  ///   - limit: The maximum number of rows; nil for all.
  ///   - offset: How many of the first rows to skip.
  /// - Throws: As `fetch(_:)`, and `DecodingError` if a row does not fit the type.
  public func fetchRows<Object: ManagedObject, Row: Decodable>(
    _ type: Object.Type, as row: Row.Type,
    columns: (ObjectQuery<Object>) -> KeyValuePairs<String, any RowColumn>,
    where condition: ((ObjectQuery<Object>) -> Condition)? = nil,
    groupedBy groups: ((ObjectQuery<Object>) -> [any RowColumn])? = nil,
    having: ((ObjectQuery<Object>) -> Condition)? = nil, sort: ((ObjectQuery<Object>) -> [RowSort])? = nil,
    distinct: Bool = false, limit: Int? = nil, offset: Int = 0
  ) throws -> [Row] {
    if limit == 0 { return [] }
    beginUse("fetching rows")
    defer { endUse() }
    let object = ObjectQuery<Object>()
    let query = RowQuery(
      columns: columns(object).map {
        RowQuery.Column(name: $0.key, expression: $0.value.rowExpression.expression)
      }, groups: groups?(object), having: having?(object), sorts: sort?(object), isDistinct: distinct)
    var rows: [Row] = []
    try forEachRow(of: request(type, condition, [], limit, offset), query) { values, converter in
      var named: [String: Value] = [:]
      for (place, output) in converter.outputs.enumerated() {
        named[output.name] = try converter.value(values, place)
      }
      rows.append(try Row(from: RowDecoder(values: named)))
      return true
    }
    return rows
  }
}

/// Decodes a value from the columns of a row.
private struct RowDecoder: Decoder {
  let values: [String: Value]
  let codingPath: [any CodingKey] = []
  let userInfo: [CodingUserInfoKey: Any] = [:]

  func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedDecodingContainer<Key> {
    KeyedDecodingContainer(RowContainer(values: values))
  }

  func unkeyedContainer() throws -> any UnkeyedDecodingContainer { throw unsupported("an array") }
  func singleValueContainer() throws -> any SingleValueDecodingContainer {
    throw unsupported("a single value")
  }

  private func unsupported(_ what: String) -> DecodingError {
    .dataCorrupted(
      DecodingError.Context(
        codingPath: [], debugDescription: "a row is decoded by the names of its columns, not as \(what)"))
  }
}

private struct RowContainer<Key: CodingKey>: KeyedDecodingContainerProtocol {
  let values: [String: Value]
  let codingPath: [any CodingKey] = []

  var allKeys: [Key] { values.keys.compactMap(Key.init(stringValue:)) }
  func contains(_ key: Key) -> Bool { values[key.stringValue] != nil }
  func decodeNil(forKey key: Key) throws -> Bool { try value(key).isNull }

  private func value(_ key: Key) throws -> Value {
    guard let value = values[key.stringValue] else {
      throw DecodingError.keyNotFound(
        key,
        DecodingError.Context(
          codingPath: [key],
          debugDescription:
            "the row has no column of this name; it has \(values.keys.sorted().joined(separator: ", "))"))
    }
    return value
  }

  func decode<Decoded: Decodable>(_ type: Decoded.Type, forKey key: Key) throws -> Decoded {
    try CellDecoder(value: value(key), codingPath: [key]).decode(type)
  }

  func nestedContainer<Nested: CodingKey>(
    keyedBy type: Nested.Type, forKey key: Key
  ) throws -> KeyedDecodingContainer<Nested> { throw nested(key) }
  func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer { throw nested(key) }
  func superDecoder() throws -> any Decoder { RowDecoder(values: values) }
  func superDecoder(forKey key: Key) throws -> any Decoder {
    CellDecoder(value: try value(key), codingPath: [key])
  }

  private func nested(_ key: Key) -> DecodingError {
    .dataCorruptedError(forKey: key, in: self, debugDescription: "a column has one value")
  }
}

/// Decodes the value of one column.
private struct CellDecoder: Decoder, SingleValueDecodingContainer {
  let value: Value
  let codingPath: [any CodingKey]
  let userInfo: [CodingUserInfoKey: Any] = [:]

  func singleValueContainer() -> any SingleValueDecodingContainer { self }
  func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
    throw mismatch(type)
  }
  func unkeyedContainer() throws -> any UnkeyedDecodingContainer { throw mismatch([Any].self) }
  func decodeNil() -> Bool { value.isNull }

  func decode<Decoded: Decodable>(_ type: Decoded.Type) throws -> Decoded {
    if type == ManagedObjectID.self, case .object(let id) = value, let id = id as? Decoded { return id }
    guard let attribute = type as? any AttributeValue.Type else { return try Decoded(from: self) }
    guard let decoded = attribute.init(value.fitted(to: attribute.attributeType) ?? value) as? Decoded else {
      throw mismatch(type)
    }
    return decoded
  }

  private func mismatch(_ type: Any.Type) -> DecodingError {
    .typeMismatch(
      type, DecodingError.Context(codingPath: codingPath, debugDescription: "the column has \(value)"))
  }
}
