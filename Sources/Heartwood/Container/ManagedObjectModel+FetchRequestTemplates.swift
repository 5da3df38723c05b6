/// Fetch requests of a model by name. They are stored with the model, but are no part of what its data look like.
extension ManagedObjectModel {
  /// The requests by their names.
  @_disfavoredOverload
  public var fetchRequestTemplatesByName: [String: FetchRequest<ManagedObject>] {
    fetchRequestTemplates.mapValues { FetchRequest($0) }
  }

  /// A request of the model, whose variables have no values; nil if there is none of this name.
  @_disfavoredOverload
  public func fetchRequestTemplate(forName name: String) -> FetchRequest<ManagedObject>? {
    fetchRequestTemplates[name].map { FetchRequest($0) }
  }

  /// A request of the model with values in place of its variables; nil if there is none of this name.
  ///
  /// Executing it fails if a variable has no value.
  ///
  /// - Parameters:
  ///   - name: The request's name.
  ///   - variables: The values by the names of their variables, without the sign.
  public func fetchRequestFromTemplate(
    withName name: String, substitutionVariables variables: [String: (any PredicateArgument)?]
  ) -> FetchRequest<ManagedObject>? {
    fetchRequestFromTemplate(withName: name, substitutionVariables: variables, resultType: ManagedObject.self)
  }

  /// A request of the model for objects of a class, with values in place of its variables; nil if there is none of this name.
  ///
  /// - Parameters:
  ///   - name: The request's name.
  ///   - variables: The values by the names of their variables, without the sign.
  ///   - type: The class of the objects.
  public func fetchRequestFromTemplate<Object: FetchRequestResult>(
    withName name: String, substitutionVariables variables: [String: (any PredicateArgument)?],
    resultType type: Object.Type
  ) -> FetchRequest<Object>? {
    fetchRequestTemplates[name].map { FetchRequest($0, variables) }
  }

  /// Sets a request of the model, or removes it.
  ///
  /// - Parameters:
  ///   - template: A request with the name of an entity or the class of one. Its predicate may have variables, as in
  ///     `FormatPredicate("age > $AGE")`, and so may its columns and HAVING predicate. Nil for none.
  ///   - name: The request's name.
  /// - Precondition: The model is not in use.
  /// - Throws: `.coreData` if the entity is not of the model, or the predicate cannot be used for it, or a column has no text, as a window.
  public func setFetchRequestTemplate<Object: ManagedObject>(
    _ template: FetchRequest<Object>?, forName name: String
  ) throws(HeartwoodError) {
    guard let template else {
      fetchRequestTemplates[name] = nil
      return
    }
    let entity = template.entityName.map { entitiesByName[$0] } ?? entity(of: Object.self)
    guard let entity else {
      throw HeartwoodError(
        .coreData,
        "the fetch request \(name) is for \(template.entityName ?? "\(Object.self)"), which is no entity of the model"
      )
    }
    fetchRequestTemplates[name] = try FetchRequestTemplate(template, for: entity)
  }
}

extension FetchRequestTemplate {
  /// - Parameter entity: The entity of the request.
  /// - Throws: `.coreData` if the predicate cannot be used for it, or a column has no text.
  init<Object: FetchRequestResult>(
    _ template: FetchRequest<Object>, for entity: EntityDescription
  ) throws(HeartwoodError) {
    var sorts: [FetchRequestTemplate.Order] = []
    for sort in template.sortDescriptors ?? [] {
      let key = sort.sortKey
      sorts.append(
        FetchRequestTemplate.Order(
          key: "\(key.expression)", isAscending: key.isAscending,
          options: key.options.rawValue))
    }
    self.init(
      entityName: entity.displayName,
      predicate: try template.predicate?.conditionTree(for: entity).description,
      sort: sorts, limit: template.fetchLimit, offset: template.fetchOffset,
      batchSize: template.fetchBatchSize,
      includesSubentities: template.includesSubentities,
      includesPendingChanges: template.includesPendingChanges,
      returnsObjectsAsFaults: template.returnsObjectsAsFaults,
      refreshesRefetchedObjects: template.shouldRefreshRefetchedObjects,
      includesPropertyValues: template.includesPropertyValues ? nil : false,
      prefetching: template.relationshipKeyPathsForPrefetching?.map { path in
        ConditionPrinter().text(of: PropertyPath(.fetched, path.prefetchedSteps.map(\.path)))
      },
      columns: try template.propertiesToFetch.map(FetchRequestTemplate.columns),
      groups: try template.propertiesToGroupBy.map(FetchRequestTemplate.columns),
      having: try template.havingPredicate?.conditionTree(for: entity).description,
      isDistinct: template.returnsDistinctResults ? true : nil)
  }
}

