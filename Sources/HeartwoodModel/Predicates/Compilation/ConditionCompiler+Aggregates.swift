/// Values of the destinations of to-many relationships.
extension ConditionCompiler {
  /// - Parameter isWhole: Whether the path may end in a property of the destinations, which is then the value of each.
  mutating func compile(_ aggregate: Aggregate, isWhole: Bool = false) throws(HeartwoodError) -> ComputedValue
  {
    var aggregate = aggregate
    let path = try resolve(aggregate.path)
    let (destinations, rest) = try destinations(path)
    if !rest.isEmpty {
      aggregate = try extended(aggregate, path, destinations.entity, rest, isWhole: isWhole)
    } else if isWhole, aggregate.element != nil {
      aggregate.element = .path(PropertyPath(aggregate.scope, column: path.column))
    }
    return try withScope(aggregate.scope, destinations.entity) { (compiler) throws(HeartwoodError) in
      try compiler.compile(aggregate, over: destinations.value, path)
    }
  }

  /// An aggregate over a path that goes on after its first to-many relationship: the values of one destination are those of the
  /// rest of the path.
  private func extended(
    _ aggregate: Aggregate, _ path: ResolvedPath, _ entity: EntityDescription, _ rest: [PathStep],
    isWhole: Bool
  ) throws(HeartwoodError) -> Aggregate {
    let scope = Scope()
    let further = PropertyPath(scope, rest, column: path.column)
    let end = try PathResolver(scopes: [(scope, entity)]).resolve(further)
    var result = aggregate
    result.scope = scope
    result.filter = nil
    if isWhole {
      result.element = .path(further)
    } else if case .toMany = end.end {
      result.element = ConditionExpression(
        .collection(
          DestinationValues(
            path: further, scope: aggregate.scope, element: aggregate.element, filter: aggregate.filter)))
    } else if aggregate.filter == nil, case .path(let element)? = aggregate.element?.kind,
      element.scope === aggregate.scope
    {
      result.element = .path(PropertyPath(scope, rest + element.steps, column: path.column))
    } else if aggregate.element == nil, aggregate.filter == nil {
      result.element = .path(further)
    } else {
      throw toManyFollowed(path)
    }
    return result
  }

  private mutating func compile(
    _ aggregate: Aggregate, over destinations: Destinations, _ path: ResolvedPath
  ) throws(HeartwoodError) -> ComputedValue {
    let name = "\(path.name).@\(aggregate.function.rawValue)"
    var filter: RowTest?
    var element: ComputedValue?
    var zero = Value.int(0)
    let level = try paths.used.outermostLevel { () throws(HeartwoodError) in
      if let condition = aggregate.filter { filter = try compile(condition).test }
      guard let expression = aggregate.element else { return }
      let operand = try self.operand(expression)
      if case .path(let path) = operand, case .attribute(let attribute, _) = path.end {
        zero = attribute.type.zero
      }
      element = try computed(operand)
    }
    let isAboutDestinationsOnly = level >= paths.scopes.count - 1
    // A value that is a list counts with each of its members.
    let kind = element.flatMap { $0.kind == .list ? $0.memberKind : $0.kind }
    if let element, let kind { try aggregate.function.check(element, kind, as: name) }
    let leadsToSharedOwner = destinations.outward > 0 || !destinations.hops.isEmpty
    let memo = isAboutDestinationsOnly && leadsToSharedOwner ? addMemo() : nil
    let reader = AggregateReader(
      aggregate.function, destinations, element?.reader, filter, memo, zero: zero)
    return ComputedValue(
      reader: reader, kind: aggregate.function.selectsValue ? kind ?? .number : .number, name: name,
      column: path.column)
  }

  /// A to-many path as a list of values.
  mutating func compile(valuesOf path: ResolvedPath) throws(HeartwoodError) -> ComputedValue {
    let (destinations, rest) = try destinations(path)
    let scope = Scope()
    return try withScope(scope, destinations.entity) { (compiler) throws(HeartwoodError) in
      let element =
        rest.isEmpty ? nil : ConditionExpression.path(PropertyPath(scope, rest, column: path.column))
      return try compiler.compile(element, nil, isDistinct: false, over: destinations, path)
    }
  }

  /// The value of a collection operator or a subquery.
  mutating func compile(_ values: DestinationValues) throws(HeartwoodError) -> ComputedValue {
    let compiled = try compileMembers(of: values)
    try compiled.refuseComposite("use one of its elements")
    return compiled
  }

  private mutating func compileMembers(
    of values: DestinationValues
  ) throws(HeartwoodError) -> ComputedValue {
    let path = try resolve(values.path)
    let (destinations, rest) = try destinations(path)
    guard rest.isEmpty else { return try compile(values, path, destinations, rest) }
    return try withScope(values.scope, destinations.entity) { (compiler) throws(HeartwoodError) in
      try compiler.compile(
        values.element, values.filter, isDistinct: values.isDistinct, over: destinations, path)
    }
  }

  /// Values of a path over more than one to-many relationship.
  private mutating func compile(
    _ values: DestinationValues, _ path: ResolvedPath,
    _ destinations: (value: Destinations, entity: EntityDescription),
    _ rest: [PathStep]
  ) throws(HeartwoodError) -> ComputedValue {
    let scope = Scope()
    var inner = values
    inner.path = PropertyPath(scope, rest, column: path.column)
    inner.isDistinct = false
    let end = try PathResolver(scopes: [(scope, destinations.entity)]).resolve(inner.path)
    var element = ConditionExpression(.collection(inner))
    if !end.isToMany {
      guard values.filter == nil else { throw toManyFollowed(path) }
      var steps = rest
      if case .path(let further)? = values.element?.kind { steps += further.steps }
      element = .path(PropertyPath(scope, steps, column: path.column))
    }
    return try withScope(scope, destinations.entity) { (compiler) throws(HeartwoodError) in
      try compiler.compile(element, nil, isDistinct: values.isDistinct, over: destinations, path)
    }
  }

  private mutating func compile(
    _ element: ConditionExpression?, _ filter: Condition?, isDistinct: Bool,
    over destinations: (value: Destinations, entity: EntityDescription), _ path: ResolvedPath
  ) throws(HeartwoodError) -> ComputedValue {
    let filter: RowTest? = if let filter { try compile(filter).test } else { nil }
    let value: ComputedValue? = if let element { try computed(element) } else { nil }
    let kind = value.flatMap { $0.kind == .list ? $0.memberKind : $0.kind }
    return ComputedValue(
      reader: DestinationValuesReader(destinations.value, value?.reader, filter, isDistinct: isDistinct),
      kind: .list,
      memberKind: value == nil ? .object(destinations.entity.rootEntity) : kind,
      name: value?.name ?? path.name,
      column: path.column)
  }
}

extension Aggregate.Function {
  /// - Parameters:
  ///   - value: The value that the function is applied to.
  ///   - kind: The kind of its values.
  ///   - name: The function's name in messages.
  /// - Throws: `.invalidPredicate` if the function is about numbers, and the value is none.
  package func check(
    _ value: ConditionCompiler.ComputedValue, _ kind: ValueKind, as name: String
  ) throws(HeartwoodError) {
    if selectsValue { try value.refuseComposite("take the \(name) of one of its elements") }
    guard needsNumbers, kind != .number, kind != .null else { return }
    throw .predicate("\(value.name) is \(kind.name): \(name) needs numbers", column: value.column)
  }
}
