/// The fetch of a request's dictionaries: rows whose columns are known at run time.
struct DictionaryFetch<Object: FetchRequestResult> {
  private let context: ManagedObjectContext
  private let columns: [DictionaryColumn]
  private let query: RowQuery
  /// The request for the objects, without the order, which is the query's.
  private let objects: FetchRequest<Object>

  /// - Throws: `.coreData` or `.invalidPredicate` for columns, groups or orders that the request cannot have.
  init(_ request: FetchRequest<Object>, _ context: ManagedObjectContext) throws {
    self.context = context
    let entity = try ObjectFetch(context).entity(of: request)
    columns = try request.fetchedColumns(of: entity).map {
      DictionaryColumn($0, of: entity, hasElements: request.propertiesToGroupBy == nil)
    }
    query = try request.rowQuery(columns.flatMap(\.all), entity)
    objects = request.copy()
    objects.sortDescriptors = nil
  }

  /// Calls a function with each dictionary until it returns false.
  func forEach(_ body: ([String: Any]) throws -> Bool) throws {
    try RowFetching(context).forEachRow(of: objects, query) { values, converter in
      var place = 0
      return try body(dictionary(of: columns, values, converter, &place))
    }
  }

  private func dictionary(
    of columns: [DictionaryColumn], _ values: [Value], _ converter: RowValues, _ place: inout Int
  ) throws -> [String: Any] {
    var dictionary: [String: Any] = [:]
    for column in columns {
      let stored = try converter.anyValue(values, place, as: column.description.expressionResultType)
      let value = column.transformable?.transformed(any: stored) ?? stored
      place += 1
      guard let elements = column.elements else {
        dictionary[column.name] = value
        continue
      }
      let composite = try self.dictionary(of: elements, values, converter, &place)
      if value != nil { dictionary[column.name] = composite }
    }
    return dictionary
  }

  /// The number of dictionaries; nil if each is of one object.
  func count() throws -> Int? {
    guard query.isGrouped || query.isDistinct else { return nil }
    var count = 0
    try RowFetching(context).forEachRow(of: objects, query) { _, _ in
      count += 1
      return true
    }
    return count
  }

  func plan() throws -> FetchPlan {
    try RowFetching(context).rowExecution(of: objects, query, in: context.readingView()).explain()
  }

  /// The plan with the numbers of rows that each step had, and how long it took.
  func analysis() throws -> FetchPlan {
    let view = try context.readingView().forOneReader()
    defer { withExtendedLifetime(view) {} }
    let figures = FetchFigures()
    let run = try RowFetching(context).rowExecution(of: objects, query, in: view, counting: figures)
    try figures.timeWhole {
      try run.forEachInWindow { _ in
        figures.results += 1
        return true
      }
    }
    return try run.explain(results: figures.results)
  }
}

/// A column of a dictionary. A composite attribute has a column for whether there is a value, and those of its elements after it.
private struct DictionaryColumn {
  let name: String
  let description: ExpressionDescription
  /// The transformable attribute that the column is.
  private(set) var transformable: AttributeDescription?
  /// Nil for a value that is none of a composite attribute.
  var elements: [DictionaryColumn]?

  /// - Parameter hasElements: False for groups, which have no values of single objects.
  init(_ description: ExpressionDescription, of entity: EntityDescription, hasElements: Bool) {
    (name, self.description) = (description.name, description)
    transformable = description.expression.attribute(of: entity).flatMap { $0.isTransformable ? $0 : nil }
    guard hasElements, case .path(let path) = description.expression.kind,
      let (owner, slot) = description.composite(from: entity)
    else { return }
    elements = Self.elements(at: slot, of: owner, in: path)
  }

  private init(_ name: String, at slot: Int, of owner: EntityDescription, in path: PropertyPath) {
    let own = PropertyPath(path.scope, path.steps + [.name(name)], column: path.column)
    self.name = name
    description = ExpressionDescription(name: ConditionPrinter().text(of: own), expression: .path(own))
    elements = Self.elements(at: slot, of: owner, in: own)
  }

  /// The columns of the elements of a composite attribute; nil for another attribute.
  private static func elements(
    at slot: Int, of owner: EntityDescription, in path: PropertyPath
  ) -> [DictionaryColumn]? {
    owner.compiled.composites[slot]?.map { DictionaryColumn($0.name, at: $0.slot, of: owner, in: path) }
  }

  var all: [ExpressionDescription] { [description] + (elements ?? []).flatMap(\.all) }
}

extension ExpressionDescription {
  /// The composite attribute, or the composite element of one, that the column is the whole of; nil for other columns.
  ///
  /// - Parameter entity: The entity of the fetched objects.
  package func composite(from entity: EntityDescription) -> (owner: EntityDescription, slot: Int)? {
    guard let attribute = expression.attribute(of: entity), attribute.type == .composite,
      let owner = attribute.entity, let slot = owner.slot(named: attribute.name)
    else { return nil }
    return (owner, slot)
  }
}

