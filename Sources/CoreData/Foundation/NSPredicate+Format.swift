import Foundation
import Heartwood
import HeartwoodBytes
import Synchronization

/// A predicate with a tree: an `NSComparisonPredicate`, or another condition of Heartwood's.
open class ParsedPredicate: NSPredicate {
  /// The condition as it was prepared for the first evaluation; nil while a thread has it.
  private let prepared = Mutex<InMemoryCondition?>(nil)

  /// As a block, so that it equals no constant predicate of Foundation.
  init() { super.init(block: { _, _ in false }) }

  /// The condition for a store; its variables are not replaced.
  ///
  /// - Throws: `.coreData` if a part is a block.
  func treeCondition() throws(HeartwoodError) -> Condition { .false }

  /// Whether an object meets the condition, by key-value coding.
  open override func evaluate(with object: Any?) -> Bool {
    evaluate(with: object, substitutionVariables: nil)
  }

  /// Whether an object meets the condition, with values for its variables.
  open override func evaluate(with object: Any?, substitutionVariables bindings: [String: Any]?) -> Bool {
    guard let condition = try? treeCondition() else { return false }
    if let bindings, !bindings.isEmpty { return InMemoryCondition(condition, bindings).isMet(by: object) }
    let known = prepared.withLock { prepared in
      defer { prepared = nil }
      return prepared
    }
    let evaluated = known ?? InMemoryCondition(condition)
    defer { prepared.withLock { $0 = evaluated } }
    return evaluated.isMet(by: object)
  }

  /// The predicate as text, as Apple's systems write it.
  open override var predicateFormat: String { PredicateText.text(of: self) }
  /// The predicate as text.
  open override var description: String { predicateFormat }
  /// Whether both have the same text.
  open override func isEqual(_ object: Any?) -> Bool {
    guard let other = object as? ParsedPredicate else { return false }
    if other === self { return true }
    guard (try? treeCondition()) != nil, (try? other.treeCondition()) != nil else { return false }
    return predicateFormat == other.predicateFormat
  }
  /// A hash of the text.
  open override var hash: Int { predicateFormat.hashValue }
  /// The predicate itself, which does not change.
  open override func copy(with zone: NSZone? = nil) -> Any { self }
}

/// A predicate whose text cannot be used, such as one of a model's fetch requests: a fetch with it throws the reason, and no object meets it.
final class RefusedPredicate: ParsedPredicate {
  private let condition: Condition

  init(_ condition: Condition) {
    self.condition = condition
    super.init()
  }

  override func treeCondition() throws(HeartwoodError) -> Condition {
    if let refusal = condition.refusal { throw refusal }
    return condition
  }

  override var predicateFormat: String { condition.description }
}

/// A protocol for initialisers that choose the class.
public protocol _FormatPredicate {}
extension NSPredicate: _FormatPredicate {}

extension _FormatPredicate where Self: NSPredicate {
  /// A predicate from text, in the language of `FormatPredicate`.
  ///
  /// - Parameters:
  ///   - format: The text.
  ///   - arguments: One for each placeholder. Further ones are left out.
  /// - Precondition: The text is a predicate, and the arguments fit.
  public init(format: String, _ arguments: Any?...) {
    self.init(format: format, argumentArray: arguments.map { $0 ?? NSNull() })
  }

  /// A predicate from text, with its arguments in an array.
  public init(format: String, argumentArray: [Any]?) {
    do {
      let arguments = (argumentArray ?? []).map { GivenArgument($0) as any PredicateArgument }
      let condition = try FormatPredicate(format, arguments, takesMore: true).condition
      let made = NSPredicate.made(of: condition, GivenConstants(argumentArray ?? []))
      guard let predicate = made as? Self else {
        programError("\(Self.self)(format:) would make a \(type(of: made)): use NSPredicate(format:)")
      }
      self = predicate
    } catch {
      programError("Unable to parse the format string \"\(format)\": \(error.message)")
    }
  }

  /// A predicate from text, with its arguments in a list of C, which does not say their types: `withVaList` and `getVaList` make others.
  @available(*, unavailable, message: "use init(format:argumentArray:)")
  public init(format: String, arguments: Swift.CVaListPointer) { fatalError() }
}

extension NSPredicate {
  /// The predicate of a condition, of the class that its tree has.
  ///
  /// - Parameter given: The values that were given for placeholders, which are the constants of comparisons.
  static func made(of condition: Condition, _ given: GivenConstants = GivenConstants([])) -> NSPredicate {
    if condition.refusal != nil { return RefusedPredicate(condition) }
    switch condition.form {
    case .constant(let value): return NSPredicate(value: value)
    case .comparison(let comparison): return NSComparisonPredicate(comparison, given, condition)
    case .compound(let compound):
      let parts = compound.subpredicates.map { made(of: $0, given) }
      switch compound.compoundPredicateType {
      case .not: return _NSCompoundPredicate(type: .not, subpredicates: parts)
      case .and: return _NSCompoundPredicate(type: .and, subpredicates: parts)
      case .or: return _NSCompoundPredicate(type: .or, subpredicates: parts)
      }
    }
  }

