/// Fetching typed rows: values computed by the store, without objects.
///
/// Unsaved changes of the context are included, as in other fetches.
extension ManagedObjectContext {
  /// The rows of columns of the objects of a class, or of groups of them.
  ///
  /// ```swift
  /// let best = try context.fetchRows(
  ///   InvoiceLine.self, columns: { ($0.track.album.artist.name, $0.quantity.sum()) },
  ///   sort: { [.descending($0.quantity.sum())] }, limit: 10)
  /// ```
  ///
  /// If a column, `having` or `sort` is about a group, there is one row for each group of objects: those with equal values of the columns
  /// that are not about groups, or of `groups`. If there is no such column, all objects are one group.
  ///
  /// - Parameters:
  ///   - type: A class that has exactly one entity in the model; objects of subentities are included.
  ///   - columns: The columns of a row, a tuple.
  ///   - condition: Selects the objects; nil for all.
  ///   - groups: The columns that groups are formed by; nil for the columns that are not about groups.
  ///   - having: Selects the groups, and the rows by windows; nil for all.
  ///   - sort: The order of the rows, most significant first; nil for no order.
  ///   - distinct: Whether rows that are equal to another are left out.
  ///   - limit: The maximum number of rows; nil for all.
  ///   - offset: How many of the first rows to skip.
  /// - Throws: As `fetch(_:)`.
  /// - Complexity: Linear in the objects that the plan reads. Memory is that of the result, of the groups or, for windows and orders by
  ///   computed values, of all rows.
  @inlinable public func fetchRows<Object: ManagedObject, each Column: RowColumn>(
    _ type: Object.Type, columns: (ObjectQuery<Object>) -> (repeat each Column),
    where condition: ((ObjectQuery<Object>) -> Condition)? = nil,
    groupedBy groups: ((ObjectQuery<Object>) -> [any RowColumn])? = nil,
    having: ((ObjectQuery<Object>) -> Condition)? = nil, sort: ((ObjectQuery<Object>) -> [RowSort])? = nil,
    distinct: Bool = false, limit: Int? = nil, offset: Int = 0
  ) throws -> [(repeat (each Column).Result)] {
    try fetchRows(
      RowFetch(
        type, columns: columns, where: condition, groupedBy: groups, having: having, sort: sort,
        distinct: distinct, limit: limit, offset: offset))
  }

  /// Calls a function with the columns of each row, without keeping them.
  ///
  /// ```swift
  /// try context.enumerateRows(Track.self, columns: { ($0.title, $0.seconds) }) { title, seconds in
  ///   print(title ?? "", seconds ?? 0)
  ///   return true
  /// }
  /// ```
  ///
  /// - Parameters:
  ///   - type: A class that has exactly one entity in the model; objects of subentities are included.
  ///   - columns: The columns of a row, a tuple.
  ///   - condition: Selects the objects; nil for all.
  ///   - groups: The columns that groups are formed by; nil for the columns that are not about groups.
  ///   - having: Selects the groups, and the rows by windows; nil for all.
  ///   - sort: The order of the rows, most significant first; nil for no order.
  ///   - distinct: Whether rows that are equal to another are left out.
  ///   - limit: The maximum number of rows; nil for all.
  ///   - offset: How many of the first rows to skip.
  ///   - body: Called with the columns of each row until it returns false.
  /// - Throws: As `fetch(_:)`, and what `body` throws.
  @inlinable public func enumerateRows<Object: ManagedObject, each Column: RowColumn>(
    _ type: Object.Type, columns: (ObjectQuery<Object>) -> (repeat each Column),
    where condition: ((ObjectQuery<Object>) -> Condition)? = nil,
    groupedBy groups: ((ObjectQuery<Object>) -> [any RowColumn])? = nil,
    having: ((ObjectQuery<Object>) -> Condition)? = nil, sort: ((ObjectQuery<Object>) -> [RowSort])? = nil,
    distinct: Bool = false, limit: Int? = nil, offset: Int = 0,
    _ body: (repeat (each Column).Result) throws -> Bool
  ) throws {
    try enumerateColumns(
      RowFetch(
        type, columns: columns, where: condition, groupedBy: groups, having: having, sort: sort,
        distinct: distinct, limit: limit, offset: offset)
    ) { values in try body(repeat (each Column)._result(values.next())) }
  }

  /// The plan of `fetchRows` with the same arguments now.
  ///
  /// - Throws: As `fetchRows`.
  public func planForRows<Object: ManagedObject, each Column: RowColumn>(
    _ type: Object.Type, columns: (ObjectQuery<Object>) -> (repeat each Column),
    where condition: ((ObjectQuery<Object>) -> Condition)? = nil,
    groupedBy groups: ((ObjectQuery<Object>) -> [any RowColumn])? = nil,
    having: ((ObjectQuery<Object>) -> Condition)? = nil, sort: ((ObjectQuery<Object>) -> [RowSort])? = nil,
    distinct: Bool = false, limit: Int? = nil, offset: Int = 0
  ) throws -> FetchPlan {
    beginUse("planning a fetch")
    defer { endUse() }
    try beginReading()
    let object = ObjectQuery<Object>()
    let query = RowQuery(
      columns: RowQuery.columns(repeat each columns(object)), groups: groups?(object),
      having: having?(object), sorts: sort?(object), isDistinct: distinct)
    return try RowFetching(self).rowExecution(
      of: ObjectFetch(self).request(type, condition, [], limit, offset), query, in: readingView()
    )
    .explain()
  }

