extension ManagedObjectModel {
  /// Checks the expressions of derived attributes and of indexes. Freezes the model.
  ///
  /// - Throws: `.coreData` with the attribute or the index, and what is wrong.
  package func checkExpressions() throws(HeartwoodError) {
    try freeze()
    if let first = expressionProblems().first { throw first.error }
  }

  /// The errors in the expressions of derived attributes and of indexes, and their places: the path of an attribute, or the names of
  /// an entity and its index.
  ///
  /// - Precondition: The model is valid.
  func expressionProblems() -> [(place: String, error: HeartwoodError)] {
    var problems: [(place: String, error: HeartwoodError)] = []
    func check(
      _ place: String, _ body: () throws(HeartwoodError) -> Void, _ what: (HeartwoodError) -> String
    ) {
      do {
        try body()
      } catch {
        problems.append((place, .model(what(error))))
      }
    }
    for entity in entities {
      for case let attribute as AttributeDescription in entity.ownColumns where attribute.derivation != nil {
        check(
          attribute.displayName,
          { () throws(HeartwoodError) in _ = try Derivation(attribute, of: entity) }, \.message)
      }
      for index in entity.indexes {
        let name = "the index \(index.name) of \(entity.displayName)"
        let place = "\(entity.displayName) \(index.name)"
        if let text = index.condition {
          check(
            place, { () throws(HeartwoodError) in _ = try IndexCondition(text, of: entity) },
            { "\(name) cannot have the objects of \"\(text)\" only: \($0.message)" })
        }
        for text in index.elements.compactMap(\.expression) {
          check(
            place,
            { () throws(HeartwoodError) in
              _ = try entity.compiled.indexedExpressions.expression(text, of: entity)
            }, { "\(name) cannot be of \"\(text)\": \($0.message)" })
        }
      }
    }
    return problems
  }

  /// Checks the predicates of fetched properties. Freezes the model.
  ///
  /// - Throws: `.invalidPredicate` with the property and what is wrong.
  package func checkFetchedProperties() throws(HeartwoodError) {
    try freeze()
    if let first = fetchedPropertyProblems().first { throw first.error }
  }

  /// The errors in the requests of fetched properties, with the names of these.
  ///
  /// - Precondition: The model is valid.
  func fetchedPropertyProblems() -> [(place: String, error: HeartwoodError)] {
    var problems: [(place: String, error: HeartwoodError)] = []
    for entity in entities {
      for case let property as FetchedPropertyDescription in entity.ownProperties {
        do {
          try property.checkPredicate(self)
        } catch {
          problems.append((property.displayName, error))
        }
      }
    }
    return problems
  }
}

extension FetchedPropertyDescription {
  /// The variables of a fetched property's predicate.
  package enum Variable {
    package static let source = "FETCH_SOURCE"
    package static let property = "FETCHED_PROPERTY"

    /// Whether the property has what a path names: `name`, or `userInfo` and a key.
    package static func isOfProperty(_ path: [String]) -> Bool {
      path == ["name"] || path.count == 2 && path[0] == "userInfo"
    }
  }

  /// Checks that the predicate can be used.
  fileprivate func checkPredicate(_ model: ManagedObjectModel) throws(HeartwoodError) {
    guard let template, let text = template.predicate,
      let fetched = model.entitiesByName[template.entityName],
      let entity
    else { return }
    do throws(HeartwoodError) {
      let condition = try FormatPredicate(text).condition
      for path in condition.variablePaths where path.first == Variable.source && path.count > 1 {
        let names = path.dropFirst().map(PathStep.name)
        let end = try PathResolver(scopes: [(.fetched, entity)]).resolve(PropertyPath(.fetched, names)).end
        if case .toMany = end {
          throw .predicate("$\(path.joined(separator: ".")) is a to-many relationship")
        }
      }
      let known = condition.withVariables {
        let rest = Array($0.dropFirst())
        let isKnown = $0.first == Variable.property && (rest.isEmpty || Variable.isOfProperty(rest))
        return $0.first == Variable.source || isKnown ? .null : nil
      }
      _ = try CompiledPredicate(known, entity: fetched, store: nil)
    } catch {
      throw .model(
        "the predicate \"\(text)\" of the fetched property \(displayName) cannot be used: \(error.message)")
    }
  }
}

extension ManagedObjectModel {
  /// The errors in the predicates of requests, with the names of these.
  ///
  /// - Precondition: The model is valid.
  func fetchRequestTemplateProblems() -> [(place: String, error: HeartwoodError)] {
    var problems: [(place: String, error: HeartwoodError)] = []
    for (name, template) in fetchRequestTemplates.sorted(by: { $0.key < $1.key }) {
      guard let text = template.predicate, let entity = entitiesByName[template.entityName] else { continue }
      let place = Self.place(ofFetchRequest: name)
      do throws(HeartwoodError) {
        try FormatPredicate(text).condition.check(for: entity)
      } catch {
        problems.append(
          (place, .model("the predicate \"\(text)\" of \(place) cannot be used: \(error.message)")))
      }
    }
    return problems
  }
}

extension Condition {
  /// Checks that the condition can be used, as far as that does not depend on the values of variables.
  fileprivate func check(for entity: EntityDescription) throws(HeartwoodError) {
    guard !variablePaths.isEmpty else {
      _ = try CompiledPredicate(self, entity: entity, store: nil)
      return
    }
    var paths: [PropertyPath] = []
    _ = rewritten { expression in
      if case .path(let path) = expression.kind, path.scope === Scope.fetched, !path.steps.isEmpty {
        paths.append(path)
      }
      return expression
    }
    for path in paths { _ = try PathResolver(scopes: [(.fetched, entity)]).resolve(path) }
  }
}
