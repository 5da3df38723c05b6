/// A fetch of rows, compiled for an entity.
///
/// Without groups and windows, the columns are read from each object that the fetch delivers. Otherwise
/// each object yields its inputs, from which a table of computed rows is made: one for each group, or one for each object. Windows are
/// computed over the table, and the columns from its rows.
struct RowProgram {
  /// An aggregate of a group.
  struct GroupValue {
    let function: Aggregate.Function
    /// The place of the value among the inputs; nil to count the rows.
    let input: Int?
    /// The place of the filter's value among the inputs.
    let filter: Int?
    let isDistinct: Bool
    let fraction: Double
    /// The sum of no values.
    let zero: Value
    /// The place in the computed row.
    let place: Int
  }

  /// A window over the table.
  struct Window {
    let function: WindowValue.Function
    let element: ValueReader?
    let partition: [ValueReader]
    let order: [Key]
    let place: Int
  }

  /// A key of an order.
  struct Key {
    let reader: ValueReader
    let isAscending: Bool
    let options: ComparisonOptions
  }

  /// A column of the result.
  struct Output {
    let name: String
    let reader: ValueReader
    let kind: ValueKind
    /// The type of the attribute that the column shows unchanged; nil for others.
    let type: AttributeType?
    let isCount: Bool
    /// The property of the object's own row that the column shows unchanged; nil for others.
    let slot: Int?
  }

  fileprivate(set) var joins: [Destinations] = []
  fileprivate(set) var joinedTest: RowTest?
  /// What is read of each object; empty if columns are read directly.
  fileprivate(set) var inputs: [ValueReader] = []
  /// The properties of the object's own row that inputs are; nil for others.
  fileprivate(set) var inputSlots: [Int?] = []
  /// The properties of the object's own row that are read; nil if the row is needed.
  fileprivate(set) var usedSlots: Set<Int>?
  /// The root entities whose rows are read by key.
  fileprivate(set) var reachedRoots: [EntityDescription] = []
  /// The memos of the inputs' aggregates.
  fileprivate(set) var memos: [AggregateMemo] = []
  fileprivate(set) var isGrouped = false
  /// The places that inputs have in the computed row, where objects are not grouped.
  fileprivate(set) var inputPlaces: [Int] = []
  /// How many of the inputs are the keys of groups.
  fileprivate(set) var keyCount = 0
  fileprivate(set) var groupValues: [GroupValue] = []
  fileprivate(set) var windows: [Window] = []
  fileprivate(set) var having: RowTest?
  /// Selects rows after windows are computed.
  fileprivate(set) var qualifying: RowTest?
  /// The order of the table.
  fileprivate(set) var order: [Key] = []
  fileprivate(set) var outputs: [Output] = []
  /// The row from which windows, columns and order are read; nil if columns are read directly.
  fileprivate(set) var table: ComputedRow?
  let isDistinct: Bool

  /// - Throws: `.coreData` if a name is unknown, a type does not fit, or a column is neither a value of the groups nor of their rows.
  init(_ query: RowQuery, _ entity: EntityDescription, _ store: StoreIdentity?) throws(HeartwoodError) {
    isDistinct = query.isDistinct
    var compiler = RowCompiler(entity, store)
    try compiler.compile(query, into: &self)
    usedSlots = compiler.usedSlots
    reachedRoots = compiler.reachedRoots
    memos = compiler.memos
  }

  /// Whether a request's own order, limit and offset can be used: one object is one row.
  static func isDirect(_ query: RowQuery) -> Bool {
    !query.isGrouped && !query.usesWindows && query.joins.isEmpty && !query.isDistinct
  }
}

/// Compiles a fetch of rows.
private struct RowCompiler {
  private var objects: ConditionCompiler
  private let entity: EntityDescription
  private let store: StoreIdentity?
  private let table = ComputedRow()
  private var names: [ObjectIdentifier: String] = [:]
  /// The inputs and the places that windows and aggregates have, by their texts.
  private var places: [String: Int] = [:]
  private var inputPlaces: [String: Int] = [:]
  private var types: [AttributeType?] = []
  private var counts: Set<Int> = []

  init(_ entity: EntityDescription, _ store: StoreIdentity?) {
    self.entity = entity
    self.store = store
    objects = ConditionCompiler(entity, store)
  }

