/// Resolves the tree of a condition for a store that translates it.
struct StoreConditionLowering {
  private var paths: PathResolver
  private let store: StoreIdentity
  /// The numbers of the scopes.
  private var variables = [0]
  private var lastVariable = 0

  init(_ entity: EntityDescription, in store: StoreIdentity) {
    paths = PathResolver(scopes: [(.fetched, entity)])
    self.store = store
  }

  mutating func condition(_ condition: Condition) throws(HeartwoodError) -> StoreCondition {
    switch condition.node {
    case .constant(let value): return .constant(value)
    case .refused(let error): throw error
    case .not(let part): return .not(try self.condition(part))
    case .and(let parts): return .all(try conditions(parts))
    case .or(let parts): return .any(try conditions(parts))
    case .truth(let value): return .comparison(try expression(value), .equalTo, .constant(true), [])
    case .comparison(let comparison): return try self.comparison(comparison)
    case .quantified(let quantifier, let path, let scope, let part):
      return try quantified(quantifier, paths.resolve(path), scope) { (lowering) throws(HeartwoodError) in
        try lowering.condition(part)
      }
    }
  }

  private mutating func conditions(_ parts: [Condition]) throws(HeartwoodError) -> [StoreCondition] {
    var lowered: [StoreCondition] = []
    for part in parts { lowered.append(try condition(part)) }
    return lowered
  }

  // MARK: Destinations

  private mutating func quantified(
    _ quantifier: Quantifier, _ path: ResolvedPath, _ scope: Scope,
    _ part: (inout StoreConditionLowering) throws(HeartwoodError) -> StoreCondition
  ) throws(HeartwoodError) -> StoreCondition {
    let found = try destinations(path, scope) { (lowering) throws(HeartwoodError) in
      let filter = try part(&lowering)
      return (quantifier == .all ? .not(filter) : filter, nil)
    }
    return quantifier == .any ? .exists(found) : .not(.exists(found))
  }

  private mutating func destinations(
    _ path: ResolvedPath, _ scope: Scope,
    _ body: (inout StoreConditionLowering) throws(HeartwoodError) -> (StoreCondition?, StoreExpression?)
  ) throws(HeartwoodError) -> StoreDestinations {
    guard case .toMany(let relationship, let entity, _) = path.end, let owner = relationship.entity else {
      throw .predicate("\(path.name) is no to-many relationship", column: path.column)
    }
    let source = try self.path(path, to: owner)
    lastVariable += 1
    let variable = lastVariable
    paths.scopes.append((scope, entity))
    variables.append(variable)
    defer {
      paths.scopes.removeLast()
      variables.removeLast()
    }
    let (filter, element) = try body(&self)
    return StoreDestinations(
      source: source, relationship: relationship, variable: variable, entity: entity, filter: filter,
      element: element)
  }

  private func path(_ path: ResolvedPath, to entity: EntityDescription) throws(HeartwoodError) -> StorePath {
    guard !path.hops.contains(where: \.isCast) else {
      throw .untranslatable("properties of a subentity, in \(path.name)")
    }
    guard path.hops.count == path.relationships.count else {
      throw .untranslatable("a place in an ordered relationship, in \(path.name)")
    }
    return StorePath(
      variable: variables[variables.count - 1 - path.outward], relationships: path.relationships,
      entity: entity)
  }

  // MARK: Comparisons

  private mutating func comparison(_ written: Comparison) throws(HeartwoodError) -> StoreCondition {
    let comparison = paths.withDecimals(written)
    if case .anyKey = comparison.left.kind { throw .untranslatable("ANYKEY") }
    if let quantifier = comparison.quantifier { return try self.quantified(quantifier, comparison) }
    if let path = try toMany(comparison.left), comparison.comparator == .contains {
      return try membership(of: comparison.right, in: path)
    }
    if let path = try toMany(comparison.right), comparison.comparator == .isIn {
      return try membership(of: comparison.left, in: path)
    }
    var left = try expression(comparison.left)
    var right = try expression(comparison.right)
    right = try converted(right, comparison.right, as: comparison.left, comparison.comparator)
    if comparison.comparator.mirrored != nil {
      left = try converted(left, comparison.left, as: comparison.right, comparison.comparator)
    }
    if case .list(let parts) = comparison.right.kind {
      return try self.comparison(comparison, left, withParts: parts)
    }
    return .comparison(
      left, ComparisonPredicate.Operator(comparison.comparator), right, comparison.options.effective)
  }

