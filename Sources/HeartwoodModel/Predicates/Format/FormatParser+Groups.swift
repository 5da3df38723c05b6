/// Aggregates of groups: `@count`, `@sum.price`, `@avg.(price * quantity)`, `@count DISTINCT.name`, `@percentile(0.9).age`,
/// `@sum.price FILTER (isPaid == TRUE)`.
extension FormatParser {
  mutating func parseGroupAggregate(_ name: String) throws(HeartwoodError) -> ConditionExpression {
    let column = next.column
    advance()
    var aggregate = GroupAggregate(function: .median)
    if name == "percentile" {
      aggregate.fraction = try parseFraction()
    } else {
      guard let function = Aggregate.Function(rawValue: name) else {
        throw .predicate(
          "unknown function @\(name): use one of @count, @sum, @min, @max, @avg, @median, @mode, @stddev or @percentile",
          column: column)
      }
      aggregate.function = function
    }
    aggregate.isDistinct = skip(keyword: "DISTINCT")
    if skip(sign: ".") {
      aggregate.element = try parseGroupElement()
    }
    guard aggregate.element != nil || aggregate.function == .count && !aggregate.isDistinct else {
      throw .predicate("@\(name) needs a value after it, as in '@\(name).population'", column: column)
    }
    if skip(keyword: "FILTER") {
      try expect(sign: "(", "after FILTER")
      aggregate.filter = try parseCondition(0)
      try expect(sign: ")", "at the end of FILTER")
    }
    return try parseOver(aggregate, column)
  }

  private mutating func parseGroupElement() throws(HeartwoodError) -> ConditionExpression {
    guard skip(sign: "(") else { return try parsePath() }
    let element = try parseExpression(Strength.comparison)
    try expect(sign: ")", "after the value of the aggregate")
    return element
  }

  private mutating func parseFraction() throws(HeartwoodError) -> Double {
    try expect(sign: "(", "after @percentile")
    let column = next.column
    let fraction: Double? =
      switch next.kind {
      case .number(let number): number
      case .decimal(let number): DecimalParts(number).doubleValue
      case .integer(let number): Double(number)
      default: nil
      }
    guard let fraction, (0...1).contains(fraction) else {
      throw .predicate("@percentile needs a number from 0 to 1, as in '@percentile(0.9).age'", column: column)
    }
    advance()
    try expect(sign: ")", "after the number of @percentile")
    return fraction
  }
}