  mutating func compile(_ query: RowQuery, into program: inout RowProgram) throws(HeartwoodError) {
    for (number, join) in query.joins.enumerated() { try add(join, number, to: &program) }
    if let condition = query.joinedCondition { program.joinedTest = try objects.compile(condition).test }
    guard query.isGrouped || query.usesWindows || !RowProgram.isDirect(query) && !query.sorts.isEmpty else {
      for column in query.columns {
        let (value, type, slot) = try objectValue(column.expression)
        program.outputs.append(
          RowProgram.Output(
            name: column.name, reader: value.reader, kind: value.kind, type: type, isCount: false, slot: slot)
        )
      }
      return
    }
    program.table = table
    program.isGrouped = query.isGrouped
    if query.isGrouped {
      for key in query.groupKeys where places[text(key)] == nil {
        _ = try input(key, &program, isColumn: true)
      }
      program.keyCount = program.inputs.count
    }
    var columns: [ConditionExpression] = []
    for column in query.columns { columns.append(try tabulated(column.expression, &program)) }
    let order = try tabulated(query.sorts, &program)
    let having = try tabulated(query.having, &program)
    let qualifying = try tabulated(query.qualifying, &program)
    var compiler = ConditionCompiler(entity, store, table)
    for (column, expression) in zip(query.columns, columns) {
      let value = try compiler.computed(compiler.operand(expression))
      var (type, isCount): (AttributeType?, Bool) = (nil, false)
      if case .computed(let place) = expression.kind {
        (type, isCount) = (types[place], counts.contains(place))
      }
      program.outputs.append(
        RowProgram.Output(
          name: column.name, reader: value.reader, kind: value.kind, type: type, isCount: isCount, slot: nil))
    }
    program.order = try keys(order, &compiler)
    if let having { program.having = try compiler.compile(having).test }
    if let qualifying { program.qualifying = try compiler.compile(qualifying).test }
  }

  private mutating func add(
    _ join: RowQuery.Join, _ number: Int, to program: inout RowProgram
  ) throws(HeartwoodError) {
    let path = try objects.paths.resolve(join.path)
    let (destinations, rest) = try objects.destinations(path)
    guard rest.isEmpty else { throw objects.toManyFollowed(path) }
    program.joins.append(destinations.value)
    objects.paths.scopes.append((join.scope, destinations.entity))
    names[ObjectIdentifier(join.scope)] = "$\(number + 1)"
  }

  /// The properties of the object's own row that were read until now; nil if the row is needed.
  var usedSlots: Set<Int>? { objects.paths.used.ofRow }
  var reachedRoots: [EntityDescription] { objects.paths.used.reachedRoots }
  var memos: [AggregateMemo] { objects.memos }

  /// A value that is read of an object, with the type of the attribute if it is one, and its slot if it is the object's own.
  private mutating func objectValue(
    _ expression: ConditionExpression
  ) throws(HeartwoodError) -> (ConditionCompiler.ComputedValue, AttributeType?, slot: Int?) {
    let operand = try objects.operand(expression)
    var (type, slot): (AttributeType?, Int?) = (nil, nil)
    if case .path(let path) = operand, case .attribute(let attribute, _) = path.end {
      type = attribute.type
      if path.hops.isEmpty, path.outward == objects.paths.scopes.count - 1 { slot = attribute.slot }
    }
    let value = try objects.computed(operand)
    guard value.kind != .list else {
      throw .predicate(
        "\(value.name) has several values, from a to-many relationship: a column has one, such as their @count or @sum; or join the relationship",
        column: value.column)
    }
    return (value, type, slot)
  }

  private func text(_ expression: ConditionExpression) -> String {
    var printer = ConditionPrinter(names: names)
    return printer.text(of: expression, within: 0)
  }

  /// The place of a value among the inputs, which it becomes a part of.
  ///
  /// - Parameter isColumn: Whether it is also a value of the computed row, at the same place.
  private mutating func input(
    _ expression: ConditionExpression, _ program: inout RowProgram, isColumn: Bool
  ) throws(HeartwoodError) -> Int {
    let text = text(expression)
    if !isColumn, let place = inputPlaces[text] { return place }
    let (value, type, slot) = try objectValue(expression)
    let place = program.inputs.count
    program.inputs.append(value.reader)
    program.inputSlots.append(slot)
    inputPlaces[text] = place
    guard isColumn else { return place }
    let column = addColumn(value.name, value.kind, type)
    places[text] = column
    program.inputPlaces.append(column)
    return place
  }

  private mutating func addColumn(_ name: String, _ kind: ValueKind, _ type: AttributeType?) -> Int {
    table.columns.append(ComputedRow.Column(name: name, kind: kind))
    types.append(type)
    return table.columns.count - 1
  }

  /// An expression over the computed row.
  private mutating func tabulated(
    _ expression: ConditionExpression, _ program: inout RowProgram
  ) throws(HeartwoodError) -> ConditionExpression {
    try expression.replacing { (part) throws(HeartwoodError) in try tabulatedPart(part, &program) }
  }