  /// Compares with a list whose members are not all constants, member by member.
  private mutating func comparison(
    _ comparison: Comparison, _ left: StoreExpression, withParts parts: [ConditionExpression]
  ) throws(HeartwoodError) -> StoreCondition {
    switch comparison.comparator {
    case .isIn:
      return try condition(
        .any(parts.map { Condition.comparing(comparison.left, .equal, $0, comparison.options) }))
    case .between where parts.count == 2:
      return try condition(
        .all([
          .comparing(comparison.left, .greaterOrEqual, parts[0], comparison.options),
          .comparing(comparison.left, .lessOrEqual, parts[1], comparison.options),
        ]))
    default: throw .untranslatable("a list after \(comparison.comparator.rawValue)")
    }
  }

  private mutating func quantified(
    _ quantifier: Quantifier, _ comparison: Comparison
  ) throws(HeartwoodError) -> StoreCondition {
    guard case .path(let written) = comparison.left.kind else {
      throw .untranslatable("\(quantifier.rawValue) of something else than a path")
    }
    let path = try paths.resolve(written)
    guard case .toMany(_, _, let rest) = path.end else {
      if let plain = comparison.overToOne(path, quantifier) { return try condition(plain) }
      throw .predicate("\(path.name) leads over no to-many relationship", column: path.column)
    }
    let scope = Scope()
    return try quantified(quantifier, path, scope) { (lowering) throws(HeartwoodError) in
      var inner = comparison
      inner.left = .path(PropertyPath(scope, rest, column: written.column))
      inner.quantifier = nil
      if try lowering.toMany(inner.left) != nil { inner.quantifier = quantifier == .none ? .any : quantifier }
      return try lowering.comparison(inner)
    }
  }

  private mutating func membership(
    of member: ConditionExpression, in path: ResolvedPath
  ) throws(HeartwoodError) -> StoreCondition {
    guard case .toMany(_, _, let rest) = path.end else {
      throw .predicate("\(path.name) is no to-many relationship", column: path.column)
    }
    let scope = Scope()
    return try quantified(.any, path, scope) { (lowering) throws(HeartwoodError) in
      let further = ConditionExpression.path(PropertyPath(scope, rest, column: path.column))
      let isList = try lowering.toMany(further) != nil
      return try lowering.condition(
        isList ? .comparing(member, .isIn, further) : .comparing(further, .equal, member))
    }
  }

  private func toMany(_ expression: ConditionExpression) throws(HeartwoodError) -> ResolvedPath? {
    guard case .path(let written) = expression.kind else { return nil }
    let path = try paths.resolve(written)
    return path.isToMany ? path : nil
  }

  /// A constant in the type of the attribute that it is compared with.
  private func converted(
    _ lowered: StoreExpression, _ expression: ConditionExpression, as other: ConditionExpression,
    _ comparator: ComparisonOperator
  ) throws(HeartwoodError) -> StoreExpression {
    guard case .value(let value) = expression.kind, case .path(let written) = other.kind else {
      return lowered
    }
    let path = try paths.resolve(written)
    guard case .attribute(let attribute, _) = path.end else { return lowered }
    let conversion = ConstantConversion(path: path, attribute: attribute)
    func convert(_ value: Value) throws(HeartwoodError) -> (any Sendable)? {
      comparator.isText ? value.constant : try conversion.convert(value).constant
    }
    guard case .list(let values) = value else { return .constant(try convert(value)) }
    var list: [(any Sendable)?] = []
    for value in values { list.append(try convert(value)) }
    return .list(list)
  }

  // MARK: Expressions

