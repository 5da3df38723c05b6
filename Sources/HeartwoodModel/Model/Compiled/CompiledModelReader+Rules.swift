import Foundation
import HeartwoodArchives

/// Rules of validation, which a compiled model has as predicates.
extension CompiledModelReader {
  /// A limit of the value, or of its length, by a comparison with a constant.
  private struct Limit {
    let isLength: Bool
    let comparator: ComparisonOperator
    let constant: ArchivedValue
  }

  /// The rules of an attribute. Limits and patterns are the rules that Xcode's editor has; other predicates are conditions on the value, or on
  /// the object.
  mutating func rules(
    of object: ArchivedObject, _ type: AttributeType, _ path: String
  ) throws(ArchiveError) -> [ValidationRule]? {
    let predicates = try object.list("NSValidationPredicates")?.values() ?? []
    let warnings = try object.list("NSValidationWarnings")?.values() ?? []
    try take(predicates.count)
    var rules: [ValidationRule] = []
    // Xcode writes the two limits of an attribute as two predicates.
    var bounds: (least: String?, most: String?) = (nil, nil)
    for (place, predicate) in predicates.enumerated() {
      // Xcode's own warnings are numbers of errors.
      let message = place < warnings.count ? warnings[place].string.flatMap { $0.isEmpty ? nil : $0 } : nil
      if message == nil, let (least, most) = try xcodeBounds(predicate, type),
        least == nil || bounds.least == nil, most == nil || bounds.most == nil
      {
        bounds = (bounds.least ?? least, bounds.most ?? most)
        continue
      }
      guard let rule = try rule(predicate, type, path) else { continue }
      rules.append(message.map { rule.orElse($0) } ?? rule)
    }
    if bounds.least != nil || bounds.most != nil {
      if let rule = XcodeModel.rule(type, bounds.least, bounds.most) {
        rules.insert(rule, at: 0)
      } else {
        note(
          "the limits \(bounds.least ?? "none") and \(bounds.most ?? "none") of \(path) are left out: \(XcodeModel.reasonAgainst(type, bounds.least, bounds.most) ?? "")"
        )
      }
    }
    return rules.isEmpty ? nil : rules
  }

  private mutating func rule(
    _ predicate: ArchivedValue, _ type: AttributeType, _ path: String
  ) throws(ArchiveError) -> ValidationRule? {
    var rule: ValidationRule?
    if let limit = try limit(predicate), limit.comparator == .matches, !limit.isLength,
      let pattern = limit.constant.string
    {
      rule = .pattern(pattern)
    } else if let (least, most) = try xcodeBounds(predicate, type) {
      rule = XcodeModel.rule(type, least, most)
    }
    if rule == nil {
      rule = understood("a validation predicate of \(path)", "is left out") {
        (budget) throws(HeartwoodError) in
        ValidationRule(ofPredicate: try ArchivedText.predicate(predicate, budget: &budget))
      }
    }
    if let rule, let problem = rule.problem(for: type) {
      note("the rule \"\(rule)\" of \(path) is left out: \(problem)")
      return nil
    }
    return rule
  }

  /// The limits of a predicate that is a limit, or two joined by AND; nil for others.
  private func xcodeBounds(
    _ predicate: ArchivedValue, _ type: AttributeType
  ) throws(ArchiveError) -> (least: String?, most: String?)? {
    if let object = predicate.object, object.className == "NSCompoundPredicate",
      try object.integer("NSCompoundPredicateType") == 1, let list = try object.list("NSSubpredicates"),
      list.count == 2
    {
      let parts = (try bound(list.value(at: 0), type), try bound(list.value(at: 1), type))
      guard let first = parts.0, let second = parts.1, (first.least == nil) != (second.least == nil) else {
        return nil
      }
      return (first.least ?? second.least, first.most ?? second.most)
    }
    return try bound(predicate, type)
  }

  private func bound(
    _ predicate: ArchivedValue, _ type: AttributeType
  ) throws(ArchiveError) -> (least: String?, most: String?)? {
    guard let limit = try limit(predicate), limit.isLength == (type == .string || type == .binaryData) else {
      return nil
    }
    let text: String? =
      switch (type, limit.constant) {
      case (_, .bool): nil
      case (.date, .date(let date)): "\(date.timeIntervalSinceReferenceDate)"
      case (.date, .real(let seconds)): "\(seconds)"
      case (_, .integer(let number)): "\(number)"
      case (_, .decimal(let number)): "\(number)"
      case (_, .real(let number)): Int64(exactly: number).map { "\($0)" } ?? "\(number)"
      default: nil
      }
    guard let text, XcodeModel.isLimit(text, of: type) else { return nil }
    switch limit.comparator {
    case .greaterOrEqual: return (text, nil)
    case .lessOrEqual: return (nil, text)
    default: return nil
    }
  }

  /// Nil if the predicate is no comparison of the value or its length with a constant.
  private func limit(_ predicate: ArchivedValue) throws(ArchiveError) -> Limit? {
    guard let object = predicate.object, object.className == "NSComparisonPredicate",
      let left = try object.object("NSLeftExpression"),
      let right = try object.object("NSRightExpression"), right.className == "NSConstantValueExpression"
    else { return nil }
    var isLength = false
    if left.className == "NSKeyPathExpression" {
      guard let operand = try left.object("NSOperand"), operand.className == "NSSelfExpression",
        let arguments = try left.list("NSArguments"), arguments.count == 1,
        try arguments.value(at: 0).object?.string("NSKeyPath") == "length"
      else { return nil }
      isLength = true
    } else if left.className != "NSSelfExpression" {
      return nil
    }
    guard let operation = try? ArchivedText.operation(of: object, ArchivedText()), operation.modifier == 0,
      operation.options.isEmpty
    else { return nil }
    return Limit(
      isLength: isLength, comparator: operation.comparator, constant: try right.value("NSConstantValue"))
  }
}
