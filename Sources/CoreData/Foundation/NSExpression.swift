import Foundation
import Heartwood
import HeartwoodBytes

/// A part of a predicate: a constant, a property, a function.
open class NSExpression: NSObject, NSCopying {
  /// The kinds of expressions. The raw values are Foundation's.
  public enum ExpressionType: UInt, Sendable {
    case constantValue = 0
    case evaluatedObject = 1
    case variable = 2
    case keyPath = 3
    case function = 4
    case unionSet = 5
    case intersectSet = 6
    case minusSet = 7
    case subquery = 13
    case aggregate = 14
    case anyKey = 15
    case block = 19
    case conditional = 20
  }

  let expression: ConditionExpression
  private let givenConstant: Any?
  /// The text of an expression of a mapping model.
  let mappingText: String

  init(_ expression: ConditionExpression, constant: Any? = nil, text: String? = nil) {
    self.expression = expression
    givenConstant = constant
    mappingText = text ?? "\(expression)"
  }

  /// An expression of a mapping model, whose functions are those of managers and policies.
  convenience init(mapping text: String) {
    let known = try? ConditionExpression(format: text, argumentArray: [])
    self.init(known ?? ConditionExpression(forVariable: "mapping"), text: text)
  }

  /// A constant.
  public convenience init(forConstantValue obj: Any?) {
    let argument = GivenArgument(obj ?? NSNull())
    self.init(ConditionExpression(forConstantValue: argument), constant: obj)
  }

  /// The object itself.
  public class func expressionForEvaluatedObject() -> NSExpression {
    NSExpression(.expressionForEvaluatedObject())
  }

  /// A value that is given later.
  public convenience init(forVariable string: String) { self.init(ConditionExpression(forVariable: string)) }

  /// A property by its path.
  public convenience init(forKeyPath keyPath: String) { self.init(ConditionExpression(forKeyPath: keyPath)) }

  /// A property by its key path.
  public convenience init<Root, Value>(forKeyPath keyPath: KeyPath<Root, Value>) {
    guard let names = InspectedObject.names(of: keyPath) else {
      programError("the key path \(keyPath) reads no property of a model")
    }
    self.init(forKeyPath: names)
  }

  /// A function by its name, such as `sum:`.
  ///
  /// - Precondition: There is such a function with this number of arguments.
  public convenience init(forFunction name: String, arguments parameters: [Any]) {
    let arguments = parameters.map { NSExpression.of($0) }
    do {
      self.init(try NSExpression.call(name, arguments))
    } catch {
      programError("NSExpression(forFunction: \"\(name)\"): \(error)")
    }
  }

  /// A method of an object as a function, such as one of the migration manager in a mapping model.
  ///
  /// - Parameters:
  ///   - target: The object: the variable `manager` or `entityPolicy`, or a value if the method is a function of predicates.
  ///   - name: The name of the method, with its colons.
  ///   - parameters: Expressions, or constants.
  /// - Precondition: There is such a function with this number of arguments.
  public convenience init(
    forFunction target: NSExpression, selectorName name: String, arguments parameters: [Any]
  ) {
    let given = parameters.map { $0 as? NSExpression ?? NSExpression(forConstantValue: $0) }
    let parts = [target, NSExpression(forConstantValue: name)] + given
    // Those of mapping models are texts.
    self.init(
      format: "FUNCTION(\(parts.map(\.mappingText).joined(separator: ", ")))", argumentArray: [])
  }

  /// A list of expressions.
  public convenience init(forAggregate subexpressions: [Any]) {
    self.init(ConditionExpression(forAggregate: subexpressions.map { NSExpression.of($0) }))
  }

  /// The members of two lists.
  public convenience init(forUnionSet left: NSExpression, with right: NSExpression) {
    self.init(ConditionExpression(forUnionSet: left.expression, with: right.expression))
  }
  /// The common members of two lists.
  public convenience init(forIntersectSet left: NSExpression, with right: NSExpression) {
    self.init(ConditionExpression(forIntersectSet: left.expression, with: right.expression))
  }
  /// The members of a list that another one does not have.
  public convenience init(forMinusSet left: NSExpression, with right: NSExpression) {
    self.init(ConditionExpression(forMinusSet: left.expression, with: right.expression))
  }

  /// The destinations of a to-many relationship for which a predicate holds.
  ///
  /// - Parameters:
  ///   - expression: The path of the relationship.
  ///   - variable: The destination's name in the predicate, without the sign.
  ///   - predicate: An `NSPredicate`, with paths such as `$x.name`.
  /// - Precondition: The expression is a path, and the predicate one that a store can evaluate.
  public convenience init(
    forSubquery expression: NSExpression, usingIteratorVariable variable: String, predicate: Any
  ) {
    do {
      guard let predicate = predicate as? NSPredicate else {
        throw HeartwoodError(.invalidPredicate, "\(predicate) is no NSPredicate")
      }
      self.init(
        try ConditionExpression(
          forSubquery: expression.expression, usingIteratorVariable: variable,
          predicate: predicate.storeCondition()))
    } catch {
      programError("NSExpression(forSubquery:): \(error)")
    }
  }

  /// One of two expressions.
  public convenience init(
    forConditional predicate: NSPredicate, trueExpression: NSExpression, falseExpression: NSExpression
  ) {
    let condition = (try? predicate.storeCondition()) ?? .false
    self.init(
      ConditionExpression(
        forConditional: condition, trueExpression: trueExpression.expression,
        falseExpression: falseExpression.expression))
  }

  /// Any attribute.
  public class func expressionForAnyKey() -> NSExpression { NSExpression(.expressionForAnyKey()) }