extension FetchRequest {
  /// The columns: those that the request names, otherwise the attributes and to-one relationships that rows have.
  fileprivate func fetchedColumns(of entity: EntityDescription) throws(HeartwoodError)
    -> [ExpressionDescription]
  {
    guard let propertiesToFetch else {
      var columns: [ExpressionDescription] = []
      for property in entity.properties where property.isColumnOfDictionaries {
        columns.append(try property.fetchedColumn())
      }
      return columns
    }
    var columns: [ExpressionDescription] = []
    for property in propertiesToFetch { columns.append(try property.fetchedColumn()) }
    guard !columns.isEmpty else {
      throw HeartwoodError(
        .coreData, "propertiesToFetch is empty: name at least one, or set it to nil for all")
    }
    if let name = columns.map(\.name).firstRepeated {
      throw HeartwoodError(.coreData, "propertiesToFetch has two columns of one name, such as \(name)")
    }
    return columns
  }

  fileprivate func rowQuery(
    _ columns: [ExpressionDescription], _ entity: EntityDescription
  ) throws(HeartwoodError) -> RowQuery {
    // Names of computed columns stand for them, unless the entity has such a property.
    var named: [String: ConditionExpression] = [:]
    for column in columns where entity.slot(named: column.name) == nil {
      named[column.name] = column.expression
    }
    func resolved(_ part: ConditionExpression) throws(HeartwoodError) -> ConditionExpression? {
      guard case .path(let path) = part.kind, path.steps.count == 1, case .name(let name) = path.steps[0]
      else {
        return nil
      }
      return named[name]
    }
    func inColumn(_ part: ConditionExpression) throws(HeartwoodError) -> ConditionExpression? {
      part.aggregateOfGroup(of: entity)
    }
    for (name, expression) in named { named[name] = try expression.replacing(inColumn) }
    var query = RowQuery(columns: [])
    for column in columns {
      query.columns.append(
        RowQuery.Column(name: column.name, expression: try column.expression.replacing(inColumn)))
    }
    if let propertiesToGroupBy {
      var groups: [ConditionExpression] = []
      for property in propertiesToGroupBy {
        groups.append(try property.fetchedColumn().expression.replacing(resolved))
      }
      query.groups = groups
    }
    func inGroup(_ part: ConditionExpression) throws(HeartwoodError) -> ConditionExpression? {
      if let named = try resolved(part) { return named }
      return try inColumn(part)
    }
    query.select(try havingPredicate?.conditionTree(for: entity).replacing(inGroup))
    if query.having != nil, query.groups == nil {
      throw HeartwoodError(.coreData, "havingPredicate selects groups, but propertiesToGroupBy is nil")
    }
    // One row of aggregates over all objects has no order, as in Core Data.
    let isOneRow =
      query.groups == nil && !query.columns.isEmpty
      && query.columns.allSatisfy { $0.expression.isAboutGroup && !$0.expression.isAboutWindow }
    for sort in isOneRow ? [] : sortDescriptors ?? [] {
      let key = sort.sortKey
      query.sorts.append(
        RowSortKey(
          expression: try key.expression.replacing(resolved),
          isAscending: key.isAscending,
          options: key.options))
    }
    query.isDistinct = returnsDistinctResults
    return query
  }
}

extension ConditionExpression {
  /// `sum:(price)` of an attribute, which is an aggregate of the group; nil for other expressions, also for functions over lists and
  /// relationships.
  fileprivate func aggregateOfGroup(of entity: EntityDescription) -> ConditionExpression? {
    guard case .function(let function, let arguments) = kind, let aggregate = function.aggregate,
      arguments.count == 1, case .path(let path) = arguments[0].kind,
      let resolved = try? PathResolver(scopes: [(.fetched, entity)]).resolve(path), !resolved.isToMany
    else { return nil }
    let element = aggregate == .count && path.steps.isEmpty ? nil : arguments[0]
    return ConditionExpression(.group(GroupAggregate(function: aggregate, element: element)))
  }
}

extension EntityDescription {
  /// Checks what a request for objects names as the properties to fetch.
  ///
  /// - Throws: `.coreData` if one is an expression, a path, or a to-many relationship.
  func checkPartial(_ properties: [any FetchableProperty]) throws(HeartwoodError) {
    for property in properties {
      let column = try property.fetchedColumn()
      if case .path(let path) = column.expression.kind, path.steps.count == 1,
        case .name(let name) = path.steps[0], let own = propertiesByName[name],
        (own as? RelationshipDescription)?.isToMany != true
      {
        continue
      }
      throw HeartwoodError(
        .coreData,
        "\(column.name) is no attribute or to-one relationship of \(displayName): propertiesToFetch of a fetch of objects has "
          + "these only; fetch dictionaries for others")
    }
  }
}

extension PropertyDescription {
  /// Whether dictionaries have the property if a request names none.
  fileprivate var isColumnOfDictionaries: Bool {
    if let attribute = self as? AttributeDescription {
      return !attribute.isTransient && !attribute.mayBeOutsideRow
    }
    return !isTransient && (self as? RelationshipDescription)?.isToMany == false
  }
}

extension Array where Element: Hashable {
  /// The first element that is there twice.
  fileprivate var firstRepeated: Element? {
    var seen: Set<Element> = []
    return first { !seen.insert($0).inserted }
  }
}
