/// Compiles comparisons of an attribute with constants.
struct AttributeComparison {
  private let attribute: AttributeDescription
  private let column: Column
  private let comparator: ComparisonOperator
  private let options: ComparisonOptions
  private let conversion: ConstantConversion
  private let path: ResolvedPath

  init(
    _ path: ResolvedPath, _ attribute: AttributeDescription, _ column: Column,
    _ comparator: ComparisonOperator,
    _ options: ComparisonOptions
  ) {
    self.path = path
    self.attribute = attribute
    self.column = column
    self.comparator = comparator
    // As Core Data does: other values have no case and no accents.
    self.options = Self.isText(column) ? options : []
    conversion = ConstantConversion(path: path, attribute: attribute)
  }

  private static func isText(_ column: Column) -> Bool { column.kind == .string || column.kind == .uri }
  private var slot: Int { Int(column.slot) }
  private var isText: Bool { Self.isText(column) }
  private var isInteger: Bool {
    switch column.kind {
    case .int16, .int32, .int64, .bool: true
    default: false
    }
  }

  func compile(_ value: Value) throws(HeartwoodError) -> CompiledPart {
    if !(value.isNull && (comparator == .equal || comparator == .notEqual)) { try path.checkIsInRow() }
    if comparator.isText { return try compileText(value) }
    if attribute.type == .transformable, ![.equal, .notEqual, .isIn].contains(comparator) {
      throw .predicate(
        "\(path.name) is transformable: its values can be compared by == and != only", column: path.column)
    }
    switch comparator {
    case .isIn: return try compileMembership(value.elements)
    case .between: return try compileBetween(value.elements)
    default: return try compileOrder(conversion.convert(value))
    }
  }

  private func compileText(_ value: Value) throws(HeartwoodError) -> CompiledPart {
    guard isText else {
      throw .predicate(
        "\(path.name) is \(attribute.type.kindName): \(comparator.rawValue) compares texts",
        column: path.column)
    }
    if value.isNull { return CompiledPart(false) }
    guard let text = value.text else {
      throw .predicate(
        "\(path.name) \(comparator.rawValue) wants a text in quotes, not \(value.shortText)",
        column: path.column)
    }
    let pattern = try TextPattern(comparator, text, options)
    if let words = pattern.words {
      guard let root = words.root else { return CompiledPart(false) }
      return CompiledPart(
        TextTest(column, pattern), column.kind == .string ? .words(root, slot: slot) : .other)
    }
    let isPrefix =
      comparator == .beginsWith && options.isEmpty && column.kind == .string && !pattern.constant.isEmpty
    return CompiledPart(TextTest(column, pattern), isPrefix ? .prefix(slot: slot, pattern.constant) : .other)
  }

  /// - Parameter value: a constant that is already converted.
  private func compileOrder(_ value: Value) throws(HeartwoodError) -> CompiledPart {
    if value.isNull { return compileNull() }
    if isInteger { return compileIntegers(IntegerBounds(comparator, value)) }
    if isText, let text = value.text {
      return CompiledPart(TextTest(column, try TextPattern(comparator, text, options)), plainConjunct(value))
    }
    switch (value, column.kind) {
    case (.double(let number), .double), (.double(let number), .float), (.date(let number), .date):
      return CompiledPart(DoubleTest(column, comparator, number), plainConjunct(value))
    case (.decimal(let number), .decimal):
      return CompiledPart(DecimalTest(column, comparator, DecimalParts(number)), plainConjunct(value))
    default: return CompiledPart(ValueTest(column, comparator, value), plainConjunct(value))
    }
  }

  private func compileNull() -> CompiledPart {
    switch comparator {
    case .equal: CompiledPart(NullTest(column, isNullWanted: true), .equal(slot: slot, value: .null))
    case .notEqual: CompiledPart(NullTest(column, isNullWanted: false), .present(slot: slot))
    default: CompiledPart(false)
    }
  }

  /// The form that an index may serve: only for values of the column's own kind, and without options.
  private func plainConjunct(_ value: Value) -> Conjunct {
    guard options.isEmpty, value.isOfKind(column.kind) else { return .other }
    return .comparison(slot, comparator, value)
  }
}

