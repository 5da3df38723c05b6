/// Compilation of expressions.
extension ConditionCompiler {
  package enum Operand {
    case constant(Value)
    case path(ResolvedPath)
    case computed(ComputedValue)
    /// A list whose members are not all constants.
    case parts([ConditionExpression])
  }

  /// A compiled expression and the kind of its values.
  package struct ComputedValue {
    package var reader: ValueReader
    package var kind: ValueKind
    /// The kind of a list's members; nil if it is not known.
    var memberKind: ValueKind?
    /// The name in messages.
    package var name: String
    package var column: Int?

    /// Throws `.invalidPredicate` for a composite value, of which a row has only whether there is one, with what to do with its elements.
    package func refuseComposite(_ advice: String) throws(HeartwoodError) {
      guard kind == .composite || memberKind == .composite else { return }
      throw .predicate("\(name) is a composite value: \(advice)", column: column)
    }
  }

  package mutating func operand(_ expression: ConditionExpression) throws(HeartwoodError) -> Operand {
    switch expression.kind {
    case .value(let value): return .constant(value)
    case .object(let object): return .constant(.object(object.objectID))
    case .path(let path): return .path(try resolve(path))
    case .aggregate(let aggregate): return .computed(try compile(aggregate))
    case .arithmetic(let operation, let left, let right):
      guard computesInDecimals, paths.hasDecimals(expression) else {
        return try compile(operation, left, right)
      }
      return try compile(operation, left.withDecimals, right.withDecimals)
    case .list(let parts): return try list(parts)
    case .function(let function, let arguments):
      let isDecimal = computesInDecimals && arguments.count > 1 && paths.hasDecimals(expression)
      guard isDecimal, case .function(_, let decimals) = expression.withDecimals.kind else {
        return try compile(function, arguments)
      }
      return try compile(function, decimals)
    case .conditional(let condition, let first, let second):
      return .computed(try compile(condition, first, second))
    case .collection(let values): return .computed(try compile(values))
    case .variable(let name, let column):
      throw .unboundVariable(name, column: column)
    case .anyKey: throw .predicate("ANYKEY is allowed only on the left of a comparison")
    case .computed(let place): return .computed(try compile(computed: place))
    case .group, .window:
      throw .predicate(
        "\(expression) is computed from several rows: it can be used in the columns, the order and the HAVING condition of a fetch of rows, and not to select objects"
      )
    case .fetched(let value):
      throw .predicate(
        "\(value.text) is the value of another fetch, which only fetches execute, for their conditions and columns: elsewhere, fetch it before, and use the value"
      )
    case .refused(let error): throw error
    }
  }

  mutating func resolve(_ path: PropertyPath) throws(HeartwoodError) -> ResolvedPath {
    let resolved = try paths.resolve(path)
    if resolved.hops.contains(where: { !$0.isCast }) { noteOtherRows() }
    return resolved
  }

  private func list(_ parts: [ConditionExpression]) throws(HeartwoodError) -> Operand {
    var values: [Value] = []
    for part in parts {
      switch part.kind {
      case .value(let value): values.append(value)
      case .object(let object): values.append(.object(object.objectID))
      default: return .parts(parts)
      }
    }
    return .constant(.list(values))
  }

  package mutating func computed(_ operand: Operand) throws(HeartwoodError) -> ComputedValue {
    switch operand {
    case .computed(let value): return value
    case .path(let path): return try computed(path)
    case .parts(let parts): return try computed(parts)
    case .constant(let value):
      return ComputedValue(
        reader: ConstantReader(value.withKeys(in: store)), kind: ValueKind(value),
        memberKind: value.memberKind,
        name: value.shortText)
    }
  }

  package mutating func computed(_ expression: ConditionExpression) throws(HeartwoodError) -> ComputedValue {
    try computed(operand(expression))
  }

