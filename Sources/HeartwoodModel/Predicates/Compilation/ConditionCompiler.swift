/// A compiled part of a condition: its test, and the form that an index may serve.
package struct CompiledPart {
  package var test: RowTest
  var conjunct: Conjunct

  init(_ test: RowTest, _ conjunct: Conjunct = .other) {
    self.test = test
    self.conjunct = conjunct
  }

  init(_ value: Bool) {
    self.init(ConstantTest(value), .constant(value))
  }
}

/// Compiles the tree of a condition into tests of rows.
package struct ConditionCompiler {
  /// Resolves paths in the enclosing scopes, of which the fetched object is the first.
  package var paths: PathResolver
  let store: StoreIdentity?
  /// The computed row that expressions may read, if there is one.
  let computedRow: ComputedRow?
  /// Whether fractions that are written beside decimal numbers are decimals, too.
  var computesInDecimals = true
  package private(set) var readsOtherRows = false
  /// The memos of the compiled aggregates.
  package private(set) var memos: [AggregateMemo] = []

  package init(_ entity: EntityDescription, _ store: StoreIdentity?, _ computedRow: ComputedRow? = nil) {
    paths = PathResolver(scopes: [(.fetched, entity)])
    self.store = store
    self.computedRow = computedRow
  }

  /// The parts that must all hold.
  mutating func compileConjuncts(_ condition: Condition) throws(HeartwoodError) -> [CompiledPart] {
    guard condition.size.isAllowed else { throw condition.size.refusal }
    guard case .and(let parts) = condition.node else { return [try compile(condition)] }
    var compiled: [CompiledPart] = []
    for part in parts { compiled += try compileConjuncts(part) }
    return compiled
  }

  package mutating func compile(_ condition: Condition) throws(HeartwoodError) -> CompiledPart {
    switch condition.node {
    case .constant(let value): return CompiledPart(value)
    case .refused(let error): throw error
    case .not(let part):
      let negated = try compile(part)
      return CompiledPart(NotTest(negated.test), negated.conjunct.negation)
    case .and:
      let parts = try compileConjuncts(condition)
      return parts.count == 1
        ? parts[0] : CompiledPart(RowTest.all(parts.map(\.test)), Conjunct.conjunction(parts.map(\.conjunct)))
    case .or(let parts): return try compileDisjuncts(parts)
    case .comparison(let comparison): return try compile(comparison)
    case .truth(let value): return try compile(truthOf: value)
    case .quantified(let quantifier, let path, let scope, let part):
      return try compile(quantifier, try paths.resolve(path), scope, part)
    }
  }

  private mutating func compileDisjuncts(_ parts: [Condition]) throws(HeartwoodError) -> CompiledPart {
    var compiled: [CompiledPart] = []
    for part in parts { compiled.append(try compile(part)) }
    return CompiledPart(RowTest.any(compiled.map(\.test)), Conjunct.disjunction(compiled.map(\.conjunct)))
  }
}

/// Boolean values.
extension ConditionCompiler {
  private mutating func compile(truthOf value: ConditionExpression) throws(HeartwoodError) -> CompiledPart {
    let operand = try operand(value)
    if case .path(let path) = operand, case .attribute(let attribute, _) = path.end,
      attribute.type == .boolean
    {
      return try compile(path, .equal, .bool(true), [])
    }
    let computed = try computed(operand)
    guard computed.kind == .boolean else {
      throw .predicate(
        "\(computed.name) is \(computed.kind.name) and must be compared with something; only a Boolean is a condition by itself",
        column: computed.column)
    }
    return CompiledPart(ComputedTest(computed.reader, .equal, ConstantReader(.bool(true)), []))
  }
}