  /// The rows of an object and each destination of a to-many relationship.
  ///
  /// ```swift
  /// let genres = try context.fetchRows(
  ///   Playlist.self, joining: { $0.tracks }, columns: { list, track in (list.name, track.genre.name, RowFunction.count()) })
  /// ```
  ///
  /// - Parameters:
  ///   - type: A class that has exactly one entity in the model; objects of subentities are included.
  ///   - relationship: The relationship; objects without destinations have no row.
  ///   - columns: The columns of a row, a tuple, of the object and the destination.
  ///   - condition: Selects the rows by the object and the destination; nil for all.
  ///   - groups: The columns that groups are formed by; nil for the columns that are not about groups.
  ///   - having: Selects the groups, and the rows by windows; nil for all.
  ///   - sort: The order of the rows, most significant first; nil for no order.
  ///   - distinct: Whether rows that are equal to another are left out.
  ///   - limit: The maximum number of rows; nil for all.
  ///   - offset: How many of the first rows to skip.
  /// - Throws: As `fetch(_:)`.
  public func fetchRows<Object: ManagedObject, Joined: ManagedObject, each Column: RowColumn>(
    _ type: Object.Type, joining relationship: (ObjectQuery<Object>) -> ManyQuery<Joined>,
    columns: (ObjectQuery<Object>, ObjectQuery<Joined>) -> (repeat each Column),
    where condition: ((ObjectQuery<Object>, ObjectQuery<Joined>) -> Condition)? = nil,
    groupedBy groups: ((ObjectQuery<Object>, ObjectQuery<Joined>) -> [any RowColumn])? = nil,
    having: ((ObjectQuery<Object>, ObjectQuery<Joined>) -> Condition)? = nil,
    sort: ((ObjectQuery<Object>, ObjectQuery<Joined>) -> [RowSort])? = nil,
    distinct: Bool = false, limit: Int? = nil, offset: Int = 0
  ) throws -> [(repeat (each Column).Result)] {
    try fetchRows(
      RowFetch(
        type, joining: relationship, columns: columns, where: condition, groupedBy: groups, having: having,
        sort: sort, distinct: distinct, limit: limit, offset: offset))
  }

