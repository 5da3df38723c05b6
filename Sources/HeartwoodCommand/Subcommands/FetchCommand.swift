import Heartwood

/// Prints objects as rows.
enum FetchCommand: Subcommand {
  static let syntax = SubcommandSyntax(
    name: "fetch",
    summary: "show the objects of an entity as a table, JSON or CSV",
    arguments: [.store, .entity],
    options: [
      .predicate,
      SubcommandSyntax.Option(
        name: "sort", value: "names",
        summary: "sort by these names or expressions, or @id, - before one that descends: name,-area"),
      SubcommandSyntax.Option(name: "limit", value: "number", summary: "at most this many objects"),
      SubcommandSyntax.Option(name: "offset", value: "number", summary: "skip this many objects first"),
      SubcommandSyntax.Option(
        name: "columns", value: "names",
        summary: "what to show: name,capital.name,cities.@count,@id,total=@sum.area,place=RANK() OVER (…)"),
      SubcommandSyntax.Option(
        name: "group-by", value: "names", summary: "a row for each group with equal values of these"),
      SubcommandSyntax.Option(
        name: "having", value: "predicate",
        summary: "only the groups, or rows by windows, for which this holds: @count > 2, place <= 3"),
      SubcommandSyntax.Option(name: "distinct", summary: "leave out rows that are equal to another"),
      .format, .moment, .model,
      SubcommandSyntax.Option(
        name: "plan", summary: "print the query plan, with expected numbers of rows, instead of the objects"),
      SubcommandSyntax.Option(
        name: "analyze", summary: "execute the plan, and print it with the real numbers of rows and times"),
    ],
    discussion: PredicateHelp.text + "\n\n" + PredicateHelp.rowText + """


      CSV and JSON
        Values are exact, as heartwood import reads them: dates in ISO 8601 with all digits of their fractions of a second;
        data in base 64; the numbers NaN, Infinity and -Infinity. Years before 0000 and after 9999 have a sign, as in
        +12024-01-31T12:00:00Z; a date in a year of more than six digits is its seconds since 2001. In CSV an empty field
        is no value, and "" an empty text or empty data; an optional composite attribute has a column of its own before
        its elements, {} where it has a value. Spreadsheets take cells that begin with = + - @ for formulas.
        In CSV a relationship to one is the @id of an object, which import knows only in the same file. To import rows into
        the store again, name what is unique in the destinations: --columns code,name,continent.name.
      """,
    examples: [
      SubcommandSyntax.Example(
        line: "heartwood fetch world.heartwood Country --where 'population > 100000000' --sort -population",
        meaning: "the largest first"),
      SubcommandSyntax.Example(
        line:
          "heartwood fetch world.heartwood City --where 'country.code == \"FR\"' --columns name,country.name",
        meaning: "through a relationship"),
      SubcommandSyntax.Example(
        line:
          "heartwood fetch world.heartwood Country --columns continent.name,people=@sum.population --group-by continent.name",
        meaning: "sums of groups"),
      SubcommandSyntax.Example(
        line:
          "heartwood fetch world.heartwood Country --columns 'name,n=RANK() OVER (ORDER BY area DESC)' --having 'n <= 3'",
        meaning: "the three with the largest areas, and their ranks"),
    ])

  static func run(_ arguments: ParsedArguments, console: any Console) throws(CommandFailure) -> ExitCode {
    let query = try FetchQuery(arguments)
    PredicateHelp.noteHabits(query.predicate, console)
    try CommandStore.with(query.path, for: .reading, model: arguments.value("model"), console) { store in
      try store.pin(to: query.moment)
      let entity = try store.entity(named: query.entity)
      if let rows = query.rows {
        let request = try query.request(entity, store, sort: [])
        let shows: FetchedRows.Shown =
          query.analyzes ? .analysis : query.showsPlan ? .plan : .rows(query.format)
        return try rows.write(request, sort: query.sort, shows, in: store, to: console)
      }
      let request = try query.request(entity, store, sort: query.sort)
      if query.analyzes {
        try console.writeLine(store.context.analyze(request).description)
      } else if query.showsPlan {
        try console.writeLine(store.context.plan(for: request).description)
      } else {
        try write(request, query.columnPaths(of: entity), query, store, to: console)
      }
    }
    return .success
  }

