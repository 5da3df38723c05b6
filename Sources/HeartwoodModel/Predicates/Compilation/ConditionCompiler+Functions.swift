/// Functions and conditional values.
extension ConditionCompiler {
  /// A function of constants is a constant, which an index may serve.
  mutating func compile(
    _ function: ConditionFunction, _ arguments: [ConditionExpression]
  ) throws(HeartwoodError) -> Operand {
    guard function.arity.contains(arguments.count) else { throw function.wrongCount(arguments.count) }
    if function == .now { return .constant(.date(ConditionFunction.current)) }
    if function == .distance { return try compileDistance(arguments) }
    if function == .relevance { return try compileRelevance(arguments) }
    if function == .length, let value = try compileLengthOfData(arguments[0]) { return .computed(value) }
    if function.aggregate != nil, let value = try compileOverDestinations(function, arguments[0]) {
      return .computed(value)
    }
    var operands: [Operand] = []
    var values: [ComputedValue] = []
    for argument in arguments {
      operands.append(try operand(argument))
      values.append(try computed(operands[operands.count - 1]))
    }
    let (kind, member) = try kind(of: function, values, operands)
    let constants = operands.compactMap { operand -> Value? in
      if case .constant(let value) = operand { value } else { nil }
    }
    if constants.count == values.count, function.isPure { return .constant(function.apply(constants)) }
    let reader = try reader(of: function, values, operands)
    return .computed(
      ComputedValue(
        reader: reader, kind: kind, memberKind: member,
        name: "\(function.shortName)(\(values.map(\.name).joined(separator: ", ")))",
        column: values.compactMap(\.column).first))
  }

  /// A function over a to-many path is one over the destinations; nil if the argument is none.
  private mutating func compileOverDestinations(
    _ function: ConditionFunction, _ argument: ConditionExpression
  ) throws(HeartwoodError) -> ComputedValue? {
    guard let aggregate = function.aggregate else { return nil }
    switch argument.kind {
    case .path(let path):
      let resolved = try paths.resolve(path)
      guard case .toMany = resolved.end else { return nil }
      let isCount = aggregate == .count
      return try compile(
        Aggregate(
          function: aggregate, path: path, scope: Scope(),
          element: isCount ? nil : .path(PropertyPath(Scope()))),
        isWhole: true)
    case .collection(let values) where !values.isDistinct:
      return try compile(
        Aggregate(
          function: aggregate, path: values.path, scope: values.scope,
          element: values.element ?? (aggregate == .count ? nil : .path(PropertyPath(values.scope))),
          filter: values.filter))
    default: return nil
    }
  }

  private func reader(
    of function: ConditionFunction, _ values: [ComputedValue], _ operands: [Operand]
  ) throws(HeartwoodError) -> ValueReader {
    guard function.isDateComponent, values.count == 2 else {
      return FunctionReader(function, values.map(\.reader))
    }
    guard case .constant(.string(let name)) = operands[1], let zone = ConditionFunction.timeZone(name) else {
      throw .predicate(
        "\(values[1].name) is no time zone: \(function.shortName) takes a date and a constant such as \"Europe/Berlin\"",
        column: values[1].column)
    }
    return DateComponentReader(function, values[0].reader, zone)
  }

  /// Compiles the pairs of latitude and longitude.
  private mutating func compileDistance(_ arguments: [ConditionExpression]) throws(HeartwoodError) -> Operand
  {
    var pairs: [ComputedValue] = []
    for argument in arguments {
      let value = try computed(coordinates(argument))
      guard value.kind == .list, value.memberKind == .number else {
        throw .predicate(
          "\(value.name) is \(value.kind.name): the distance is between pairs of latitude and longitude, as in {latitude, longitude}",
          column: value.column)
      }
      pairs.append(value)
    }
    return .computed(
      ComputedValue(
        reader: FunctionReader(.distance, pairs.map(\.reader)), kind: .number, name: "the distance",
        column: pairs.compactMap(\.column).first))
  }

  /// The relevance of a text attribute for a query of words. It depends on the texts of all objects.
  private mutating func compileRelevance(_ arguments: [ConditionExpression]) throws(HeartwoodError) -> Operand
  {
    guard case .path(let written) = arguments[0].kind else {
      throw .predicate("relevance is that of an attribute: \(arguments[0]) is none")
    }
    let path = try resolve(written)
    guard case .attribute(let attribute, let column) = path.end, attribute.type == .string,
      let entity = attribute.entity
    else {
      throw .predicate(
        "relevance is that of an attribute of strings: \(path.name) is none", column: path.column)
    }
    try path.checkIsInRow()
    guard case .constant(.string(let words)) = try operand(arguments[1]) else {
      throw .predicate(
        "relevance(\(path.name), …) needs words as a constant text, not \(arguments[1])", column: path.column)
    }
    noteOtherRows()
    paths.used.noteOtherRoutes()
    let reader = RelevanceReader(WordedAttribute(attribute, column, of: entity), try WordQuery(words))
    return .computed(
      ComputedValue(
        reader: path.isOwnRow ? reader : PathReader(path.outward, path.hops, reader), kind: .number,
        name: "the relevance of \(path.name)", column: path.column))
  }

