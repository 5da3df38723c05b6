/// Compiles a fetch of rows.
struct RowCompiler {
  private var objects: ConditionCompiler
  private let entity: EntityDescription
  private let store: StoreIdentity?
  private(set) var table = ComputedRow()
  /// The row stage that aggregates over windows are computed from.
  private var stage: RowStage?
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
    if query.isGrouped, query.aggregatesWindows {
      var ofObjects = self
      ofObjects.table = ComputedRow()
      stage = RowStage(ofObjects)
      program.stage = stage
    }
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
  var memos: [AggregateMemo] {
    let own = objects.memos
    // The stage began with what was there before it.
    return own + (stage?.compiler.memos ?? []).filter { memo in !own.contains { $0 === memo } }
  }
  /// Whether destinations of to-many relationships are read.
  var readsOtherRows: Bool { objects.readsOtherRows || stage?.compiler.readsOtherRows == true }

  /// A value that is read of an object, with the type of the attribute if it is one, and its slot if it is the object's own.
  private mutating func objectValue(
    _ expression: ConditionExpression
  ) throws(HeartwoodError) -> (ConditionCompiler.ComputedValue, AttributeType?, slot: Int?) {
    if let stage { return try stage.value(expression) }
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
    if isColumn, program.isGrouped { try value.refuseComposite("group by its elements") }
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
    switch part.kind {
    case .group, .window, .path, .aggregate, .collection: break
    // Only a value that groups are formed by has a place.
    default: if !program.isGrouped || places.isEmpty { return nil }
    }
    let name = text(part)
    if let place = places[name] { return ConditionExpression(.computed(place)) }
    switch part.kind {
    case .group(let aggregate):
      guard program.isGrouped else {
        throw .predicate(
          "\(name) is an aggregate within an aggregate: take it over a window, or leave out one of them"
        )
      }
      return ConditionExpression(.computed(try place(of: aggregate, name, &program)))
    case .window(let window):
      return ConditionExpression(.computed(try place(of: window, name, &program)))
    case .path, .aggregate, .collection:
      guard !program.isGrouped else {
        throw .predicate(
          "\(name) has a value for each object, not for each group: group by it, or take its sum, minimum or another aggregate"
        )
      }
      _ = try input(part, &program, isColumn: true)
      return places[name].map { ConditionExpression(.computed($0)) }
    default: return nil
    }
  }

  private mutating func place(
    of aggregate: GroupAggregate, _ name: String, _ program: inout RowProgram
  ) throws(HeartwoodError) -> Int {
    var (kind, type, place): (ValueKind, AttributeType?, Int?) = (.number, nil, nil)
    var zero = Value.int(0)
    if let element = aggregate.element {
      let (value, elementType, _) = try objectValue(element)
      zero = elementType?.zero ?? zero
      try aggregate.function.check(value, value.kind, as: "@\(aggregate.function.rawValue)")
      if aggregate.isDistinct { try value.refuseComposite("count the distinct values of its elements") }
      if aggregate.function.selectsValue { (kind, type) = (value.kind, elementType) }
      place = try input(element, &program, isColumn: false)
    }
    var filter: Int?
    if let condition = aggregate.filter {
      filter = try input(.truth(of: condition), &program, isColumn: false)
    }
    let column = addColumn(name, kind, type)
    if aggregate.function == .count { counts.insert(column) }
    places[name] = column
    program.groupValues.append(
      RowProgram.GroupValue(
        function: aggregate.function, input: place, filter: filter, isDistinct: aggregate.isDistinct,
        fraction: aggregate.fraction, zero: zero, place: column))
    return column
  }

  private mutating func place(
    of window: WindowValue, _ name: String, _ program: inout RowProgram
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
      if window.function != .aggregate(.count) { try value.refuseComposite("take one of its elements") }
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
    for key in partition {
      let value = try compiler.computed(compiler.operand(key))
      try value.refuseComposite("divide by its elements")
      keys.append(value.reader)
    }
    let ordered = try self.keys(order, &compiler)
    guard window.frame == nil || !ordered.isEmpty else {
      throw .predicate("\(name) has a frame of rows, which needs an order: give it one with orderedBy")
    }
    if !ordered.isEmpty, case .aggregate(let function) = window.function,
      function == .median || function == .mode
    {
      throw .predicate(
        "@\(function.rawValue) over a window is that of the whole partition: leave out its order")
    }
    let column = addColumn(name, kind, type)
    places[name] = column
    program.windows.append(
      RowProgram.Window(
        function: window.function, element: reader, partition: keys, order: ordered, frame: window.frame,
        place: column))
    return column
  }

  private func keys(
    _ order: [RowSortKey], _ compiler: inout ConditionCompiler
  ) throws(HeartwoodError) -> [RowProgram.Key] {
    var keys: [RowProgram.Key] = []
    for key in order {
      let value = try compiler.computed(compiler.operand(key.expression))
      try value.refuseComposite("sort by one of its elements")
      keys.append(
        RowProgram.Key(
          reader: value.reader,
          isAscending: key.isAscending,
          options: key.options))
    }
    return keys
  }
}

extension RowStage {
  /// A value of one row of the table, which becomes a column of it.
  fileprivate func value(
    _ expression: ConditionExpression
  ) throws(HeartwoodError) -> (ConditionCompiler.ComputedValue, AttributeType?, slot: Int?) {
    try compiler.stageValue(expression, &program)
  }
}

extension RowCompiler {
  fileprivate mutating func stageValue(
    _ expression: ConditionExpression, _ program: inout RowProgram
  ) throws(HeartwoodError) -> (ConditionCompiler.ComputedValue, AttributeType?, slot: Int?) {
    let tabulated = try tabulated(expression, &program)
    var compiler = ConditionCompiler(entity, store, table)
    let value = try compiler.computed(compiler.operand(tabulated))
    guard case .computed(let place) = tabulated.kind else { return (value, nil, nil) }
    return (value, types[place], nil)
  }
}

extension RowQuery {
  /// Whether groups are formed by windows, or aggregate values that have some.
  fileprivate var aggregatesWindows: Bool {
    func aggregatesWindow(_ part: ConditionExpression) -> Bool {
      guard case .group(let aggregate) = part.kind else { return false }
      return aggregate.element?.isAboutWindow == true || aggregate.filter?.isAboutWindow == true
    }
    return groups?.contains(where: \.isAboutWindow) == true
      || columns.contains { $0.expression.contains(aggregatesWindow) }
      || sorts.contains { $0.expression.contains(aggregatesWindow) }
      || [having, qualifying].contains { $0?.contains(aggregatesWindow) == true }
  }
}