extension FetchRequest {
  /// - Parameter variables: The values by the names of their variables, without the sign.
  convenience init(_ template: FetchRequestTemplate, _ variables: [String: (any PredicateArgument)?]) {
    self.init(template)
    if let predicate = self.predicate as? FormatPredicate {
      self.predicate = predicate.withSubstitutionVariables(variables)
    }
    if let having = havingPredicate as? FormatPredicate {
      havingPredicate = having.withSubstitutionVariables(variables)
    }
    propertiesToFetch = propertiesToFetch?.map { $0.substituting(variables) }
    propertiesToGroupBy = propertiesToGroupBy?.map { $0.substituting(variables) }
  }

  convenience init(_ template: FetchRequestTemplate) {
    self.init(entityName: template.entityName)
    predicate = template.predicate.map(FetchRequestTemplate.predicate)
    let sorts = template.sort.map(FetchRequestTemplate.sort)
    sortDescriptors = sorts.isEmpty ? nil : sorts
    fetchLimit = template.limit
    fetchOffset = template.offset
    fetchBatchSize = template.batchSize
    includesSubentities = template.includesSubentities
    includesPendingChanges = template.includesPendingChanges
    returnsObjectsAsFaults = template.returnsObjectsAsFaults
    shouldRefreshRefetchedObjects = template.refreshesRefetchedObjects
    includesPropertyValues = template.includesPropertyValues ?? true
    relationshipKeyPathsForPrefetching = template.prefetching
    propertiesToFetch = template.columns?.map { TemplateColumn(column: $0) }
    propertiesToGroupBy = template.groups?.map { TemplateColumn(column: $0) }
    havingPredicate = template.having.map(FetchRequestTemplate.predicate)
    returnsDistinctResults = template.isDistinct ?? false
  }
}

extension FetchRequestTemplate {
  fileprivate static func sort(_ order: FetchRequestTemplate.Order) -> any FetchSort {
    let options = ComparisonOptions(rawValue: order.options)
    // A path is the key as it is, also if its first name is a keyword.
    if order.key.isDottedName {
      return NamedSort(order.key, ascending: order.isAscending, options: options)
    }
    do throws(HeartwoodError) {
      return ComputedSort(
        try FormatParser.expression(order.key, []), ascending: order.isAscending, options: options)
    } catch {
      return ComputedSort(
        ConditionExpression(.refused(error)), ascending: order.isAscending, options: options)
    }
  }

  /// A text that cannot be read is an error when the request is executed, not before.
  fileprivate static func predicate(_ text: String) -> FormatPredicate {
    do throws(HeartwoodError) {
      return try FormatPredicate(text)
    } catch {
      return FormatPredicate(Condition(.refused(error)))
    }
  }

  /// The columns as text.
  ///
  /// - Throws: `.coreData` if a column cannot be read again from its text.
  fileprivate static func columns(_ properties: [any FetchableProperty]) throws(HeartwoodError) -> [Column] {
    var columns: [Column] = []
    for property in properties {
      let made = try property.fetchedColumn()
      let column = Column(
        name: made.name, expression: made.expression.description, type: made.expressionResultType.rawValue)
      do {
        _ = try FormatParser.expression(column.expression, [])
      } catch {
        throw HeartwoodError(
          .coreData,
          "the column \(made.name) cannot be stored in a model, because its text \(column.expression) is not in the format language: \(error.message)"
        )
      }
      columns.append(column)
    }
    return columns
  }
}

/// A column of a template, whose text is read when the request is executed.
private struct TemplateColumn: FetchableProperty {
  let column: FetchRequestTemplate.Column
  var variables: [String: (any PredicateArgument)?] = [:]

  func fetchedColumn() throws(HeartwoodError) -> ExpressionDescription {
    ExpressionDescription(
      name: column.name,
      try FormatParser.expression(column.expression, []).withSubstitutionVariables(variables),
      AttributeType(rawValue: column.type) ?? .undefined)
  }
}

extension FetchableProperty {
  fileprivate func substituting(_ variables: [String: (any PredicateArgument)?]) -> any FetchableProperty {
    guard var column = self as? TemplateColumn else { return self }
    column.variables = variables
    return column
  }
}
