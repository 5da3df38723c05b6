import HeartwoodArchives

/// Predicates.
extension ArchivedText {
  mutating func predicate(_ value: ArchivedValue) throws(HeartwoodError) -> String {
    try within { (text) throws(HeartwoodError) in
      let object = try text.object(value, "a predicate")
      switch object.className {
      case "NSTruePredicate": return "TRUEPREDICATE"
      case "NSFalsePredicate": return "FALSEPREDICATE"
      case "NSComparisonPredicate": return try text.comparison(object)
      case "NSCompoundPredicate": return try text.compound(object)
      default: throw HeartwoodError(.coreData, "it has an \(object.className.prefix(80))")
      }
    }
  }

  private mutating func compound(_ object: ArchivedObject) throws(HeartwoodError) -> String {
    guard let list = try value("NSSubpredicates", of: object).list else {
      throw HeartwoodError(.coreData, "an NSCompoundPredicate has no NSSubpredicates")
    }
    var parts: [String] = []
    for part in try reading({ () throws(ArchiveError) in try list.values() }) {
      parts.append("(\(try predicate(part)))")
    }
    switch try value("NSCompoundPredicateType", of: object).integer {
    case 0 where parts.count == 1: return "NOT \(parts[0])"
    case 1: return parts.isEmpty ? "TRUEPREDICATE" : parts.joined(separator: " AND ")
    case 2: return parts.isEmpty ? "FALSEPREDICATE" : parts.joined(separator: " OR ")
    default: throw HeartwoodError(.coreData, "an NSCompoundPredicate is of no known type")
    }
  }

  private mutating func comparison(_ object: ArchivedObject) throws(HeartwoodError) -> String {
    let comparison = try Self.operation(of: object, self)
    let left = try expression(try value("NSLeftExpression", of: object))
    let right = try expression(try value("NSRightExpression", of: object))
    let quantifier: String
    switch comparison.modifier {
    case 0: quantifier = ""
    case 1: quantifier = "ALL "
    case 2: quantifier = "ANY "
    default: throw HeartwoodError(.coreData, "a comparison has the modifier \(comparison.modifier)")
    }
    return "\(quantifier)\(left) \(comparison.comparator.rawValue)\(comparison.options.suffix) \(right)"
  }

  /// The operator of a comparison.
  struct Operation {
    let comparator: ComparisonOperator
    let options: ComparisonOptions
    /// 0 for the value itself, 1 for all, 2 for any of the destinations.
    let modifier: Int64
  }

  private static let comparators: [Int64: ComparisonOperator] = [
    0: .less, 1: .lessOrEqual, 2: .greater, 3: .greaterOrEqual, 4: .equal, 5: .notEqual, 6: .matches,
    7: .like,
    8: .beginsWith, 9: .endsWith, 10: .isIn, 99: .contains, 100: .between,
  ]

  static func operation(
    of object: ArchivedObject, _ text: ArchivedText
  ) throws(HeartwoodError) -> Operation {
    let operation = try text.object(try text.value("NSPredicateOperator", of: object), "an operator")
    let type = try text.value("NSOperatorType", of: operation).integer ?? -1
    guard var comparator = comparators[type] else {
      throw HeartwoodError(.coreData, "a comparison has an operator of the type \(type)")
    }
    if comparator == .equal, try text.value("NSNegate", of: operation).bool == true { comparator = .notEqual }
    // Operators on texts have the options under another name.
    let key = operation.has("NSOptions") ? "NSOptions" : "NSFlags"
    let written = try text.value(key, of: operation).integer ?? 0
    guard let options = UInt8(exactly: written), options < 16 else {
      throw HeartwoodError(.coreData, "a comparison has the options \(written)")
    }
    return Operation(
      comparator: comparator, options: ComparisonOptions(rawValue: options),
      modifier: try text.value("NSModifier", of: operation).integer ?? 0)
  }
}