/// Conditions about the destinations of to-many relationships.
extension ConditionCompiler {
  private mutating func compile(
    _ quantifier: Quantifier, _ path: ResolvedPath, _ scope: Scope, _ condition: Condition
  ) throws(HeartwoodError) -> CompiledPart {
    let (destinations, rest) = try destinations(path)
    guard rest.isEmpty else { throw toManyFollowed(path) }
    let part = try withScope(scope, destinations.entity) { (compiler) throws(HeartwoodError) in
      try compiler.compile(condition)
    }
    return quantified(quantifier, path, destinations.value, part)
  }

  private func quantified(
    _ quantifier: Quantifier, _ path: ResolvedPath, _ destinations: Destinations, _ part: CompiledPart
  ) -> CompiledPart {
    let test = QuantifiedTest(quantifier, destinations, part.test)
    guard quantifier == .any, path.isOwnRow else { return CompiledPart(test) }
    let slot = destinations.relationship.slot
    switch part.conjunct {
    case .identity(let keys) where keys.count == 1:
      return CompiledPart(test, .containsDestination(slot: slot, key: keys[0]))
    case .other, .constant: return CompiledPart(test)
    default: return CompiledPart(test, .throughToMany(slot: slot, part.conjunct))
    }
  }

  /// `ANY cities.name == "x"`: compares each destination.
  private mutating func compile(
    _ quantifier: Quantifier, _ comparison: Comparison
  ) throws(HeartwoodError) -> CompiledPart {
    guard case .path(let written) = comparison.left.kind else {
      throw .predicate("\(quantifier.rawValue) must be followed by a path over a to-many relationship")
    }
    let path = try paths.resolve(written)
    guard case .toMany = path.end else {
      if let plain = comparison.overToOne(path, quantifier) { return try compile(plain) }
      throw .predicate(
        "\(path.name) leads over no to-many relationship: leave out \(quantifier.rawValue)",
        column: path.column)
    }
    let (destinations, rest) = try destinations(path)
    let scope = Scope()
    var inner = comparison
    inner.quantifier = nil
    inner.left = .path(PropertyPath(scope, rest, column: written.column))
    let part = try withScope(scope, destinations.entity) { (compiler) throws(HeartwoodError) in
      // Over a further to-many relationship: any of any, all of all, and none is none of any.
      if try compiler.paths.resolve(PropertyPath(scope, rest, column: written.column)).isToMany {
        inner.quantifier = quantifier == .none ? .any : quantifier
      }
      return try compiler.compile(inner)
    }
    return quantified(quantifier, path, destinations.value, part)
  }

  /// - Throws: `.invalidPredicate` if the path does not lead to a to-many relationship.
  package mutating func destinations(
    _ path: ResolvedPath
  ) throws(HeartwoodError) -> ((value: Destinations, entity: EntityDescription), rest: [PathStep]) {
    guard case .toMany(let relationship, let entity, let rest) = path.end else {
      throw .predicate("\(path.name) is no to-many relationship", column: path.column)
    }
    readsOtherRows = true
    return ((Destinations(path.outward, path.hops, relationship, entity), entity), rest)
  }

  mutating func addMemo() -> AggregateMemo {
    let memo = AggregateMemo()
    memos.append(memo)
    return memo
  }

  mutating func withScope<Result>(
    _ scope: Scope, _ entity: EntityDescription,
    _ body: (inout ConditionCompiler) throws(HeartwoodError) -> Result
  ) throws(HeartwoodError) -> Result {
    paths.scopes.append((scope, entity))
    defer { paths.scopes.removeLast() }
    return try body(&self)
  }

  package func toManyFollowed(_ path: ResolvedPath) -> HeartwoodError {
    .predicate("nothing can follow the to-many relationship \(path.name) here", column: path.column)
  }

  mutating func noteOtherRows() { readsOtherRows = true }
}