  /// The number of bytes of a data attribute, which the row has also where the data is outside; nil for anything else.
  private mutating func compileLengthOfData(
    _ argument: ConditionExpression
  ) throws(HeartwoodError) -> ComputedValue? {
    guard case .path(let written) = argument.kind else { return nil }
    let path = try resolve(written)
    guard case .attribute(let attribute, let column) = path.end, attribute.type == .binaryData else {
      return nil
    }
    let reader = DataLengthReader(column)
    return ComputedValue(
      reader: path.isOwnRow ? reader : PathReader(path.outward, path.hops, reader), kind: .number,
      name: "length(\(path.name))", column: path.column)
  }

  /// A composite attribute with a latitude and a longitude is a pair of them.
  private func coordinates(_ argument: ConditionExpression) -> ConditionExpression {
    guard case .path(let path) = argument.kind, let resolved = try? paths.resolve(path),
      case .attribute(let attribute, _) = resolved.end, attribute.type == .composite
    else { return argument }
    let parts = ["latitude", "longitude"].map { name in
      ConditionExpression.path(PropertyPath(path.scope, path.steps + [.name(name)], column: path.column))
    }
    return ConditionExpression(.list(parts))
  }

  mutating func compile(
    _ condition: Condition, _ first: ConditionExpression, _ second: ConditionExpression
  ) throws(HeartwoodError) -> ComputedValue {
    let test = try compile(condition).test
    let (first, second) = try (computed(first), computed(second))
    let kind = try common(common(.null, first, "TERNARY"), second, "TERNARY")
    return ComputedValue(
      reader: ConditionalReader(test, first.reader, second.reader), kind: kind,
      memberKind: first.memberKind ?? second.memberKind, name: "TERNARY(…)",
      column: first.column ?? second.column)
  }
}

/// The kinds of values that functions take and have.
extension ConditionCompiler {
  private func kind(
    of function: ConditionFunction, _ values: [ComputedValue], _ operands: [Operand]
  ) throws(HeartwoodError) -> (ValueKind, member: ValueKind?) {
    switch function {
    case .uppercase, .lowercase, .canonical:
      try require(values[0], function, "a text") { $0.isText }
      return (.text, nil)
    case .length:
      try require(values[0], function, "a text, data or a list") { $0.isText || $0 == .data || $0 == .list }
      return (.number, nil)
    case .cast:
      try values[0].refuseComposite("use one of its elements")
      return (try castType(values, operands).kind, nil)
    case .coalesce:
      var kind = ValueKind.null
      for value in values { kind = try common(kind, value, "coalesce") }
      return (kind, nil)
    case .union, .intersect, .minus:
      for value in values { try require(value, function, "lists") { $0 == .list } }
      let member = values[0].memberKind ?? values[1].memberKind
      for value in values where value.memberKind ?? member != member {
        throw .predicate(
          "\(value.name) has members of another kind than the other list", column: value.column)
      }
      return (.list, member)
    case .item:
      try require(values[0], function, "a list") { $0 == .list }
      return (values[0].memberKind ?? .null, nil)
    case _ where function.isDateComponent:
      try require(values[0], function, "a date") { $0 == .date }
      return (.number, nil)
    case _ where function.aggregate != nil: return try kindOverList(function, values[0])
    default:
      for value in values { try require(value, function, "numbers") { $0 == .number } }
      return (.number, nil)
    }
  }

  private func kindOverList(
    _ function: ConditionFunction, _ list: ComputedValue
  ) throws(HeartwoodError) -> (ValueKind, member: ValueKind?) {
    try require(list, function, "a list or a to-many relationship") { $0 == .list }
    guard let aggregate = function.aggregate else { return (.number, nil) }
    if aggregate.needsNumbers, let member = list.memberKind, member != .number {
      throw .predicate(
        "\(list.name) has members that are \(member.name): \(function.shortName) needs numbers",
        column: list.column)
    }
    return (aggregate.selectsValue ? list.memberKind ?? .null : .number, nil)
  }

  private func require(
    _ value: ComputedValue, _ function: ConditionFunction, _ wanted: String, _ isWanted: (ValueKind) -> Bool
  ) throws(HeartwoodError) {
    guard value.kind != .null, !isWanted(value.kind) else { return }
    throw .predicate(
      "\(value.name) is \(value.kind.name): \(function.shortName) needs \(wanted)", column: value.column)
  }

  private func castType(_ values: [ComputedValue], _ operands: [Operand]) throws(HeartwoodError) -> CastType {
    guard case .constant(.string(let name)) = operands[1], let type = CastType(name: name) else {
      throw .predicate(
        "CAST knows no type \(values[1].name): there are \(CastType.names)",
        column: values[1].column ?? values[0].column)
    }
    return type
  }
}

extension ConditionFunction {
  /// The name without colons, for messages.
  var shortName: String { rawValue.filter { $0 != ":" } }

  func wrongCount(_ count: Int, column: Int? = nil) -> HeartwoodError {
    let wanted =
      arity.lowerBound == arity.upperBound
      ? "\(arity.lowerBound)" : "\(arity.lowerBound) to \(arity.upperBound)"
    return .predicate(
      "\(rawValue) takes \(wanted) \(arity.upperBound == 1 ? "argument" : "arguments"), not \(count)",
      column: column)
  }
}
