import Foundation
import Heartwood

/// A predicate with its tree. `NSPredicate(format:)` makes one.
open class ParsedPredicate: NSPredicate {
  /// The condition; its variables are not replaced.
  let condition: Condition

  init(_ condition: Condition) {
    self.condition = condition
    super.init(value: true)
  }

  /// Whether an object meets the condition, by key-value coding.
  open override func evaluate(with object: Any?) -> Bool {
    evaluate(with: object, substitutionVariables: nil)
  }

  /// Whether an object meets the condition, with values for its variables.
  open override func evaluate(with object: Any?, substitutionVariables bindings: [String: Any]?) -> Bool {
    InMemoryCondition(bindings ?? [:]).isMet(condition, by: object)
  }

  /// The predicate as text.
  open override var predicateFormat: String { condition.description }
  /// The predicate as text.
  open override var description: String { condition.description }
  /// Whether both have the same text.
  open override func isEqual(_ object: Any?) -> Bool {
    (object as? ParsedPredicate).map { $0.condition.description == condition.description } ?? false
  }
  /// A hash of the text.
  open override var hash: Int { condition.description.hashValue }
  /// The predicate itself, which does not change.
  open override func copy(with zone: NSZone? = nil) -> Any { self }
}

/// What makes initialisers that choose the class possible.
public protocol _FormatPredicate {}
extension NSPredicate: _FormatPredicate {}

extension _FormatPredicate where Self: NSPredicate {
  /// A predicate from text, in the language of `FormatPredicate`.
  ///
  /// - Parameters:
  ///   - format: The text.
  ///   - arguments: One for each placeholder.
  /// - Precondition: The text is a predicate, and the arguments fit.
  public init(format: String, _ arguments: Any?...) {
    self.init(format: format, argumentArray: arguments.map { $0 ?? NSNull() })
  }

  /// A predicate from text, with its arguments in an array.
  public init(format: String, argumentArray: [Any]?) {
    do {
      let arguments = (argumentArray ?? []).map { GivenArgument($0) as any PredicateArgument }
      let condition = try FormatPredicate(format, argumentArray: arguments).condition
      self = NSPredicate.made(of: condition) as! Self
    } catch {
      fatalError("Unable to parse the format string \"\(format)\": \(error.message)")
    }
  }

  /// A predicate from text, with its arguments in a list of C.
  @available(*, unavailable, message: "use init(format:argumentArray:)")
  public init(format: String, arguments: CVaListPointer) { fatalError() }
}

extension NSPredicate {
  /// The predicate of a condition: of Foundation's classes where they have it.
  static func made(of condition: Condition) -> NSPredicate {
    ComparisonPredicate(condition).map { NSComparisonPredicate($0) } ?? ParsedPredicate(condition)
  }

  /// The predicate with values in place of its variables.
  public func withSubstitutionVariables(_ variables: [String: Any]) -> Self {
    guard let condition = try? storeCondition() else { return self }
    let given = variables.mapValues { Optional(GivenArgument($0) as any PredicateArgument) }
    return NSPredicate.made(of: condition.withSubstitutionVariables(given)) as? Self ?? self
  }

  /// The condition for a store.
  ///
  /// - Throws: `.coreData` for a predicate that is a block, which no store can evaluate.
  func storeCondition() throws(HeartwoodError) -> Condition {
    if let parsed = self as? ParsedPredicate { return parsed.condition }
    if let compound = self as? NSCompoundPredicate { return try compound.joinedCondition() }
    if isEqual(NSPredicate(value: true)) { return .true }
    if isEqual(NSPredicate(value: false)) { return .false }
    throw HeartwoodError(
      .coreData,
      "a predicate that is a block cannot be used in a fetch: write it as a format, or filter the result")
  }
}

extension NSCompoundPredicate {
  fileprivate func joinedCondition() throws(HeartwoodError) -> Condition {
    var parts: [Condition] = []
    for part in subpredicates { parts.append(try part.storeCondition()) }
    switch compoundPredicateType {
    case .and: return CompoundPredicate(andPredicateWithSubpredicates: parts).condition
    case .or: return CompoundPredicate(orPredicateWithSubpredicates: parts).condition
    case .not: return parts.first.map { !$0 } ?? .true
    @unknown default: return .true
    }
  }
}

/// A value of any type for a placeholder.
struct GivenArgument: PredicateArgument {
  let predicateConstant: PredicateConstant

  init(_ any: Any) { predicateConstant = Self.constant(any) }

  private static func constant(_ any: Any) -> PredicateConstant {
    let value = ManagedValue.flat(any).flatMap { FoundationValue.plain($0) }
    guard let value else { return Optional<Int>.none.predicateConstant }
    if let expression = value as? NSExpression { return PredicateConstant(expression.expression) }
    if let number = value as? NSNumber, !(value is any PredicateArgument) { return self.number(number) }
    if let argument = value as? any PredicateArgument { return argument.predicateConstant }
    if let elements = KeyValues.elements(of: value) { return PredicateConstant(list: elements.map(constant)) }
    if let raw = value as? any RawRepresentable { return constant(raw.rawValue) }
    return OtherValues.constant(value)
  }

  private static func number(_ number: NSNumber) -> PredicateConstant {
    if number is NSDecimalNumber { return number.decimalValue.predicateConstant }
    switch UInt8(bitPattern: number.objCType.pointee) {
    case UInt8(ascii: "d"), UInt8(ascii: "f"): return number.doubleValue.predicateConstant
    case UInt8(ascii: "Q") where number.int64Value < 0: return number.uint64Value.predicateConstant
    default: return number.int64Value.predicateConstant
    }
  }
}

/// Arguments that only a predicate in memory can use: objects that are compared by identity or equality.
enum OtherValues {
  static func constant(_ value: Any) -> PredicateConstant { "\(value)".predicateConstant }
}