extension Comparison {
  /// The same about the one destination of a to-one relationship, which Core Data takes for one of several; nil for a path over none.
  package func overToOne(_ path: ResolvedPath, _ quantifier: Quantifier) -> Condition? {
    let endsInToOne = if case .toOne = path.end { true } else { false }
    guard endsInToOne || !path.hops.isEmpty else { return nil }
    var plain = self
    plain.quantifier = nil
    let condition = Condition(.comparison(plain))
    return quantifier == .none ? !condition : condition
  }
}

/// Comparisons.
extension ConditionCompiler {
  private mutating func compile(_ comparison: Comparison) throws(HeartwoodError) -> CompiledPart {
    if let quantifier = comparison.quantifier { return try compile(quantifier, comparison) }
    if case .anyKey = comparison.left.kind { return try compileAnyKey(comparison) }
    let written = comparison
    let comparison = computesInDecimals ? paths.withDecimals(written) : written
    let left = try operand(comparison.left)
    var right = try operand(comparison.right)
    let (comparator, options) = (comparison.comparator, comparison.options)
    if comparator == .isIn, case .constant(.opaque(let held)) = right, let members = held.members {
      right = .constant(.list(members))
    }
    switch (left, right) {
    case (.path(let path), .constant(.string)) where comparator == .isIn && path.isText:
      return try compileComputed(left, comparator, right, options)
    case (.path(let path), .constant(let value)) where !path.isToMany:
      return try compile(path, comparator, value, options)
    case (.constant(let value), .path(let path)) where comparator.mirrored != nil && !path.isToMany:
      return try compile(path, comparator.mirrored ?? comparator, value, options)
    case (.path(let path), _) where path.isToMany:
      return try compileMembership(of: comparison.right, in: path, if: comparator == .contains)
    case (_, .path(let path)) where path.isToMany:
      return try compileMembership(of: comparison.left, in: path, if: comparator == .isIn)
    case (_, .parts(let parts)) where comparator == .isIn || comparator == .between:
      return try compile(comparison, withParts: parts)
    default:
      var part = try compileComputed(left, comparator, right, options)
      if part.conjunct.isOther { part.conjunct = indexed(written, left, right) }
      return part
    }
  }

  /// `ANYKEY == "x"`: whether the comparison holds for any attribute of which it can be.
  private mutating func compileAnyKey(_ comparison: Comparison) throws(HeartwoodError) -> CompiledPart {
    var tests: [RowTest] = []
    var refusal: HeartwoodError?
    let attributes = paths.scopes[0].entity.attributesByName.values.sorted { $0.name < $1.name }
    for attribute in attributes where !attribute.isTransient && attribute.type != .composite {
      var one = comparison
      one.left = .path(PropertyPath(.fetched, [.name(attribute.name)]))
      do {
        tests.append(try compile(Condition(.comparison(one))).test)
      } catch {
        refusal = error
      }
    }
    if tests.isEmpty, let refusal { throw refusal }
    return CompiledPart(RowTest.any(tests))
  }

  /// `cities CONTAINS x` and `x IN cities`: whether any destination is the object.
  private mutating func compileMembership(
    of member: ConditionExpression, in path: ResolvedPath, if isMembership: Bool
  ) throws(HeartwoodError) -> CompiledPart {
    guard case .toMany(_, _, let rest) = path.end, isMembership else {
      throw .predicate(
        "\(path.name) is a to-many relationship: say ANY, ALL or NONE before it, or compare its @count",
        column: path.column)
    }
    let (destinations, _) = try destinations(path)
    let scope = Scope()
    let part = try withScope(scope, destinations.entity) { (compiler) throws(HeartwoodError) in
      let further = PropertyPath(scope, rest, column: path.column)
      let isList = try compiler.paths.resolve(further).isToMany
      return try compiler.compile(
        isList ? .comparing(member, .isIn, .path(further)) : .comparing(.path(further), .equal, member))
    }
    return quantified(.any, path, destinations.value, part)
  }