  /// The rows of an object and each pair of destinations of two to-many relationships, which may be the same one: pairs of an object's
  /// destinations.
  ///
  /// ```swift
  /// let together = try context.fetchRows(
  ///   Playlist.self, joining: { $0.tracks }, { list, track in list.tracks },
  ///   columns: { list, first, second in (first.title, second.title, RowFunction.count()) },
  ///   where: { list, first, second in first.title < second.title })
  /// ```
  ///
  /// - Parameters:
  ///   - type: A class that has exactly one entity in the model; objects of subentities are included.
  ///   - relationship: The first relationship; objects without destinations have no row.
  ///   - second: The second relationship, of the object or of its destination; rows without destinations are left out.
  ///   - columns: The columns of a row, a tuple, of the object and both destinations.
  ///   - condition: Selects the rows by the object and the destinations; nil for all.
  ///   - groups: The columns that groups are formed by; nil for the columns that are not about groups.
  ///   - having: Selects the groups, and the rows by windows; nil for all.
  ///   - sort: The order of the rows, most significant first; nil for no order.
  ///   - distinct: Whether rows that are equal to another are left out.
  ///   - limit: The maximum number of rows; nil for all.
  ///   - offset: How many of the first rows to skip.
  /// - Throws: As `fetch(_:)`.
  public func fetchRows<
    Object: ManagedObject, First: ManagedObject, Second: ManagedObject, each Column: RowColumn
  >(
    _ type: Object.Type, joining relationship: (ObjectQuery<Object>) -> ManyQuery<First>,
    _ second: (ObjectQuery<Object>, ObjectQuery<First>) -> ManyQuery<Second>,
    columns: (ObjectQuery<Object>, ObjectQuery<First>, ObjectQuery<Second>) -> (repeat each Column),
    where condition: ((ObjectQuery<Object>, ObjectQuery<First>, ObjectQuery<Second>) -> Condition)? = nil,
    groupedBy groups: ((ObjectQuery<Object>, ObjectQuery<First>, ObjectQuery<Second>) -> [any RowColumn])? =
      nil,
    having: ((ObjectQuery<Object>, ObjectQuery<First>, ObjectQuery<Second>) -> Condition)? = nil,
    sort: ((ObjectQuery<Object>, ObjectQuery<First>, ObjectQuery<Second>) -> [RowSort])? = nil,
    distinct: Bool = false, limit: Int? = nil, offset: Int = 0
  ) throws -> [(repeat (each Column).Result)] {
    try fetchRows(
      RowFetch(
        type, joining: relationship, second, columns: columns, where: condition, groupedBy: groups,
        having: having, sort: sort, distinct: distinct, limit: limit, offset: offset))
  }

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
  ///   - groups: The columns that groups are formed by; nil for the columns that are not about groups.
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
    try RowFetching(self).forEachRow(of: ObjectFetch(self).request(type, condition, [], limit, offset), query)
    { values, converter in
      var named: [String: Value] = [:]
      for (place, output) in converter.outputs.enumerated() {
        named[output.name] = try converter.value(values, place)
      }
      rows.append(try Row(from: RowDecoder(values: named)))
      return true
    }
    return rows
  }

  /// The rows of a fetch.
  ///
  /// - Throws: As `fetch(_:)`.
  /// - Complexity: As that of the fetches together; O(n log n) for n rows in an order by columns.
  public func fetchRows<Row>(_ fetch: RowFetch<Row>) throws -> [Row] {
    var rows: [Row] = []
    try enumerateRows(fetch) { row in
      rows.append(row)
      return true
    }
    return rows
  }

  /// Calls a function with each row of a fetch, without keeping them. Rows of several fetches are kept if they are sorted, or if duplicates
  /// are left out.
  ///
  /// - Parameters:
  ///   - fetch: The fetch.
  ///   - body: Called with each row until it returns false.
  /// - Throws: As `fetch(_:)`, and what `body` throws.
  public func enumerateRows<Row>(_ fetch: RowFetch<Row>, _ body: (Row) throws -> Bool) throws {
    guard case .part(let part) = fetch.content else {
      var reads = RowReads()
      return try RowFetching(self).forEachRow(of: fetch, &reads) { try body($0.decoded()) }
    }
    try enumerateColumns(fetch) { columns in try body(part.decode(&columns)) }
  }

  /// Calls `body` with the columns of each row of a fetch that is not one of several, until it returns false.
  @usableFromInline func enumerateColumns<Row>(
    _ fetch: RowFetch<Row>, _ body: (inout ColumnValues) throws -> Bool
  ) throws {
    guard case .part(let part) = fetch.content else { return }
    beginUse("fetching rows")
    defer { endUse() }
    try beginReading()
    let view = try readingView().forOneReader()
    defer { withExtendedLifetime(view) {} }
    if let extremes = part.extremes, let found = try ObjectFetch(self).ends(extremes, in: view) {
      var columns = ColumnValues(found, nil)
      _ = try body(&columns)
      return
    }
    try RowFetching(self).forEachRow(in: view, { try part.prepare(self, $0, $1) }, columns: body)
  }
}

/// Fetching dictionaries: rows whose columns are known at run time.
extension ManagedObjectContext {
  /// The rows of a request as dictionaries: its `propertiesToFetch`, grouped by its `propertiesToGroupBy`.
  ///
  /// Attributes have the types that `value(forKey:)` has in models without classes, such as `Int64` for each integer of 64 bits and the raw
  /// value of an enum; composite attributes are dictionaries, objects are identifiers, counts are `Int`, and missing values are left out.
  /// Unlike Core Data, unsaved changes are included if the request includes them.
  ///
  /// - Throws: As `fetch(_:)`; also if a column has a value for each object and is neither grouped nor aggregated.
  public func fetchDictionaries<Object: FetchRequestResult>(
    _ request: FetchRequest<Object>
  ) throws -> [[String: Any]] {
    var dictionaries: [[String: Any]] = []
    try enumerateDictionaries(request) { dictionary in
      dictionaries.append(dictionary)
      return true
    }
    return dictionaries
  }

  /// Calls a function with each dictionary, as `fetchDictionaries` would return it, without keeping them.
  ///
  /// - Parameters:
  ///   - request: The request.
  ///   - body: Called with each row until it returns false.
  /// - Throws: As `fetchDictionaries(_:)`, and what `body` throws.
  public func enumerateDictionaries<Object: FetchRequestResult>(
    _ request: FetchRequest<Object>, _ body: ([String: Any]) throws -> Bool
  ) throws {
    beginUse("fetching dictionaries")
    defer { endUse() }
    try DictionaryFetch(request, self).forEach(body)
  }

  /// The plan of fetching a request's dictionaries now.
  ///
  /// - Throws: As `fetchDictionaries(_:)`.
  public func plan<Object: FetchRequestResult>(
    forDictionaries request: FetchRequest<Object>
  ) throws -> FetchPlan {
    beginUse("planning a fetch")
    defer { endUse() }
    try beginReading()
    return try DictionaryFetch(request, self).plan()
  }

  /// Fetches a request's dictionaries without returning them, and returns the plan with the numbers of rows that each step had, and how
  /// long it took.
  ///
  /// - Throws: As `fetchDictionaries(_:)`.
  public func analyze<Object: FetchRequestResult>(
    dictionaries request: FetchRequest<Object>
  ) throws -> FetchPlan {
    beginUse("analysing a fetch")
    defer { endUse() }
    try beginReading()
    return try DictionaryFetch(request, self).analysis()
  }
}