  private mutating func tabulated(
    _ condition: Condition?, _ program: inout RowProgram
  ) throws(HeartwoodError) -> Condition? {
    try condition?.replacing { (part) throws(HeartwoodError) in try tabulatedPart(part, &program) }
  }

  private mutating func tabulated(
    _ order: [RowSortKey], _ program: inout RowProgram
  ) throws(HeartwoodError) -> [RowSortKey] {
    var tabulated = order
    for place in order.indices {
      tabulated[place].expression = try self.tabulated(order[place].expression, &program)
    }
    return tabulated
  }

  private mutating func tabulatedPart(
    _ part: ConditionExpression, _ program: inout RowProgram
  ) throws(HeartwoodError) -> ConditionExpression? {
    if let place = places[text(part)] { return ConditionExpression(.computed(place)) }
    switch part.kind {
    case .group(let aggregate):
      return ConditionExpression(.computed(try place(of: aggregate, part, &program)))
    case .window(let window):
      return ConditionExpression(.computed(try place(of: window, part, &program)))
    case .path, .aggregate, .collection:
      guard !program.isGrouped else {
        throw .predicate(
          "\(text(part)) has a value for each object, not for each group: group by it, or take its sum, minimum or another aggregate"
        )
      }
      _ = try input(part, &program, isColumn: true)
      return places[text(part)].map { ConditionExpression(.computed($0)) }
    default: return nil
    }
  }

  private mutating func place(
    of aggregate: GroupAggregate, _ part: ConditionExpression, _ program: inout RowProgram
  ) throws(HeartwoodError) -> Int {
    var (kind, type, place): (ValueKind, AttributeType?, Int?) = (.number, nil, nil)
    var zero = Value.int(0)
    if let element = aggregate.element {
      let (value, elementType, _) = try objectValue(element)
      zero = elementType?.zero ?? zero
      try aggregate.function.check(value, value.kind, as: "@\(aggregate.function.rawValue)")
      if aggregate.function.selectsValue { (kind, type) = (value.kind, elementType) }
      place = try input(element, &program, isColumn: false)
    }
    var filter: Int?
    if let condition = aggregate.filter {
      filter = try input(.truth(of: condition), &program, isColumn: false)
    }
    let column = addColumn(text(part), kind, type)
    if aggregate.function == .count { counts.insert(column) }
    places[text(part)] = column
    program.groupValues.append(
      RowProgram.GroupValue(
        function: aggregate.function, input: place, filter: filter, isDistinct: aggregate.isDistinct,
        fraction: aggregate.fraction, zero: zero, place: column))
    return column
  }

  private mutating func place(
    of window: WindowValue, _ part: ConditionExpression, _ program: inout RowProgram
  ) throws(HeartwoodError) -> Int {
    var element: ConditionExpression?
    if let written = window.element { element = try tabulated(written, &program) }
    var partition: [ConditionExpression] = []
    for key in window.partition { partition.append(try tabulated(key, &program)) }
    let order = try tabulated(window.order, &program)
    var compiler = ConditionCompiler(entity, store, table)
    var (kind, type, reader): (ValueKind, AttributeType?, ValueReader?) = (.number, nil, nil)
    if let element {
      let value = try compiler.computed(compiler.operand(element))
      reader = value.reader
      if case .aggregate(let function) = window.function {
        try function.check(value, value.kind, as: function.rawValue)
        if function.selectsValue { kind = value.kind }
      } else {
        kind = value.kind
      }
      if kind == value.kind, case .computed(let place) = element.kind { type = types[place] }
    }
    var keys: [ValueReader] = []
    for key in partition { keys.append(try compiler.computed(compiler.operand(key)).reader) }
    let ordered = try self.keys(order, &compiler)
    if !ordered.isEmpty, case .aggregate(let function) = window.function,
      function == .median || function == .mode
    {
      throw .predicate(
        "@\(function.rawValue) over a window is that of the whole partition: leave out its order")
    }
    let column = addColumn(text(part), kind, type)
    places[text(part)] = column
    program.windows.append(
      RowProgram.Window(
        function: window.function, element: reader, partition: keys, order: ordered, place: column))
    return column
  }

  private func keys(
    _ order: [RowSortKey], _ compiler: inout ConditionCompiler
  ) throws(HeartwoodError) -> [RowProgram.Key] {
    var keys: [RowProgram.Key] = []
    for key in order {
      keys.append(
        RowProgram.Key(
          reader: try compiler.computed(compiler.operand(key.expression)).reader,
          isAscending: key.isAscending,
          options: key.options))
    }
    return keys
  }
}
