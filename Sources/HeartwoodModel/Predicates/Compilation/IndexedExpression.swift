import HeartwoodFiles

/// An expression of an object's own attributes of which an index has the values.
///
/// Unchecked: a compiled expression never changes.
package struct IndexedExpression: @unchecked Sendable {
  /// The expression as conditions write it.
  let text: String
  /// The number that stands for the expression where properties have their slots.
  package let slot: Int
  /// The columns that it reads.
  package let columns: [Column]
  let kind: Kind
  private let reader: ValueReader
  /// Whether the index's number is near that which a condition computes. Not so where decimals and fractions are added: what they have in
  /// common may cancel out.
  private let isNear: Bool

  /// The kind of values that an expression has.
  enum Kind {
    case text, date
    /// Numbers, which the index has as floating-point numbers: others are rounded, so that the rows decide.
    case number
  }

  /// Whether the index has the values themselves.
  package var isExact: Bool { kind != .number }

  /// - Throws: `.invalidPredicate` if the value does not depend on the row alone, or has no order.
  init(_ expression: ConditionExpression, slot: Int, of entity: EntityDescription) throws(HeartwoodError) {
    text = expression.description
    self.slot = slot
    var columns: [Column] = []
    try Self.collect(expression, entity, &columns)
    guard !columns.isEmpty else { throw .predicate("it reads no attribute") }
    self.columns = columns
    var compiler = ConditionCompiler(entity, nil)
    // The index has floating-point numbers, as it had before conditions computed in decimals.
    compiler.computesInDecimals = false
    isNear = !expression.addsFractions || !compiler.paths.hasDecimals(expression)
    let computed = try compiler.computed(expression)
    switch computed.kind {
    case .text: kind = .text
    case .number: kind = .number
    case .date: kind = .date
    default:
      throw .predicate("its value is \(computed.kind.name): an index is of texts, numbers or dates")
    }
    reader = computed.reader
  }

  private static func collect(
    _ expression: ConditionExpression, _ entity: EntityDescription, _ columns: inout [Column]
  ) throws(HeartwoodError) {
    switch expression.kind {
    case .value: return
    case .path(let path):
      let resolved = try PathResolver(scopes: [(.fetched, entity)]).resolve(path)
      guard resolved.isOwnRow, case .attribute(_, let column) = resolved.end else {
        throw .predicate("\(resolved.name) is no attribute of the object itself")
      }
      if !columns.contains(where: { $0.slot == column.slot }) { columns.append(column) }
    case .arithmetic(_, let left, let right):
      try collect(left, entity, &columns)
      try collect(right, entity, &columns)
    case .function(let function, let arguments):
      try function.requireLastingValue()
      for argument in arguments { try collect(argument, entity, &columns) }
    case .refused(let error): throw error
    default: throw .predicate("it consists of attributes of the object, constants, arithmetic and functions")
    }
  }

  /// The value of a row as the index has it.
  package func value(of row: RowView) -> Value {
    // Only other rows cannot be read, and the expression reads none.
    let value = try? reader.read(Place(row: row, key: 0, source: NoRows.shared, outer: nil))
    switch (kind, value) {
    case (.text, .string), (.date, .date): return value ?? .null
    case (.number, let number?): return number.doubleValue.map(Value.double) ?? .null
    default: return .null
    }
  }

  /// Compares with a constant, in the form that the index serves.
  func conjunct(_ comparator: ComparisonOperator, _ constant: Value) -> Conjunct {
    guard isNear || constant.isNull else { return .other }
    switch (comparator, constant) {
    case (.equal, .null): return .equal(slot: slot, value: .null)
    case (.notEqual, .null): return .present(slot: slot)
    case (.isIn, .list(let members)) where isExact:
      let values = members.map(converted)
      return values.allSatisfy { $0.isNull || isOfKind($0) }
        ? .isIn(slot: slot, values.withoutRepetitions) : .other
    case (.between, .list(let ends)) where ends.count == 2:
      return .conjunction([conjunct(.greaterOrEqual, ends[0]), conjunct(.lessOrEqual, ends[1])])
    case (.beginsWith, .string(let text)) where kind == .text && !text.isEmpty:
      guard let pattern = try? TextPattern(.beginsWith, text, []) else { return .other }
      return .prefix(slot: slot, pattern.constant)
    default: break
    }
    let value = converted(constant)
    if kind == .number { return value.doubleValue.map { near($0, comparator) } ?? .other }
    guard isOfKind(value) else { return .other }
    return .comparison(slot, comparator, value)
  }

  /// A constant text as the date that it is compared with.
  private func converted(_ constant: Value) -> Value {
    guard kind == .date, case .string = constant else { return constant }
    return CastType.date.cast(constant) ?? .null
  }

  private func isOfKind(_ value: Value) -> Bool {
    switch (kind, value) {
    case (.text, .string), (.date, .date): true
    default: false
    }
  }

  /// The numbers near a constant that the rounded ones for which a comparison holds are among. The rows decide.
  private func near(_ number: Double, _ comparator: ComparisonOperator) -> Conjunct {
    let margin = number.isFinite ? max(number.magnitude * 0x1p-40, .leastNormalMagnitude) : 0
    let lower = IndexBound(value: .double(number - margin), isInclusive: true)
    let upper = IndexBound(value: .double(number + margin), isInclusive: true)
    switch comparator {
    case .equal: return .all([.range(slot: slot, lower: lower, upper: upper), .other])
    case .less, .lessOrEqual: return .all([.range(slot: slot, lower: nil, upper: upper), .other])
    case .greater, .greaterOrEqual: return .all([.range(slot: slot, lower: lower, upper: nil), .other])
    default: return .other
    }
  }
}

