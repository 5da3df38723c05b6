/// A column of a dictionary that is computed: an expression with a name.
public struct ExpressionDescription: Sendable {
  /// The key in the dictionary. A HAVING predicate and the order of the request may use it, too.
  public let name: String
  /// The type of the value; `.undefined` for that of the expression.
  public let expressionResultType: AttributeType
  let expression: ConditionExpression

  /// A column from text: a path, arithmetic, an aggregate of the group such as `@sum.price` or `@avg.(price * quantity)`, or a window such
  /// as `RANK() OVER (ORDER BY price)`.
  ///
  /// - Parameters:
  ///   - name: The key in the dictionary.
  ///   - format: The expression, in the language of `FormatPredicate`.
  ///   - arguments: One for each placeholder, in order.
  ///   - resultType: The type of the value; `.undefined` for that of the expression.
  /// - Throws: `.invalidPredicate` with the column of the error in the text.
  public init(
    name: String, format: String, _ arguments: (any PredicateArgument)?...,
    resultType: AttributeType = .undefined
  ) throws(HeartwoodError) {
    self.init(name: name, try FormatParser.expression(format, arguments), resultType)
  }

  /// A typed column.
  ///
  /// - Parameters:
  ///   - name: The key in the dictionary.
  ///   - type: The class of the objects.
  ///   - column: The value.
  ///   - resultType: The type of the value; `.undefined` for that of the expression.
  public init<Object: ManagedObject>(
    name: String, of type: Object.Type, resultType: AttributeType = .undefined,
    _ column: (ObjectQuery<Object>) -> any RowColumn
  ) {
    self.init(name: name, column(ObjectQuery<Object>()).rowExpression.expression, resultType)
  }

  /// A column of an expression.
  ///
  /// - Parameters:
  ///   - name: The key in the dictionary.
  ///   - expression: The value.
  ///   - resultType: The type of the value; `.undefined` for that of the expression.
  public init(name: String, expression: ConditionExpression, resultType: AttributeType = .undefined) {
    self.init(name: name, expression, resultType)
  }

  init(name: String, _ expression: ConditionExpression, _ resultType: AttributeType) {
    self.name = name
    self.expression = expression
    expressionResultType = resultType
  }
}

/// A column of the dictionaries that a fetch returns: the path of an attribute or of a to-one relationship as text, a
/// property's description, or an `ExpressionDescription`.
public protocol FetchableProperty {
  /// The column.
  ///
  /// - Throws: `.invalidPredicate` if it is no valid path or expression.
  func fetchedColumn() throws(HeartwoodError) -> ExpressionDescription
}

extension String: FetchableProperty {
  /// The column that a path names; its key is the path.
  public func fetchedColumn() throws(HeartwoodError) -> ExpressionDescription {
    // A path is one also if its first name is a keyword, as `no`.
    guard isDottedName, first?.isLetter == true, !uppercased().hasPrefix("SELF") else {
      return try ExpressionDescription(name: self, format: self)
    }
    return try ExpressionDescription(name: self, format: "%K", self)
  }
}

extension PropertyDescription: FetchableProperty {
  /// The property.
  public func fetchedColumn() throws(HeartwoodError) -> ExpressionDescription {
    try ExpressionDescription(name: name, format: "%K", name)
  }
}

extension ExpressionDescription: FetchableProperty {
  /// The column itself.
  public func fetchedColumn() -> ExpressionDescription { self }
}

extension FetchIndexElementDescription {
  /// An element for an expression of an object's own attributes: an index of `lowercase:(name)` or `width * height`, which serves
  /// comparisons of the same expression with constants.
  ///
  /// The model is refused when a coordinator gets it if the expression's values cannot be indexed.
  ///
  /// - Parameters:
  ///   - expression: The expression. Its name means nothing here.
  ///   - isAscending: Whether the smallest value comes first.
  public convenience init(expression: ExpressionDescription, isAscending: Bool = true) {
    self.init(
      expressionText: expression.expression.description, type: expression.expressionResultType,
      isAscending: isAscending)
  }
}