  /// An expression as text.
  ///
  /// - Precondition: The text is an expression.
  public convenience init(format expressionFormat: String, _ arguments: Any?...) {
    self.init(format: expressionFormat, argumentArray: arguments.map { $0 ?? NSNull() })
  }

  /// An expression as text, with its arguments in an array.
  public convenience init(format expressionFormat: String, argumentArray: [Any]) {
    // An operator of a collection, which is put behind a path later.
    if expressionFormat.hasPrefix("@"), String(expressionFormat.dropFirst()).isDottedName {
      self.init(forKeyPath: expressionFormat)
      return
    }
    do {
      let arguments = argumentArray.map { GivenArgument($0) as (any PredicateArgument)? }
      self.init(try FormatParser.expression(expressionFormat, arguments, takesMore: true))
    } catch {
      if argumentArray.isEmpty, expressionFormat.contains("$") {
        self.init(mapping: expressionFormat)
        return
      }
      programError("Unable to parse the format string \"\(expressionFormat)\": \(error)")
    }
  }

  /// An expression that is a block.
  @available(
    *, unavailable, message: "a block is no expression of a store: compute the value from fetched objects"
  )
  public convenience init(
    forBlock block: @escaping (Any?, [Any], NSMutableDictionary?) -> Any, arguments: [NSExpression]?
  ) {
    fatalError()
  }

  private static func of(_ any: Any) -> ConditionExpression {
    (any as? NSExpression)?.expression ?? ConditionExpression(forConstantValue: GivenArgument(any))
  }

  /// The functions over the values of a property are aggregates of fetches.
  private static func call(_ name: String, _ arguments: [ConditionExpression]) throws -> ConditionExpression {
    let places = arguments.map { _ in "%@" }.joined(separator: ", ")
    let bare = name.hasSuffix(":") ? name : name + ":"
    let given = arguments.map { ExpressionArgument($0) as (any PredicateArgument)? }
    if let direct = try? ConditionExpression(forFunction: bare, arguments: arguments) { return direct }
    return try ConditionExpression(format: "FUNCTION(\(places), \"\(bare)\")", argumentArray: given)
  }

  // MARK: Parts

  /// The kind of the expression.
  open var expressionType: ExpressionType {
    ExpressionType(rawValue: expression.expressionType.rawValue) ?? .constantValue
  }
  /// The constant.
  open var constantValue: Any? { givenConstant ?? expression.constantValue.map { FoundationValue.of($0) } }
  /// The path of a property.
  open var keyPath: String { expression.keyPath ?? "" }
  /// The name of a function.
  open var function: String { expression.function ?? "" }
  /// The name of a variable.
  open var variable: String { expression.variable ?? "" }
  /// The object of a function: always the expression itself.
  open var operand: NSExpression { self }
  /// The arguments of a function.
  open var arguments: [NSExpression]? { expression.arguments?.map { NSExpression($0) } }
  /// The members of a list.
  open var collection: Any { expression.collection?.map { NSExpression($0) } ?? [] }
  /// The condition of a subquery or a conditional expression.
  open var predicate: NSPredicate {
    expression.predicate.map { NSPredicate.made(of: $0) } ?? NSPredicate(value: true)
  }
  /// The first expression of a conditional one.
  open var `true`: NSExpression { expression.true.map { NSExpression($0) } ?? self }
  /// The second expression of a conditional one.
  open var `false`: NSExpression { expression.false.map { NSExpression($0) } ?? self }
  /// The first operand of a set expression.
  open var left: NSExpression { arguments?.first ?? self }
  /// The second operand of a set expression.
  open var right: NSExpression { arguments?.last ?? self }

  /// The value for an object, by key-value coding.
  open func expressionValue(with object: Any?, context: NSMutableDictionary?) -> Any? {
    givenConstant ?? InMemoryExpression([:]).value(of: expression, for: object)
  }

  /// The expression as text.
  open override var description: String { PredicateText.text(of: expression) }
  /// Whether both have the same text.
  open override func isEqual(_ object: Any?) -> Bool {
    (object as? NSExpression).map { "\($0.expression)" == "\(expression)" } ?? false
  }
  /// A hash of the text.
  open override var hash: Int { "\(expression)".hashValue }
  /// The expression itself, which does not change.
  open func copy(with zone: NSZone? = nil) -> Any { self }

  /// The aggregate over the rows of a dictionary that a key path stands for: `@sum.pages`, and `title.@count` of an attribute. Nil for others.
  final func aggregate(of entity: NSEntityDescription?) -> ConditionExpression? {
    let text = "\(expression)"
    guard text.contains("@"), text.allSatisfy({ $0.isLetter || $0.isNumber || "._@".contains($0) }) else {
      return nil
    }
    let names = text.split(separator: ".").map(String.init)
    guard names.count > 1 else { return nil }
    let isAttribute = entity?.attributesByName[names.dropLast().joined(separator: ".")] != nil
    let (name, path) =
      isAttribute ? (names[names.count - 1], names.dropLast()) : (names[0], names.dropFirst())
    guard let function = Self.aggregates[name] else { return nil }
    let attribute = NSExpression(forKeyPath: path.joined(separator: "."))
    return NSExpression(forFunction: function, arguments: [attribute]).expression
  }

  private static let aggregates = [
    "@sum": "sum:", "@avg": "average:", "@max": "max:", "@min": "min:", "@count": "count:",
  ]

  /// The expression as a column of dictionaries, with its text as its name.
  final func column() throws -> ExpressionDescription {
    ExpressionDescription(name: expression.keyPath ?? "\(expression)", expression: expression)
  }
}

/// An expression for a placeholder.
struct ExpressionArgument: PredicateArgument {
  let predicateConstant: PredicateConstant
  init(_ expression: ConditionExpression) { predicateConstant = PredicateConstant(expression) }
}
