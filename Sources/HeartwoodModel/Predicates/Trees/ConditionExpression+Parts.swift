/// Expressions as parts that can be looked at and built, under the names of Foundation's `NSExpression`.
extension ConditionExpression {
  /// The kinds of expressions. The raw values are Foundation's.
  public enum ExpressionType: UInt, Sendable {
    /// A constant.
    case constantValue = 0
    /// The object itself.
    case evaluatedObject = 1
    /// A value that is given later.
    case variable = 2
    /// A property.
    case keyPath = 3
    /// A function of expressions, arithmetic and functions over relationships included.
    case function = 4
    /// The members of two lists.
    case unionSet = 5
    /// The common members of two lists.
    case intersectSet = 6
    /// The members of a list that another one does not have.
    case minusSet = 7
    /// The values of destinations, with a condition.
    case subquery = 13
    /// A list of expressions.
    case aggregate = 14
    /// Any attribute.
    case anyKey = 15
    /// One of two expressions.
    case conditional = 20
  }

  /// The kind of the expression.
  public var expressionType: ExpressionType {
    switch kind {
    case .value, .object, .refused: .constantValue
    case .path(let path): path.steps.isEmpty ? .evaluatedObject : .keyPath
    case .variable: .variable
    case .aggregate, .arithmetic, .group, .window, .computed, .fetched: .function
    case .function(.union, _): .unionSet
    case .function(.intersect, _): .intersectSet
    case .function(.minus, _): .minusSet
    case .function: .function
    case .list: .aggregate
    case .collection: .subquery
    case .conditional: .conditional
    case .anyKey: .anyKey
    }
  }

  /// The constant in a Swift type of its kind; nil for a missing one, and for other expressions.
  public var constantValue: Any? {
    switch kind {
    case .value(let value): value.anyConstant
    case .object(let object): object.objectID
    default: nil
    }
  }

  /// The path of a property with dots, such as `country.name`; nil for other expressions.
  public var keyPath: String? {
    guard case .path(let path) = kind, !path.steps.isEmpty else { return nil }
    return ConditionPrinter().text(of: PropertyPath(.fetched, path.steps))
  }

  /// The name of a variable; nil for other expressions.
  public var variable: String? {
    if case .variable(let name, _) = kind { return name }
    return nil
  }

  /// The name of a function, such as `uppercase:` or `add:to:`; nil for other expressions.
  public var function: String? {
    switch kind {
    case .function(let function, _): function.rawValue
    case .arithmetic(let operation, _, _): operation.functionName
    case .aggregate(let aggregate): "@\(aggregate.function.rawValue)"
    default: nil
    }
  }

  /// The arguments of a function; nil for other expressions.
  public var arguments: [ConditionExpression]? {
    switch kind {
    case .function(_, let arguments): arguments
    case .arithmetic(_, let left, let right): [left, right]
    case .aggregate(let aggregate):
      [
        ConditionExpression(
          .collection(
            DestinationValues(
              path: aggregate.path, scope: aggregate.scope, element: aggregate.element,
              filter: aggregate.filter)))
      ]
    default: nil
    }
  }

  /// The members of a list, or the relationship of a subquery; nil for other expressions.
  public var collection: [ConditionExpression]? {
    switch kind {
    case .list(let parts): parts
    case .value(.list(let values)): values.map(ConditionExpression.value)
    case .collection(let values): [.path(values.path)]
    default: nil
    }
  }

  /// The condition of a subquery or of a conditional expression; nil for other expressions.
  public var predicate: Condition? {
    switch kind {
    case .conditional(let condition, _, _): condition
    case .collection(let values): values.filter
    default: nil
    }
  }

  /// The first expression of a conditional one; nil for other expressions.
  public var `true`: ConditionExpression? {
    if case .conditional(_, let first, _) = kind { return first }
    return nil
  }

  /// The second expression of a conditional one; nil for other expressions.
  public var `false`: ConditionExpression? {
    if case .conditional(_, _, let second) = kind { return second }
    return nil
  }
}

/// Building expressions.
extension ConditionExpression {
  /// A constant.
  public init(forConstantValue value: (any PredicateArgument)?) {
    self = value?.predicateConstant.expression ?? .value(.null)
  }

  /// A property by its path, with dots over relationships.
  public init(forKeyPath keyPath: String) { self.init(.path(PropertyPath(names: keyPath))) }

  /// A value that is given later.
  public init(forVariable name: String) { self.init(.variable(name, column: nil)) }

  /// A list of expressions.
  public init(forAggregate parts: [ConditionExpression]) { self.init(list: parts) }

  /// One of two expressions.
  public init(
    forConditional condition: Condition, trueExpression: ConditionExpression,
    falseExpression: ConditionExpression
  ) {
    self.init(.conditional(condition, trueExpression, falseExpression))
  }

  /// The members of two lists.
  public init(forUnionSet left: ConditionExpression, with right: ConditionExpression) {
    self.init(.function(.union, [left, right]))
  }

  /// The common members of two lists.
  public init(forIntersectSet left: ConditionExpression, with right: ConditionExpression) {
    self.init(.function(.intersect, [left, right]))
  }

  /// The members of a list that another one does not have.
  public init(forMinusSet left: ConditionExpression, with right: ConditionExpression) {
    self.init(.function(.minus, [left, right]))
  }

  /// A function by its name in the format language, such as `uppercase:`.
  ///
  /// - Throws: `.invalidPredicate` if there is no such function, or it takes another number of arguments.
  public init(forFunction name: String, arguments: [ConditionExpression]) throws(HeartwoodError) {
    var parser = try FormatParser("SELF", [])
    guard let function = NamedFunction(name: name) else {
      throw .predicate("there is no function \(name)")
    }
    self = try parser.call(function, arguments, name, 1)
  }

  /// An expression as text, in the language of `FormatPredicate`.
  ///
  /// - Throws: `.invalidPredicate` with the column of the error in the text, or the argument that does not fit.
  public init(format: String, _ arguments: (any PredicateArgument)?...) throws(HeartwoodError) {
    self = try FormatParser.expression(format, arguments)
  }

  /// An expression as text, with its arguments in an array.
  ///
  /// - Throws: Like `init(format:_:)`.
  public init(format: String, argumentArray: [(any PredicateArgument)?]) throws(HeartwoodError) {
    self = try FormatParser.expression(format, argumentArray)
  }

  /// The object itself.
  public static func expressionForEvaluatedObject() -> ConditionExpression { .path(PropertyPath(.fetched)) }

  /// Any attribute.
  public static func expressionForAnyKey() -> ConditionExpression { ConditionExpression(.anyKey) }
}

extension ArithmeticOperator {
  fileprivate var functionName: String {
    switch self {
    case .add: "add:to:"
    case .subtract: "from:subtract:"
    case .multiply: "multiply:by:"
    case .divide: "divide:by:"
    }
  }
}

extension Value {
  fileprivate var anyConstant: Any? {
    switch self {
    case .object(let identifier): identifier
    case .list(let values): values.map(\.anyConstant)
    default: anyValue(.undefined)
    }
  }
}