  private static func write(
    _ request: FetchRequest<ManagedObject>, _ columns: [ColumnPath], _ query: FetchQuery,
    _ store: CommandStore,
    to console: any Console
  ) throws {
    var writer = ResultWriter(columns: columns.map(\.text), format: query.format, to: console)
    if query.limit != 0, try !writeRows(request, columns, store, to: &writer) {
      try store.context.enumerate(request) { objects in
        let rows = objects.map { object in columns.map { $0.value(of: object) } }
        try store.checkReadings()
        for row in rows { try writer.add(row) }
      }
    }
    try writer.finish()
  }

  /// Writes what a request finds in a store of Core Data without making objects.
  ///
  /// - Returns: Whether its rows have all that is wanted.
  private static func writeRows(
    _ request: FetchRequest<ManagedObject>, _ columns: [ColumnPath], _ store: CommandStore,
    to writer: inout ResultWriter
  ) throws -> Bool {
    guard let rows = try store.appleRows(request) else { return false }
    let entity = try store.entity(named: request.entityName ?? "")
    let rowColumns = columns.compactMap { $0.rowColumn(of: entity) }
    guard rowColumns.count == columns.count else { return false }
    var (toSkip, left) = (request.fetchOffset, request.fetchLimit == 0 ? .max : request.fetchLimit)
    try rows.forEach { row in
      guard toSkip == 0 else {
        toSkip -= 1
        return true
      }
      try writer.add(rowColumns.map { try $0.value(of: row) })
      left -= 1
      return left > 0
    }
    return true
  }
}

/// The parsed arguments of `fetch`.
private struct FetchQuery {
  let path: String
  let entity: String
  let predicate: String?
  let sort: [any FetchSort]
  let limit: Int?
  let offset: Int
  let columns: [String]?
  let format: OutputFormat
  let moment: Moment?
  let showsPlan: Bool
  let analyzes: Bool
  /// The rows to show instead of objects; nil for objects.
  let rows: FetchedRows?

  init(_ arguments: ParsedArguments) throws(CommandFailure) {
    path = arguments.argument(0) ?? ""
    entity = arguments.argument(1) ?? ""
    predicate = arguments.value("where")
    var sorts: [any FetchSort] = []
    for word in try arguments.list("sort") ?? [] { sorts.append(try Self.sort(word)) }
    sort = sorts
    limit = try arguments.count("limit")
    offset = try arguments.count("offset") ?? 0
    columns = try arguments.list("columns")
    format = try arguments.choice("format", OutputFormat.self) ?? .table
    moment = arguments.moment()
    showsPlan = arguments.has("plan")
    analyzes = arguments.has("analyze")
    rows = try FetchedRows(arguments)
  }

  /// A name, or an expression such as `lowercase(name)`, with a sign before it.
  private static func sort(_ word: String) throws(CommandFailure) -> any FetchSort {
    let isSigned = word.hasPrefix("-") || word.hasPrefix("+")
    let text = isSigned ? String(word.dropFirst()) : word
    let name = FetchedRows.propertyPath(text) ?? text
    if name.isDottedName { return NamedSort(name, ascending: !word.hasPrefix("-")) }
    do {
      return try ComputedSort(text, ascending: !word.hasPrefix("-"))
    } catch {
      throw .usage("the order \"\(text)\": \(error.message)")
    }
  }

  func request(
    _ entity: EntityDescription, _ store: CommandStore, sort: [any FetchSort]
  ) throws -> FetchRequest<ManagedObject> {
    let request = try store.request(entity, where: predicate, sort: sort)
    request.fetchLimit = limit ?? 0
    request.fetchOffset = offset
    return request
  }

  func columnPaths(of entity: EntityDescription) throws(CommandFailure) -> [ColumnPath] {
    guard let columns else { return ColumnPath.usual(of: entity, as: format) }
    var paths: [ColumnPath] = []
    for column in columns {
      guard !paths.contains(where: { $0.text == column }) else {
        throw .usage("--columns has \"\(column)\" twice")
      }
      paths.append(try ColumnPath(column, of: entity))
    }
    return paths
  }
}
