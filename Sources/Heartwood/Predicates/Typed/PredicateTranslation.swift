import Foundation

/// Foundation's predicates, as made by `#Predicate`, are conditions: `request.predicate = #Predicate<City> { $0.population > 5 }`.
///
/// They are translated before anything is fetched, and evaluated by the store. A part that has no translation is refused then.
extension Predicate: FetchPredicate {
  /// The predicate as a condition.
  ///
  /// - Throws: `.invalidPredicate` if a part of it has no translation.
  public func conditionTree(for entity: EntityDescription) throws(HeartwoodError) -> Condition {
    try conditionTree(for: entity, in: nil)
  }

  /// The predicate as a condition on objects that another module has classes for.
  package func conditionTree(
    for entity: EntityDescription, in vocabulary: (any PredicateVocabulary)?
  ) throws(HeartwoodError) -> Condition {
    var translation = PredicateTranslation(model: entity.model, vocabulary: vocabulary)
    repeat translation.bind(each variable)
    guard translation.inputCount == 1 else {
      throw .predicate("it is about \(translation.inputCount) objects: a fetch is about one")
    }
    return try translation.condition(expression)
  }
}

/// The meaning of another module's classes, properties and values in the predicates of a program.
package protocol PredicateVocabulary {
  /// The names of the properties that one step of a key path reads, none for a step that leaves its value as it is; nil for a key path that is
  /// none of the module's.
  ///
  /// - Throws: For a key path of one of the module's classes that reads anything but properties.
  func names(of keyPath: AnyKeyPath, from root: any Any.Type) throws(HeartwoodError) -> [String]?
  /// A constant; nil for one that is none of the module's.
  func constant(_ value: Any) throws(HeartwoodError) -> ConditionExpression?
  /// The name of the entity of a class; nil for another type.
  func entityName(of type: any Any.Type) -> String?
  /// Whether a type, or what it wraps, is one of to-many relationships.
  func isToMany(_ type: any Any.Type) -> Bool
  /// - Throws: If values of a type are stored in a form that has another order.
  func checkOrder(of type: any Any.Type) throws(HeartwoodError)
  /// - Parameter constant: The constant that the value is compared with; nil if it is no constant.
  /// - Throws: If values of a type are stored in a form of which equality means nothing.
  func checkEquality(of type: any Any.Type, with constant: Any?) throws(HeartwoodError)
}

/// The translation of a part.
package enum PredicatePart {
  case condition(Condition)
  case value(ConditionExpression)
  /// A range; a bound is nil where it has none.
  case range(ConditionExpression?, ConditionExpression?, isClosed: Bool)
  /// A condition that has a result only where another holds.
  case optional(Condition, where: Condition)
  /// A constant dictionary.
  case dictionary([ConstantEntry])
}

/// A key of a constant dictionary, with its value.
package struct ConstantEntry {
  let key: ConditionExpression
  let value: ConditionExpression
}