  /// A list whose members are computed.
  private mutating func computed(_ parts: [ConditionExpression]) throws(HeartwoodError) -> ComputedValue {
    var readers: [ValueReader] = []
    var kind = ValueKind.null
    for part in parts {
      let value = try computed(part)
      readers.append(value.reader)
      kind = try common(kind, value, "a list")
    }
    return ComputedValue(
      reader: ListReader(readers), kind: .list, memberKind: kind == .null ? nil : kind, name: "the list")
  }

  /// The kind of values that are of one of two kinds, of which one may be nil.
  func common(
    _ kind: ValueKind, _ value: ComputedValue, _ place: String
  ) throws(HeartwoodError) -> ValueKind {
    try value.refuseComposite("use one of its elements")
    if kind == .null { return value.kind }
    guard value.kind == .null || value.kind == kind else {
      throw .predicate(
        "\(value.name) is \(value.kind.name), and something else in \(place) is \(kind.name): values of one kind are needed",
        column: value.column)
    }
    return kind
  }

  private mutating func computed(_ path: ResolvedPath) throws(HeartwoodError) -> ComputedValue {
    let reader: ValueReader
    let kind: ValueKind
    switch path.end {
    case .attribute(let attribute, let column):
      try path.checkIsInRow()
      (reader, kind) = (ColumnReader(column), ValueKind(attribute.type))
    case .toOne(_, let column, let entity):
      (reader, kind) = (ToOneKeyReader(column), .object(entity.rootEntity))
    case .object(let entity): (reader, kind) = (KeyReader(), .object(entity.rootEntity))
    case .entity(let entity): (reader, kind) = (EntityNameReader(entity.compiled.family), .text)
    case .toMany: return try compile(valuesOf: path)
    }
    let read = path.isOwnRow ? reader : PathReader(path.outward, path.hops, reader)
    return ComputedValue(reader: read, kind: kind, name: path.name, column: path.column)
  }

  private func compile(computed place: Int) throws(HeartwoodError) -> ComputedValue {
    guard let computedRow, place < computedRow.columns.count else {
      throw .predicate("it uses a column of a fetch that it is not a part of")
    }
    let column = computedRow.columns[place]
    return ComputedValue(
      reader: ComputedRowReader(computedRow, place), kind: column.kind, name: column.name, column: nil)
  }

  private mutating func compile(
    _ operation: ArithmeticOperator, _ left: ConditionExpression, _ right: ConditionExpression
  ) throws(HeartwoodError) -> Operand {
    let operands = [try operand(left), try operand(right)]
    let (left, right) = try (computed(operands[0]), computed(operands[1]))
    let kind = try kind(of: operation, left, right)
    if let (left, right) = Self.constants(operands) { return .constant(operation.apply(left, right)) }
    return .computed(
      ComputedValue(
        reader: ArithmeticReader(operation, left.reader, right.reader), kind: kind,
        name: "\(left.name) \(operation.rawValue) \(right.name)", column: left.column ?? right.column))
  }

  private static func constants(_ operands: [Operand]) -> (Value, Value)? {
    guard case .constant(let left) = operands[0], case .constant(let right) = operands[1] else { return nil }
    return (left, right)
  }

  private func kind(
    of operation: ArithmeticOperator, _ left: ComputedValue, _ right: ComputedValue
  ) throws(HeartwoodError) -> ValueKind {
    switch (operation, left.kind, right.kind) {
    case (.add, .text, .text), (.add, .text, .null), (.add, .null, .text): return .text
    case (.add, .date, .number), (.add, .number, .date), (.subtract, .date, .number): return .date
    case (.subtract, .date, .date): return .number
    default: break
    }
    for side in [left, right] where side.kind != .number && side.kind != .null {
      throw .predicate(
        "\(side.name) is \(side.kind.name): \(operation.rawValue) needs numbers"
          + (operation == .add ? ", or two texts" : ""), column: side.column ?? left.column)
    }
    return .number
  }