  mutating func expression(_ expression: ConditionExpression) throws(HeartwoodError) -> StoreExpression {
    switch expression.kind {
    case .value(.list(let values)): return .list(values.map(constant))
    case .value(let value): return .constant(constant(value))
    case .object(let object): return .constant(constant(.object(object.objectID)))
    case .refused(let error): throw error
    case .path(let written): return try end(of: paths.resolve(written))
    case .arithmetic(let operation, var left, var right):
      if paths.hasDecimals(expression) { (left, right) = (left.withDecimals, right.withDecimals) }
      return .arithmetic(operation.rawValue, try self.expression(left), try self.expression(right))
    case .conditional(let condition, let first, let second):
      return .conditional(
        try self.condition(condition), try self.expression(first), try self.expression(second))
    case .function(let function, let arguments):
      if arguments.count == 1, let aggregate = function.aggregate,
        case .collection(let values) = arguments[0].kind
      {
        return try self.aggregate(
          Aggregate(
            function: aggregate, path: values.path, scope: values.scope, element: values.element,
            filter: values.filter))
      }
      var lowered: [StoreExpression] = []
      for argument in arguments { lowered.append(try self.expression(argument)) }
      return .function(function.rawValue, lowered)
    case .aggregate(let aggregate): return try self.aggregate(aggregate)
    // A list, which a comparison takes member by member.
    case .list: return .list([])
    case .variable(let name, _): throw .untranslatable("the variable $\(name), which has no value")
    case .anyKey: throw .untranslatable("ANYKEY")
    case .collection:
      throw .untranslatable("a SUBQUERY that is not counted, or the values of a relationship as a list")
    case .group, .window, .computed, .fetched: throw .untranslatable("a value of a group or a window")
    }
  }

  /// A constant; of an object of another store the number 0, which no object has.
  private func constant(_ value: Value) -> (any Sendable)? {
    guard case .object(let id) = value, !id.isTemporaryID, id.store != store else { return value.constant }
    return ManagedObjectID(entity: id.entity, key: 0, store: store)
  }

  private mutating func aggregate(_ aggregate: Aggregate) throws(HeartwoodError) -> StoreExpression {
    let path = try paths.resolve(aggregate.path)
    guard case .toMany(_, _, let rest) = path.end, rest.isEmpty else {
      throw .untranslatable("@\(aggregate.function.rawValue) over several relationships, from \(path.name)")
    }
    let found = try destinations(path, aggregate.scope) { (lowering) throws(HeartwoodError) in
      let filter: StoreCondition? =
        if let condition = aggregate.filter { try lowering.condition(condition) } else { nil }
      let element: StoreExpression? =
        if let element = aggregate.element { try lowering.expression(element) } else { nil }
      return (filter, element)
    }
    return .aggregate(aggregate.function.rawValue, found)
  }

  private func end(of path: ResolvedPath) throws(HeartwoodError) -> StoreExpression {
    switch path.end {
    case .object(let entity): return .object(try self.path(path, to: entity))
    case .entity(let entity): return .entityName(of: try self.path(path, to: entity))
    case .attribute(let attribute, _):
      guard let entity = attribute.entity else { throw .untranslatable(path.name) }
      return .attribute(attribute, of: try self.path(path, to: entity))
    case .toOne(let relationship, _, let destination):
      guard let entity = relationship.entity else { throw .untranslatable(path.name) }
      let source = try self.path(path, to: entity)
      return .object(
        StorePath(
          variable: source.variable, relationships: source.relationships + [relationship], entity: destination
        ))
    case .toMany: throw .untranslatable("the to-many relationship \(path.name) as a value")
    }
  }
}

extension Value {
  /// The constant in the type of `ManagedObject.value(forKey:)`; nil for a missing value.
  var constant: (any Sendable)? {
    switch self {
    case .int(let number): number
    case .object(let id): id
    // Stores have URLs as texts: one that is none is not missing.
    case .url(let text): scalar ?? text
    default: scalar
    }
  }
}

extension HeartwoodError {
  /// The error of a condition that a store cannot translate.
  fileprivate static func untranslatable(_ part: String) -> HeartwoodError {
    HeartwoodError(
      .persistentStoreUnsupportedRequestType,
      "the request cannot be translated for the store, because of \(part): fetch with a simpler condition, and filter the objects"
    )
  }
}