/// The values of the variables in a predicate.
package struct PredicateTranslation {
  /// The model whose classes a predicate may name; nil if it is not in use.
  let model: ManagedObjectModel?
  /// Another module's classes; nil for those of this one.
  let vocabulary: (any PredicateVocabulary)?
  private var values: [PredicateExpressions.VariableID: PredicatePart] = [:]
  private(set) var inputCount = 0

  init(model: ManagedObjectModel?, vocabulary: (any PredicateVocabulary)?) {
    self.model = model
    self.vocabulary = vocabulary
  }

  /// A variable for the fetched object.
  mutating func bind<Output>(_ variable: PredicateExpressions.Variable<Output>) {
    values[variable.key] = .value(.path(PropertyPath(.fetched)))
    inputCount += 1
  }

  /// A variable of a predicate that is evaluated in this one.
  package mutating func bind<Output>(
    _ variable: PredicateExpressions.Variable<Output>, to input: any PredicateExpression,
    of outer: PredicateTranslation
  ) throws(HeartwoodError) { values[variable.key] = .value(try outer.value(input)) }

  func binding<Output>(
    _ variable: PredicateExpressions.Variable<Output>, to part: PredicatePart
  ) -> PredicateTranslation {
    var inner = self
    inner.values[variable.key] = part
    return inner
  }

  func part(of key: PredicateExpressions.VariableID) throws(HeartwoodError) -> PredicatePart {
    guard let part = values[key] else {
      throw .predicate("it uses a variable of another predicate, which has no translation")
    }
    return part
  }

  package func part(_ expression: any PredicateExpression) throws(HeartwoodError) -> PredicatePart {
    guard let translatable = expression as? any TranslatableExpression else {
      let name = "\(type(of: expression))".prefix { $0 != "<" }
      throw .predicate(
        "\(name) of a #Predicate has no translation for the store; write the condition with Where or FormatPredicate, "
          + "or filter the objects that are fetched without it")
    }
    return try translatable.part(in: self)
  }

  package func condition(_ expression: any PredicateExpression) throws(HeartwoodError) -> Condition {
    switch try part(expression) {
    case .condition(let condition): return condition
    case .value(let value):
      if case .value(.bool(let flag)) = value.kind { return .always(flag) }
      return Condition(.truth(value))
    case .optional(let condition, let exists): return exists && condition
    case .range, .dictionary: throw .predicate("a range or a dictionary is no condition")
    }
  }

  package func value(_ expression: any PredicateExpression) throws(HeartwoodError) -> ConditionExpression {
    try value(of: part(expression))
  }

  func value(of part: PredicatePart) throws(HeartwoodError) -> ConditionExpression {
    switch part {
    case .value(let value): return value
    case .condition(let condition): return .truth(of: condition)
    case .optional(let condition, let exists):
      return ConditionExpression(.conditional(exists, .truth(of: condition), .value(.null)))
    case .range: throw .predicate("a range is allowed only where something is contained in it")
    case .dictionary: throw .predicate("a dictionary is allowed only before a key in brackets")
    }
  }

  /// The destinations of a relationship, and the condition that they satisfy.
  func destinations(
    _ sequence: any PredicateExpression
  ) throws(HeartwoodError) -> (path: PropertyPath, scope: Scope, filter: Condition?) {
    switch try value(sequence).kind {
    case .path(let path): return (path, Scope(), nil)
    case .collection(let values) where values.element == nil:
      return (values.path, values.scope, values.filter)
    default: throw .predicate("a condition on each member is translated for relationships only")
    }
  }

  /// Whether a test holds for any of the members of a sequence.
  func any<Output>(
    _ sequence: any PredicateExpression, _ variable: PredicateExpressions.Variable<Output>,
    _ test: any PredicateExpression, isNegated: Bool
  ) throws(HeartwoodError) -> Condition {
    if case .value(.list(let members)) = try value(sequence).kind {
      var tests: [Condition] = []
      for member in members {
        let one = try binding(variable, to: .value(.value(member))).condition(test)
        tests.append(isNegated ? !one : one)
      }
      return tests.isEmpty ? .always(false) : .any(tests)
    }
    let (path, scope, filter) = try destinations(sequence)
    let inner = try binding(variable, to: .value(.path(PropertyPath(scope)))).condition(test)
    let wanted = isNegated ? !inner : inner
    return .quantified(.any, path, scope, filter.map { $0 && wanted } ?? wanted)
  }

  /// Whether an object is of a class: of its entity, or of a subentity of it.
  func isObject(
    _ expression: any PredicateExpression, of type: Any.Type
  ) throws(HeartwoodError) -> Condition {
    guard case .path(var path) = try value(expression).kind, let entity = entity(of: type) else {
      throw .predicate(
        "'is \(type)' of a #Predicate is translated for objects only, and for a class with an entity in the model"
      )
    }
    path.steps += [.name("entity"), .name("name")]
    let names = entity.compiled.family.entities.map { ConditionExpression.value(.string($0.displayName)) }
    return .comparing(.path(path), .isIn, ConditionExpression(list: names))
  }

  private func entity(of type: any Any.Type) -> EntityDescription? {
    if let name = vocabulary?.entityName(of: type) { return model?.entitiesByName[name] }
    return (type as? ManagedObject.Type).flatMap { model?.entity(of: $0) }
  }

  /// An object as one of a class, or none.
  func cast(
    _ expression: any PredicateExpression, to type: Any.Type
  ) throws(HeartwoodError) -> PredicatePart {
    if let name = vocabulary?.entityName(of: type), case .path(var path) = try value(expression).kind {
      path.steps.append(.kind(.name(name)))
      return .value(.path(path))
    }
    guard case .path(var path) = try value(expression).kind, let type = type as? ManagedObject.Type else {
      throw .predicate("'as \(type)' of a #Predicate has no translation: it is for objects and their classes")
    }
    path.steps.append(.kind(.type(type)))
    return .value(.path(path))
  }

  // MARK: Optionals

  /// When a value is there. The destinations of a to-many relationship always are, where its owner is.
  func exists(_ value: ConditionExpression, of type: any Any.Type) -> Condition {
    switch value.kind {
    case .value, .list, .object: return .always(!value.isNull)
    default: break
    }
    guard vocabulary?.isToMany(type) == true else { return .comparing(value, .notEqual, .value(.null)) }
    let path: PropertyPath
    switch value.kind {
    case .path(let relationship): path = relationship
    case .collection(let values): path = values.path
    default: return .always(true)
    }
    guard path.steps.count > 1 else { return .always(true) }
    let owner = PropertyPath(path.scope, Array(path.steps.dropLast()), column: path.column)
    return .comparing(.path(owner), .notEqual, .value(.null))
  }

  /// A part that there is only where another value exists.
  func part(
    _ part: PredicatePart, of type: any Any.Type, where exists: Condition, after wrapped: ConditionExpression
  ) -> PredicatePart {
    if case .constant(true) = exists.node { return part }
    switch part {
    case .condition(let condition): return .optional(condition, where: exists)
    case .optional(let condition, let other): return .optional(condition, where: exists && other)
    case .value(let value):
      if vocabulary?.isToMany(type) == true || value.isMissing(with: wrapped) { return part }
      return .value(ConditionExpression(.conditional(exists, value, .value(.null))))
    case .range, .dictionary: return part
    }
  }

  /// A comparison for equality.
  func equality<Value>(
    _ left: any PredicateExpression<Value>, _ right: any PredicateExpression<Value>, isNegated: Bool
  ) throws(HeartwoodError) -> PredicatePart {
    let values = (try value(left), try value(right))
    let comparator: ComparisonOperator = isNegated ? .notEqual : .equal
    if values.0.isNull || values.1.isNull {
      let other = values.0.isNull ? values.1 : values.0
      guard vocabulary?.isToMany(Value.self) == true, !other.isNull else {
        return .condition(.comparing(values.0, comparator, values.1))
      }
      let exists = exists(other, of: Value.self)
      return .condition(isNegated ? exists : !exists)
    }
    if vocabulary?.isToMany(Value.self) == true {
      throw .predicate("two lists of models are compared: ask whether one contains a model")
    }
    try vocabulary?.checkEquality(of: Value.self, with: left.constantValue ?? right.constantValue)
    return .condition(.comparing(values.0, comparator, values.1))
  }

  // MARK: Constants

  func constant(_ value: Any) throws(HeartwoodError) -> PredicatePart {
    if let known = try vocabulary?.constant(value) { return .value(known) }
    if let range = value as? any ConstantRange {
      let bounds = range.bounds
      return .range(try bound(bounds.lower), try bound(bounds.upper), isClosed: bounds.isClosed)
    }
    if let dictionary = value as? any ConstantDictionary { return try dictionary.part(in: self) }
    if let argument = value as? any PredicateArgument { return .value(argument.predicateConstant.expression) }
    if let attribute = value as? any AttributeValue { return .value(.value(attribute._value)) }
    if let regex = value as? PredicateExpressions.PredicateRegex {
      return .value(.value(.string(regex.stringRepresentation)))
    }
    guard let sequence = value as? any Sequence else {
      throw .predicate("a \(type(of: value)) is no value that the store can compare")
    }
    return .value(ConditionExpression(list: try list(sequence)))
  }

  private func list(_ sequence: some Sequence) throws(HeartwoodError) -> [ConditionExpression] {
    var parts: [ConditionExpression] = []
    for member in sequence {
      guard case .value(let value) = try constant(member) else {
        throw .predicate("a list of ranges is no value that the store can compare")
      }
      parts.append(value)
    }
    return parts
  }
}

