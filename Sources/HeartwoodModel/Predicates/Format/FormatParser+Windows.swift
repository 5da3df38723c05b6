/// Windows, as SQL has them: `RANK() OVER (PARTITION BY team ORDER BY age DESC)`, `LAG(age, 2) OVER (ORDER BY age)`,
/// `AVG(age) OVER (ORDER BY age ROWS BETWEEN 2 PRECEDING AND CURRENT ROW)`, `@sum.age OVER ()`.
extension FormatParser {
  /// The window of a function whose arguments were read.
  ///
  /// - Returns: Nil if it is none of a window.
  mutating func parseWindow(
    _ name: String, _ arguments: [ConditionExpression], _ column: Int
  ) throws(HeartwoodError) -> ConditionExpression? {
    let usage = WindowValue.usages[name.uppercased()]
    guard usage != nil || next.keyword == "OVER" else { return nil }
    guard let window = WindowValue(name.uppercased(), arguments) else {
      throw .predicate(
        usage.map { "these arguments of '\(name)' do not fit: it is written as \($0) OVER (…)" }
          ?? "'\(name)' is no function of a window: there are \(WindowValue.usages.values.sorted().joined(separator: ", ")), "
          + "COUNT() and aggregates as SUM(value)", column: column)
    }
    guard next.keyword == "OVER" else { throw unexpected("OVER (…) after \(name)") }
    return try parseOver(window)
  }

  /// An aggregate of a group, or over a window.
  mutating func parseOver(
    _ aggregate: GroupAggregate, _ column: Int
  ) throws(HeartwoodError) -> ConditionExpression {
    guard next.keyword == "OVER" else { return ConditionExpression(.group(aggregate)) }
    guard let window = WindowValue(aggregate) else {
      throw .predicate(ConditionExpression(.group(aggregate)).refusalOfWindows, column: column)
    }
    return try parseOver(window)
  }

  private mutating func parseOver(_ function: WindowValue) throws(HeartwoodError) -> ConditionExpression {
    var window = function
    advance()
    try expect(sign: "(", "after OVER")
    if skip(keyword: "PARTITION") {
      try expect(keyword: "BY", "after PARTITION")
      repeat {
        window.partition.append(try parseExpression(Strength.comparison))
      } while skip(sign: ",")
    }
    if skip(keyword: "ORDER") {
      try expect(keyword: "BY", "after ORDER")
      repeat { window.order.append(try parseOrder()) } while skip(sign: ",")
    }
    if skip(keyword: "ROWS") { window.frame = try parseFrame() }
    guard skip(sign: ")") else { throw unexpected("PARTITION BY, ORDER BY, ROWS or ')' in OVER") }
    return ConditionExpression(.window(window))
  }

  /// `name[c] DESC`.
  private mutating func parseOrder() throws(HeartwoodError) -> RowSortKey {
    let isWithin = endsAtOptions
    endsAtOptions = true
    let expression = try parseExpression(Strength.comparison)
    endsAtOptions = isWithin
    let options = try parseOptions()
    let isDescending = skip(keyword: "DESC")
    if !isDescending { _ = skip(keyword: "ASC") }
    return RowSortKey(expression: expression, isAscending: !isDescending, options: options)
  }

  /// `BETWEEN 2 PRECEDING AND 1 FOLLOWING`, or only the first, up to the row.
  private mutating func parseFrame() throws(HeartwoodError) -> RowFrame {
    let column = next.column
    let isRange = skip(keyword: "BETWEEN")
    let first = try parseFrameEnd()
    if isRange { try expect(keyword: "AND", "after the first row of the frame") }
    let last = isRange ? try parseFrameEnd() : 0
    guard first <= last, first != .max, last != .min else {
      throw .predicate("the frame ends before it begins", column: column)
    }
    return RowFrame(first: first == .min ? nil : first, last: last == .max ? nil : last)
  }

  /// The distance of a row; the least or the greatest number for the ends of the partition.
  private mutating func parseFrameEnd() throws(HeartwoodError) -> Int {
    if skip(keyword: "CURRENT") {
      try expect(keyword: "ROW", "after CURRENT")
      return 0
    }
    var distance: Int?
    if case .integer(let number) = next.kind {
      distance = Int(clamping: number)
      advance()
    } else if !skip(keyword: "UNBOUNDED") {
      throw unexpected("a number of rows, UNBOUNDED or CURRENT ROW")
    }
    if skip(keyword: "PRECEDING") { return distance.map { -$0 } ?? .min }
    try expect(keyword: "FOLLOWING", "or PRECEDING")
    return distance ?? .max
  }
}

extension WindowValue {
  /// The functions that are of windows only.
  fileprivate static let usages = [
    "ROW_NUMBER": "ROW_NUMBER()", "RANK": "RANK()", "DENSE_RANK": "DENSE_RANK()", "NTILE": "NTILE(4)",
    "LAG": "LAG(value, 1)", "LEAD": "LEAD(value, 1)", "FIRST_VALUE": "FIRST_VALUE(value)",
    "LAST_VALUE": "LAST_VALUE(value)",
  ]

  /// - Returns: Nil if a function of windows has another name in SQL, or takes other arguments.
  fileprivate init?(_ name: String, _ arguments: [ConditionExpression]) {
    var number: Int?
    if arguments.count > 1 || name == "NTILE", case .value(.int(let value))? = arguments.last?.kind {
      number = Swift.max(Int(clamping: value), -.max)
    }
    var element = arguments.first
    let function: Function
    switch (name, arguments.count, number) {
    case ("ROW_NUMBER", 0, _): function = .rowNumber
    case ("RANK", 0, _): function = .rank
    case ("DENSE_RANK", 0, _): function = .denseRank
    case ("NTILE", 1, let count?) where count > 0: (function, element) = (.tile(count), nil)
    case ("LAG", 1, _), ("LAG", 2, _?): function = .lag(number ?? 1)
    case ("LEAD", 1, _), ("LEAD", 2, _?): function = .lag(-(number ?? 1))
    case ("FIRST_VALUE", 1, _): function = .first
    case ("LAST_VALUE", 1, _): function = .last
    default:
      guard let aggregate = Aggregate.Function(rawValue: name.lowercased()),
        arguments.count == 1 || arguments.isEmpty && aggregate == .count
      else { return nil }
      function = .aggregate(aggregate)
    }
    self.init(function: function, element: element, partition: [], order: [])
  }
}
