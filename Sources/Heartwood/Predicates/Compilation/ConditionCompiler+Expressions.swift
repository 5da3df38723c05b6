/// Compilation of expressions.
extension ConditionCompiler {
  enum Operand {
    case constant(Value)
    case path(ResolvedPath)
    case computed(ComputedValue)
    /// A list whose members are not all constants.
    case parts([ConditionExpression])
  }

  /// A compiled expression and the kind of its values.
  struct ComputedValue {
    var reader: ValueReader
    var kind: ValueKind
    /// The name in messages.
    var name: String
    var column: Int?
  }

  mutating func operand(_ expression: ConditionExpression) throws(HeartwoodError) -> Operand {
    switch expression.kind {
    case .value(let value): return .constant(value)
    case .object(let object): return .constant(.object(object.objectID))
    case .path(let path): return .path(try resolve(path))
    case .aggregate(let aggregate): return .computed(try compile(aggregate))
    case .arithmetic(let operation, let left, let right):
      return .computed(try compile(operation, left, right))
    case .list(let parts): return try list(parts)
    case .refused(let error): throw error
    }
  }

  private mutating func resolve(_ path: PropertyPath) throws(HeartwoodError) -> ResolvedPath {
    let resolved = try paths.resolve(path)
    if !resolved.hops.isEmpty { noteOtherRows() }
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

  mutating func computed(_ operand: Operand) throws(HeartwoodError) -> ComputedValue {
    switch operand {
    case .computed(let value): return value
    case .path(let path): return try computed(path)
    case .parts: throw .predicate("a list is allowed only after IN and BETWEEN")
    case .constant(let value):
      return ComputedValue(
        reader: ConstantReader(value.withKeys), kind: ValueKind(value), name: value.shortText)
    }
  }

  private func computed(_ path: ResolvedPath) throws(HeartwoodError) -> ComputedValue {
    let reader: ValueReader
    let kind: ValueKind
    switch path.end {
    case .attribute(let attribute, let column):
      try path.checkIsInRow()
      (reader, kind) = (ColumnReader(column), ValueKind(attribute.type))
    case .toOne(_, let column, let entity):
      (reader, kind) = (ToOneKeyReader(column), .object(entity.rootEntity))
    case .object(let entity): (reader, kind) = (KeyReader(), .object(entity.rootEntity))
    case .toMany:
      throw .predicate(
        "\(path.name) is a to-many relationship: use its @count, or ANY, ALL or NONE", column: path.column)
    }
    let read = path.isOwnRow ? reader : PathReader(path.outward, path.hops, reader)
    return ComputedValue(reader: read, kind: kind, name: path.name, column: path.column)
  }

  private mutating func compile(_ aggregate: Aggregate) throws(HeartwoodError) -> ComputedValue {
    let path = try resolve(aggregate.path)
    let (destinations, rest) = try destinations(path)
    guard rest.isEmpty else { throw toManyFollowed(path) }
    return try withScope(aggregate.scope, destinations.entity) { (compiler) throws(HeartwoodError) in
      try compiler.compile(aggregate, over: destinations.value, path)
    }
  }

  private mutating func compile(
    _ aggregate: Aggregate, over destinations: Destinations, _ path: ResolvedPath
  ) throws(HeartwoodError) -> ComputedValue {
    let name = "\(path.name).@\(aggregate.function.rawValue)"
    let filter: RowTest? = if let filter = aggregate.filter { try compile(filter).test } else { nil }
    var element: ComputedValue?
    if let expression = aggregate.element { element = try computed(operand(expression)) }
    if aggregate.function == .sum || aggregate.function == .average, let element, element.kind != .number {
      throw .predicate(
        "\(element.name) is \(element.kind.name): \(name) needs numbers", column: element.column)
    }
    let reader = AggregateReader(aggregate.function, destinations, element?.reader, filter)
    let isOrdered = aggregate.function == .min || aggregate.function == .max
    return ComputedValue(
      reader: reader, kind: isOrdered ? element?.kind ?? .number : .number, name: name, column: path.column)
  }

  private mutating func compile(
    _ operation: ArithmeticOperator, _ left: ConditionExpression, _ right: ConditionExpression
  ) throws(HeartwoodError) -> ComputedValue {
    let left = try computed(operand(left))
    let right = try computed(operand(right))
    for side in [left, right] where side.kind != .number && side.kind != .null {
      throw .predicate(
        "\(side.name) is \(side.kind.name): \(operation.rawValue) needs numbers",
        column: side.column ?? left.column)
    }
    return ComputedValue(
      reader: ArithmeticReader(operation, left.reader, right.reader), kind: .number,
      name: "\(left.name) \(operation.rawValue) \(right.name)", column: left.column ?? right.column)
  }

  /// - Throws: `.coreData` if values of the two kinds can never be compared.
  func check(
    _ left: ComputedValue, _ comparator: ComparisonOperator, _ right: ComputedValue,
    _ options: ComparisonOptions
  ) throws(HeartwoodError) {
    let column = left.column ?? right.column
    if comparator.isText, left.kind != .null, right.kind != .null, !(left.kind.isText && right.kind.isText) {
      let wrong = left.kind.isText ? right : left
      throw .predicate(
        "\(comparator.rawValue) compares texts, but \(wrong.name) is \(wrong.kind.name)", column: column)
    }
    if comparator == .isIn || comparator == .between, right.kind != .list {
      throw .predicate("\(comparator.rawValue) needs a list, not \(right.name)", column: column)
    }
    guard comparator.isOrder, left.kind != .null, right.kind != .null, left.kind != right.kind else { return }
    throw .predicate(
      "\(left.name) is \(left.kind.name) and cannot be compared with \(right.name)"
        + (right.column == nil ? "" : ", which is \(right.kind.name)"), column: column)
  }
}

/// The kinds of values. Only values of the same kind can be compared.
enum ValueKind: Equatable {
  case null, number, boolean, text, url, date, data, uuid, list
  /// Objects with keys under this root entity.
  case object(EntityDescription)

  init(_ type: AttributeType) {
    switch type {
    case .integer16, .integer32, .integer64, .decimal, .double, .float: self = .number
    case .string: self = .text
    case .boolean: self = .boolean
    case .date: self = .date
    case .binaryData, .transformable: self = .data
    case .uuid: self = .uuid
    case .uri: self = .url
    case .undefined, .composite: self = .null
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

  var isText: Bool { self == .text || self == .url }

  var name: String {
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
    case .object(let entity): "an object of \(entity.displayName)"
    }
  }
}

extension Value {
  /// The value with keys instead of identifiers, as computed values of objects have them.
  fileprivate var withKeys: Value {
    switch self {
    case .object(let identifier): .int(Int64(bitPattern: identifier.key))
    case .list(let values): .list(values.map(\.withKeys))
    default: self
    }
  }
}