/// Ranges as constants.
private protocol ConstantRange {
  /// Nil where there is no bound. `isClosed` says whether the upper one is in the range.
  var bounds: (lower: Any?, upper: Any?, isClosed: Bool) { get }
}

extension PredicateTranslation {
  private func bound(_ value: Any?) throws(HeartwoodError) -> ConditionExpression? {
    guard let value else { return nil }
    guard case .value(let bound) = try constant(value) else {
      throw .predicate("a range of these values is no value that the store can compare")
    }
    return bound
  }
}

extension ClosedRange: ConstantRange {
  fileprivate var bounds: (lower: Any?, upper: Any?, isClosed: Bool) { (lowerBound, upperBound, true) }
}

extension Range: ConstantRange {
  fileprivate var bounds: (lower: Any?, upper: Any?, isClosed: Bool) { (lowerBound, upperBound, false) }
}

extension PartialRangeFrom: ConstantRange {
  fileprivate var bounds: (lower: Any?, upper: Any?, isClosed: Bool) { (lowerBound, nil, true) }
}

extension PartialRangeThrough: ConstantRange {
  fileprivate var bounds: (lower: Any?, upper: Any?, isClosed: Bool) { (nil, upperBound, true) }
}

extension PartialRangeUpTo: ConstantRange {
  fileprivate var bounds: (lower: Any?, upper: Any?, isClosed: Bool) { (nil, upperBound, false) }
}