  /// The predicate with values in place of its variables.
  public func withSubstitutionVariables(_ variables: [String: Any]) -> Self {
    if let compound = self as? NSCompoundPredicate {
      let parts = compound.subpredicates.map { $0.withSubstitutionVariables(variables) }
      return _NSCompoundPredicate(type: compound.compoundPredicateType, subpredicates: parts) as? Self ?? self
    }
    guard let condition = try? storeCondition() else { return self }
    let given = variables.mapValues { Optional(GivenArgument($0) as any PredicateArgument) }
    let made = NSPredicate.made(
      of: condition.withSubstitutionVariables(given), GivenConstants(Array(variables.values)))
    return made as? Self ?? self
  }

  /// The condition for a store.
  ///
  /// - Throws: `.coreData` for a predicate that is a block, which no store can evaluate.
  func storeCondition() throws(HeartwoodError) -> Condition {
    if let parsed = self as? ParsedPredicate { return try parsed.treeCondition() }
    if let compound = self as? NSCompoundPredicate { return try compound.joinedCondition() }
    if isEqual(NSPredicate(value: true)) { return .true }
    if isEqual(NSPredicate(value: false)) { return .false }
    throw HeartwoodError(
      .coreData,
      "a predicate that is a block cannot be used in a fetch: write it as a format, or filter the result")
  }
}

extension DefaultStringInterpolation {
  /// Appends the description of a predicate, which is `TRUEPREDICATE` or `FALSEPREDICATE` for one of a truth value.
  public mutating func appendInterpolation(_ predicate: NSPredicate) {
    appendLiteral(
      type(of: predicate) == NSPredicate.self ? PredicateText.text(of: predicate) : predicate.description)
  }
}

extension Condition {
  /// Conditions of predicates, joined.
  static func joined(
    _ type: NSCompoundPredicate.LogicalType, _ predicates: [NSPredicate]
  ) throws(HeartwoodError) -> Condition {
    var parts: [Condition] = []
    for part in predicates { parts.append(try part.storeCondition()) }
    switch type {
    case .and: return CompoundPredicate(andPredicateWithSubpredicates: parts).condition
    case .or: return CompoundPredicate(orPredicateWithSubpredicates: parts).condition
    case .not: return parts.first.map { !$0 } ?? .true
    @unknown default: return .true
    }
  }
}

extension NSCompoundPredicate {
  fileprivate func joinedCondition() throws(HeartwoodError) -> Condition {
    try Condition.joined(compoundPredicateType, subpredicates)
  }
}

/// The objects among the arguments of a format, which its comparisons have as constants.
struct GivenConstants {
  private var objects: [NSManagedObjectID: NSManagedObject] = [:]

  init(_ arguments: [Any]) {
    for case let object as NSManagedObject in arguments { objects[object.objectID] = object }
  }

  /// The value that was given for a constant; nil if the constant says it all.
  func value(of expression: ConditionExpression) -> Any? {
    guard !objects.isEmpty, let id = expression.constantValue as? NSManagedObjectID else { return nil }
    return objects[id]
  }
}

/// A value of any type for a placeholder.
struct GivenArgument: PredicateArgument {
  let predicateConstant: PredicateConstant

  init(_ any: Any) { predicateConstant = Self.constant(any) }

  private static func constant(_ any: Any) -> PredicateConstant {
    let value = ManagedValue.flat(any).flatMap { FoundationValue.plain($0) }
    guard let value else { return Optional<Int>.none.predicateConstant }
    if let token = value as? NSPersistentHistoryToken { return HistoryCondition.constant(token) }
    if let expression = value as? NSExpression { return PredicateConstant(expression.expression) }
    if let number = value as? NSNumber, !(value is any PredicateArgument) { return self.number(number) }
    if let argument = value as? any PredicateArgument { return argument.predicateConstant }
    if let elements = KeyValues.elements(of: value) { return PredicateConstant(list: elements.map(constant)) }
    if let dictionary = value as? [AnyHashable: Any] {
      let members = dictionary.values.map { member -> _Value in
        switch constant(member).expression.kind {
        case .value(let value): value
        case .object(let object): .object(object.objectID)
        default: .null
        }
      }
      return PredicateConstant(ConditionExpression(.value(.opaque(_OpaqueValue(value, members: members)))))
    }
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

/// Arguments that only a predicate in memory can use: objects, which are compared by equality or identity, and texts of other values.
enum OtherValues {
  static func constant(_ value: Any) -> PredicateConstant {
    guard type(of: value) is AnyClass else { return "\(value)".predicateConstant }
    return PredicateConstant(ConditionExpression(.value(.opaque(_OpaqueValue(value)))))
  }
}