  /// Compares with a list whose members are not all constants, member by member.
  private mutating func compile(
    _ comparison: Comparison, withParts parts: [ConditionExpression]
  ) throws(HeartwoodError) -> CompiledPart {
    switch comparison.comparator {
    case .isIn:
      let equalities = parts.map { Condition.comparing(comparison.left, .equal, $0, comparison.options) }
      return try compileDisjuncts(equalities)
    case .between where parts.count == 2:
      let low = Condition.comparing(comparison.left, .greaterOrEqual, parts[0], comparison.options)
      let high = Condition.comparing(comparison.left, .lessOrEqual, parts[1], comparison.options)
      return try compile(.all([low, high]))
    case .between: throw .predicate("BETWEEN needs a list of two values, the lower and the upper bound")
    default: throw .predicate("a list is allowed only after IN and BETWEEN")
    }
  }

  private mutating func compileComputed(
    _ left: Operand, _ comparator: ComparisonOperator, _ right: Operand, _ options: ComparisonOptions
  ) throws(HeartwoodError) -> CompiledPart {
    var (first, second) = try (computed(left), computed(right))
    first = converted(first, left, to: second.kind)
    second = converted(second, right, to: first.kind)
    (first, second) = (rounded(first, beside: right), rounded(second, beside: left))
    // A text is in another if that contains it, and a list contains what is in it.
    if comparator == .isIn, second.kind.isText {
      return try compare(second, .contains, first, options)
    }
    if comparator == .contains, first.kind == .list { return try compare(second, .isIn, first, options) }
    return try compare(first, comparator, second, options)
  }

  private func compare(
    _ left: ComputedValue, _ comparator: ComparisonOperator, _ right: ComputedValue,
    _ options: ComparisonOptions
  ) throws(HeartwoodError) -> CompiledPart {
    try check(left, comparator, right, options)
    return CompiledPart(ComputedTest(left.reader, comparator, right.reader, options))
  }

  /// Numbers that are compared with an attribute of type `Float`: decimals are rounded to that type.
  private func rounded(_ value: ComputedValue, beside other: Operand) -> ComputedValue {
    guard value.kind == .number, case .path(let path) = other, case .attribute(let attribute, _) = path.end,
      attribute.type == .float
    else { return value }
    var rounded = value
    rounded.reader = FloatRoundingReader(value.reader)
    return rounded
  }

  /// A constant text as the date, the UUID or the URL that it is compared with.
  private func converted(_ value: ComputedValue, _ operand: Operand, to kind: ValueKind) -> ComputedValue {
    guard case .constant(.string(let text)) = operand else { return value }
    let converted: Value? =
      switch kind {
      case .date: CastType.date.cast(.string(text))
      case .uuid: CastType.uuid.cast(.string(text))
      case .url: .url(text)
      default: nil
      }
    guard let converted else { return value }
    return ComputedValue(
      reader: ConstantReader(converted), kind: kind, name: value.name, column: value.column)
  }
}

extension ResolvedPath {
  fileprivate var isText: Bool {
    guard case .attribute(let attribute, _) = end else { return false }
    return ValueKind(attribute.type).isText
  }

  package var isToMany: Bool {
    if case .toMany = end { return true }
    return false
  }
}

extension Conjunct {
  /// Combines equalities of one property, joined by OR, into one membership.
  static func membership(_ parts: [Conjunct]) -> Conjunct {
    var values: [Value] = []
    var slots: Set<Int> = []
    for part in parts {
      switch part {
      case .equal(let slot, let value):
        slots.insert(slot)
        values.append(value)
      case .isIn(let slot, let members):
        slots.insert(slot)
        values += members
      case .constant(false): continue
      default: return .other
      }
    }
    guard let slot = slots.first else { return .constant(false) }
    return slots.count == 1 ? .isIn(slot: slot, values.withoutRepetitions) : .other
  }
}

extension Array where Element: Hashable {
  package var withoutRepetitions: [Element] {
    var seen: Set<Element> = []
    return filter { seen.insert($0).inserted }
  }
}