extension ConditionFunction {
  /// - Throws: `.invalidPredicate` if the function has other values at each time, so that an index cannot keep them.
  func requireLastingValue() throws(HeartwoodError) {
    guard ![.now, .random, .randomBelow, .relevance].contains(self) else {
      throw .predicate("the function \(rawValue) has other values at each time")
    }
  }
}

extension Int {
  /// Rows have at most 65534 properties.
  static let firstOfExpressions = 1_000_000

  /// Whether the number, in place of a property's slot, is that of an indexed expression.
  package var isOfExpression: Bool { self >= Self.firstOfExpressions }
}

/// The expressions of the indexes that cover an entity's rows.
///
/// - Invariant: The numbers of an entity's expressions begin with those of its superentity, in the same order.
package final class IndexedExpressions: Sendable {
  private let written: [String]
  private let compiled = Guarded<[Result<IndexedExpression, HeartwoodError>]?>(nil)

  /// - Parameter written: The texts, those of superentities first.
  init(_ written: [String]) { self.written = written.withoutRepetitions }

  /// The expression that an index is declared with.
  ///
  /// - Throws: `.invalidPredicate` if it cannot be indexed.
  package func expression(
    _ text: String, of entity: EntityDescription
  ) throws(HeartwoodError) -> IndexedExpression {
    guard let place = written.firstIndex(of: text) else {
      throw .damagedStore(
        "an index of \(entity.displayName) is of \"\(text)\", which no index of the model is of")
    }
    return try all(of: entity)[place].get()
  }

  /// The expression that a condition writes; nil if no index has it.
  func expression(like wanted: ConditionExpression, of entity: EntityDescription) -> IndexedExpression? {
    let text = wanted.description
    return all(of: entity).lazy.compactMap { try? $0.get() }.first { $0.text == text }
  }

  /// The name of the expression with a number.
  func text(at slot: Int) -> String {
    let place = slot - .firstOfExpressions
    return written.indices.contains(place) ? written[place] : "?"
  }

  private func all(of entity: EntityDescription) -> [Result<IndexedExpression, HeartwoodError>] {
    if let known = compiled.withLock({ $0 }) { return known }
    let made = written.enumerated().map { place, text in
      Result { () throws(HeartwoodError) in
        try IndexedExpression(
          FormatExpression(text).expression, slot: .firstOfExpressions + place, of: entity)
      }
    }
    compiled.withLock { $0 = made }
    return made
  }
}

extension FrozenEntity {
  /// The expressions of the indexes that cover the entity.
  package var indexedExpressions: IndexedExpressions {
    lateIndexedExpressions.get { IndexedExpressions(indexedTexts) }
  }
}

extension EntityDescription {
  /// The name of an indexed property, or an indexed expression.
  package func elementName(at slot: Int) -> String {
    slot.isOfExpression ? compiled.indexedExpressions.text(at: slot) : property(at: slot).name
  }
}

extension ConditionCompiler {
  /// A comparison of a computed value in the form that an index of the expression serves.
  func indexed(_ comparison: Comparison, _ left: Operand, _ right: Operand) -> Conjunct {
    guard comparison.options.isEmpty else { return .other }
    let comparator = comparison.comparator
    switch (left, right) {
    case (.computed, .constant(let value)):
      return indexedExpression(comparison.left)?.conjunct(comparator, value) ?? .other
    case (.constant(let value), .computed):
      guard let mirrored = comparator.mirrored else { return .other }
      return indexedExpression(comparison.right)?.conjunct(mirrored, value) ?? .other
    default: return .other
    }
  }

  /// The indexed expression of the innermost object that an expression is; nil if there is none.
  package func indexedExpression(_ expression: ConditionExpression) -> IndexedExpression? {
    guard let (scope, entity) = paths.scopes.last, !entity.compiled.indexedTexts.isEmpty else {
      return nil
    }
    let isElsewhere = expression.contains { part in
      if case .path(let path) = part.kind { path.scope !== scope } else { false }
    }
    return isElsewhere ? nil : entity.compiled.indexedExpressions.expression(like: expression, of: entity)
  }
}

/// A source without rows, for what reads one row only.
package final class NoRows: RowSource, Sendable {
  package static let shared = NoRows()

  package func row(_ root: EntityDescription, _ key: UInt64) -> RowView? { nil }

  package func destinations(
    _ relationship: RelationshipDescription, of key: UInt64, _ body: (UInt64) throws -> Bool
  ) {}
}

extension ConditionExpression {
  /// Whether fractions are added or subtracted in it.
  fileprivate var addsFractions: Bool {
    switch kind {
    case .arithmetic(let operation, let left, let right):
      (operation == .add || operation == .subtract) && (left.hasFraction || right.hasFraction)
        || left.addsFractions || right.addsFractions
    case .function(_, let arguments): arguments.contains(where: \.addsFractions)
    default: false
    }
  }

  private var hasFraction: Bool {
    switch kind {
    case .value(.double): true
    case .arithmetic(_, let left, let right): left.hasFraction || right.hasFraction
    case .function(_, let arguments): arguments.contains(where: \.hasFraction)
    default: false
    }
  }
}