/// Integers and Booleans.
extension AttributeComparison {
  private func compileIntegers(_ bounds: IntegerBounds) -> CompiledPart {
    guard let range = bounds.range?.limited(to: possibleIntegers) else {
      return CompiledPart(!bounds.isInsideWanted)
    }
    let test = IntegerTest(column, range, isInsideWanted: bounds.isInsideWanted)
    return CompiledPart(test, bounds.isInsideWanted ? conjunct(range) : .other)
  }

  private var possibleIntegers: ClosedRange<Int64> {
    switch column.kind {
    case .int16: Int64(Int16.min)...Int64(Int16.max)
    case .int32: Int64(Int32.min)...Int64(Int32.max)
    case .bool: 0...1
    default: .min ... .max
    }
  }

  private func conjunct(_ range: ClosedRange<Int64>) -> Conjunct {
    if range.lowerBound == range.upperBound { return .equal(slot: slot, value: value(range.lowerBound)) }
    let (least, greatest) = (possibleIntegers.lowerBound, possibleIntegers.upperBound)
    let upper =
      range.upperBound == greatest ? nil : IndexBound(value: value(range.upperBound), isInclusive: true)
    // At least one bound is set: a range without bounds would include nil, which is in no range.
    let isOpen = range.lowerBound == least && upper != nil
    let lower = isOpen ? nil : IndexBound(value: value(range.lowerBound), isInclusive: true)
    return .range(slot: slot, lower: lower, upper: upper)
  }

  private func value(_ number: Int64) -> Value {
    column.kind == .bool ? .bool(number != 0) : .int(number)
  }
}

/// `IN` and `BETWEEN`.
extension AttributeComparison {
  private func compileMembership(_ members: [Value]) throws(HeartwoodError) -> CompiledPart {
    var values: [Value] = []
    for member in members {
      let value = try conversion.convert(member: member)
      // A number that the property cannot have equals none of its values.
      if value.isNull || value.isOfKind(column.kind) { values.append(value) }
    }
    values = values.withoutRepetitions
    guard !values.isEmpty else { return CompiledPart(false) }
    return CompiledPart(membershipTest(values), options.isEmpty ? .isIn(slot: slot, values) : .other)
  }

  private func membershipTest(_ values: [Value]) -> RowTest {
    let includesNull = values.contains(.null)
    if isInteger {
      return IntegerSetTest(column, Set(values.compactMap(\.integer)), includesNull: includesNull)
    }
    guard !options.isEmpty else { return ValueSetTest(column, Set(values)) }
    return TextSetTest(column, Set(values.compactMap(\.text)), options, includesNull: includesNull)
  }

  private func compileBetween(_ ends: [Value]) throws(HeartwoodError) -> CompiledPart {
    let (low, high) = (try conversion.convert(ends[0]), try conversion.convert(ends[1]))
    if low.isNull || high.isNull { return CompiledPart(false) }
    if isInteger { return compileIntegers(IntegerBounds(between: low, and: high)) }
    let lower = try with(.greaterOrEqual).compileOrder(low)
    let upper = try with(.lessOrEqual).compileOrder(high)
    let test = BothTest(lower.test, upper.test)
    guard options.isEmpty, low.isOfKind(column.kind), high.isOfKind(column.kind) else {
      return CompiledPart(test)
    }
    return CompiledPart(
      test,
      .range(
        slot: slot, lower: IndexBound(value: low, isInclusive: true),
        upper: IndexBound(value: high, isInclusive: true)
      ))
  }

  private func with(_ comparator: ComparisonOperator) -> AttributeComparison {
    AttributeComparison(path, attribute, column, comparator, options)
  }
}

extension ClosedRange<Int64> {
  /// The part of the range that is within limits; nil if it is empty.
  fileprivate func limited(to limits: ClosedRange<Int64>) -> ClosedRange<Int64>? {
    overlaps(limits) ? clamped(to: limits) : nil
  }
}

extension Value {
  fileprivate var integer: Int64? {
    switch self {
    case .int(let number): number
    case .bool(let flag): flag ? 1 : 0
    default: nil
    }
  }

  /// Whether a column of the kind has such values. Integer columns of all widths are alike, and so are
  /// floating-point columns.
  fileprivate func isOfKind(_ kind: ColumnKind) -> Bool {
    switch (self, kind) {
    case (.int, .int16), (.int, .int32), (.int, .int64), (.double, .double), (.double, .float),
      (.bool, .bool),
      (.date, .date), (.uuid, .uuid), (.string, .string), (.data, .data), (.url, .uri), (.decimal, .decimal):
      true
    default: false
    }
  }
}