  /// - Throws: `.invalidPredicate` if values of the two kinds can never be compared.
  func check(
    _ left: ComputedValue, _ comparator: ComparisonOperator, _ right: ComputedValue,
    _ options: ComparisonOptions
  ) throws(HeartwoodError) {
    let column = left.column ?? right.column
    for (side, other) in [(left, right), (right, left)] where other.kind != .null {
      try side.refuseComposite("it can be compared with nil only; compare its elements")
    }
    if comparator.isText, left.kind != .null, right.kind != .null, !(left.kind.isText && right.kind.isText) {
      let wrong = left.kind.isText ? right : left
      throw .predicate(
        "\(comparator.rawValue) compares texts, but \(wrong.name) is \(wrong.kind.name)", column: column)
    }
    if comparator == .isIn || comparator == .between {
      guard right.kind == .list else {
        throw .predicate("\(comparator.rawValue) needs a list, not \(right.name)", column: column)
      }
      guard let member = right.memberKind, left.kind != .null, left.kind != member else { return }
      throw .predicate(
        "\(left.name) is \(left.kind.name), and \(right.name) has members of another kind: \(member.name)",
        column: column)
    }
    if left.kind == .list || right.kind == .list {
      let list = left.kind == .list ? left : right
      throw .predicate(
        "\(list.name) is a list: it can be compared by IN, CONTAINS or BETWEEN only, or by a function such as count()",
        column: column)
    }
    guard comparator.isOrder, left.kind != .null, right.kind != .null, left.kind != right.kind else { return }
    throw .predicate(
      "\(left.name) is \(left.kind.name) and cannot be compared with \(right.name)"
        + (right.column == nil ? "" : ", which is \(right.kind.name)"), column: column)
  }
}

/// The kinds of values. Only values of the same kind can be compared.
package enum ValueKind: Equatable {
  case null, number, boolean, text, url, date, data, uuid, list, composite
  /// Objects with keys under this root entity.
  case object(EntityDescription)

  package init(_ type: AttributeType) {
    switch type {
    case .integer16, .integer32, .integer64, .decimal, .double, .float: self = .number
    case .string: self = .text
    case .boolean: self = .boolean
    case .date: self = .date
    case .binaryData, .transformable: self = .data
    case .uuid: self = .uuid
    case .uri: self = .url
    case .composite: self = .composite
    case .undefined: self = .null
    }
  }

  init(_ value: Value) {
    switch value {
    case .null: self = .null
    case .int, .double, .decimal: self = .number
    case .bool: self = .boolean
    case .string: self = .text
    case .date: self = .date
    case .data: self = .data
    case .uuid: self = .uuid
    case .url: self = .url
    case .object(let identifier): self = .object(identifier.entity.rootEntity)
    case .list, .opaque: self = .list
    }
  }

  package var isText: Bool { self == .text || self == .url }

  package var name: String {
    switch self {
    case .null: "nil"
    case .number: "a number"
    case .boolean: "a Boolean"
    case .text: "a text"
    case .url: "a URL"
    case .date: "a date"
    case .data: "data"
    case .uuid: "a UUID"
    case .list: "a list"
    case .composite: "a composite value"
    case .object(let entity): "an object of \(entity.displayName)"
    }
  }
}

extension Value {
  /// The kind of the members of a list, if all have one.
  fileprivate var memberKind: ValueKind? {
    guard case .list(let values) = self else { return nil }
    let kinds = values.filter { !$0.isNull }.map(ValueKind.init)
    guard let first = kinds.first, kinds.allSatisfy({ $0 == first }) else { return nil }
    return first
  }

  /// The value with keys instead of identifiers, as computed values of objects have them.
  ///
  /// - Parameter store: The store of the objects; one that an object is not of has no such key.
  fileprivate func withKeys(in store: StoreIdentity?) -> Value {
    switch self {
    case .object(let identifier):
      .int(Int64(bitPattern: store.map { identifier.key(in: $0) ?? .max } ?? identifier.key))
    case .list(let values): .list(values.map { $0.withKeys(in: store) })
    default: self
    }
  }
}