extension ConditionExpression {
  var isNull: Bool {
    if case .value(.null) = kind { return true }
    return false
  }

  /// Whether the value is nil where another is, from which it is read.
  fileprivate func isMissing(with other: ConditionExpression) -> Bool {
    switch (kind, other.kind) {
    case (.path(let path), .path(let start)):
      path.scope === start.scope && path.steps.count >= start.steps.count
        && zip(path.steps, start.steps).allSatisfy { $0.isSame(as: $1) }
    case (.function(.length, let parts), _): parts.allSatisfy { $0.isMissing(with: other) }
    default: false
    }
  }
}

extension PathStep {
  fileprivate func isSame(as other: PathStep) -> Bool {
    switch (self, other) {
    case (.name(let name), .name(let other)): name == other
    case (.keyPath(let path), .keyPath(let other)): path == other
    case (.item(let item), .item(let other)): item == other
    case (.kind(let kind), .kind(let other)): kind.text == other.text
    default: false
    }
  }
}

/// Collections whose size is asked for by key paths.
protocol CountedCollection {
  static var countPath: AnyKeyPath { get }
  static var isEmptyPath: AnyKeyPath { get }
}

extension String: CountedCollection {
  static var countPath: AnyKeyPath { \String.count }
  static var isEmptyPath: AnyKeyPath { \String.isEmpty }
}
extension Data: CountedCollection {
  static var countPath: AnyKeyPath { \Data.count }
  static var isEmptyPath: AnyKeyPath { \Data.isEmpty }
}
extension Array: CountedCollection {
  static var countPath: AnyKeyPath { \[Element].count }
  static var isEmptyPath: AnyKeyPath { \[Element].isEmpty }
}
extension Set: CountedCollection {
  static var countPath: AnyKeyPath { \Set<Element>.count }
  static var isEmptyPath: AnyKeyPath { \Set<Element>.isEmpty }
}
extension RelatedObjects: CountedCollection {
  static var countPath: AnyKeyPath { \RelatedObjects<Element>.count }
  static var isEmptyPath: AnyKeyPath { \RelatedObjects<Element>.isEmpty }
}
