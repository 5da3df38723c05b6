import Foundation

/// What a save requires of an attribute's value, beyond its type. A missing value satisfies every rule: whether one is needed
/// is `isOptional`.
///
/// Rules are kept with the model in the store, but are not part of its version hash: changing them needs no migration.
public struct ValidationRule: Hashable, Sendable, Codable {
  package enum Kind: String, Codable, Sendable {
    case number, date, length, pattern, condition, value
  }

  package let kind: Kind
  /// The bounds, inclusive; nil for none. Decimals as text, dates in seconds since 2001, lengths as integers.
  package let least: String?
  package let greatest: String?
  /// The regular expression or the condition.
  package let text: String?
  /// What the error says in place of its own sentence.
  package private(set) var message: String?

  private init(_ kind: Kind, _ least: String? = nil, _ greatest: String? = nil, text: String? = nil) {
    (self.kind, self.least, self.greatest, self.text) = (kind, least, greatest, text)
  }

  /// A number that is at least `least` and at most `greatest`; nil for no bound.
  public static func number(atLeast least: Decimal? = nil, atMost greatest: Decimal? = nil) -> ValidationRule
  {
    ValidationRule(.number, least?.description, greatest?.description)
  }

  /// An integer in a range.
  public static func range(_ range: ClosedRange<Int>) -> ValidationRule {
    ValidationRule(.number, "\(range.lowerBound)", "\(range.upperBound)")
  }

  /// A date that is not earlier than `earliest` and not later than `latest`; nil for no bound.
  public static func date(notBefore earliest: Date? = nil, notAfter latest: Date? = nil) -> ValidationRule {
    ValidationRule(
      .date, earliest.map { "\($0.timeIntervalSinceReferenceDate)" },
      latest.map { "\($0.timeIntervalSinceReferenceDate)" })
  }

  /// A text or data whose length is in a range: characters of a text, bytes of data.
  public static func length(_ range: ClosedRange<Int>) -> ValidationRule {
    ValidationRule(.length, "\(range.lowerBound)", "\(range.upperBound)")
  }

  /// A text or data that is not shorter than this.
  public static func length(_ range: PartialRangeFrom<Int>) -> ValidationRule {
    ValidationRule(.length, "\(range.lowerBound)")
  }

  /// A text or data that is not longer than this.
  public static func length(_ range: PartialRangeThrough<Int>) -> ValidationRule {
    ValidationRule(.length, nil, "\(range.upperBound)")
  }

  /// A text that a regular expression matches as a whole, as `MATCHES` does. A text for which a pattern with references or with looking around
  /// takes too many steps is not matched.
  public static func pattern(_ pattern: String) -> ValidationRule { ValidationRule(.pattern, text: pattern) }

  /// A condition on the whole object, in the format language: `"endDate > startDate"`. It may read related objects.
  public static func condition(_ format: String) -> ValidationRule {
    ValidationRule(.condition, text: format)
  }

  /// A condition on the value itself, which the format language calls `SELF`: `"SELF IN {1, 2, 4}"`.
  public static func value(_ format: String) -> ValidationRule { ValidationRule(.value, text: format) }

  /// The rule with a message that the error has in place of its own sentence.
  public func orElse(_ message: String) -> ValidationRule {
    var rule = self
    rule.message = message
    return rule
  }
}

extension ValidationRule: CustomStringConvertible {
  /// What the rule requires.
  public var description: String {
    switch kind {
    case .number: bounds("at least", "at most")
    case .date: bounds("not before", "not after")
    case .length: bounds("at least", "at most") + " long"
    case .pattern: "matched by \(text ?? "")"
    case .condition, .value: text ?? ""
    }
  }

  private func bounds(_ from: String, _ to: String) -> String {
    [least.map { "\(from) \(shown($0))" }, greatest.map { "\(to) \(shown($0))" }].compactMap { $0 }
      .joined(separator: " and ")
  }

  private func shown(_ bound: String) -> String {
    guard kind == .date, let seconds = Double(bound) else { return bound }
    // Foundation has no text for dates that are far away.
    guard abs(seconds) < 1e11 else { return "\(bound) seconds after 2001" }
    return "\(Date(timeIntervalSinceReferenceDate: seconds))"
  }
}

extension ValidationRule {
  /// How a value of an attribute fails; nil if it does not. Conditions are checked elsewhere.
  ///
  /// A bound of a floating-point number is the nearest one that the attribute can have: 4.9 is at most 4.9.
  func failure(of value: Value, _ type: AttributeType) -> HeartwoodError.Code? {
    switch kind {
    case .number:
      guard value.isNumber else { return nil }
      if let least = bound(least, type), let order = Value.compare(value, least), order < 0 {
        return .validationNumberTooSmall
      }
      if let most = bound(greatest, type), let order = Value.compare(value, most), order > 0 {
        return .validationNumberTooLarge
      }
    case .date:
      guard case .date(let seconds) = value else { return nil }
      if let earliest = least.flatMap(Double.init), seconds < earliest { return .validationDateTooSoon }
      if let latest = greatest.flatMap(Double.init), seconds > latest { return .validationDateTooLate }
    case .length:
      guard let length = value.length else { return nil }
      if let least = least.flatMap({ Int($0) }), length < least { return .validationStringTooShort }
      if let most = greatest.flatMap({ Int($0) }), length > most { return .validationStringTooLong }
    case .pattern:
      guard case .string(let string) = value, let text else { return nil }
      let isMatch = try? RegularExpression.known(text).matches(string, isCancellable: false)
      if isMatch != true { return .validationStringPatternMatching }
    case .condition, .value: break
    }
    return nil
  }

  private func bound(_ text: String?, _ type: AttributeType) -> Value? {
    guard let text, let decimal = DecimalText.decimal(text, allowsNaN: false) else { return nil }
    switch type {
    case .float: return .double(Double(Float(DecimalParts(decimal).doubleValue)))
    case .double: return .double(DecimalParts(decimal).doubleValue)
    default: return .decimal(decimal)
    }
  }

  /// Why the rule cannot be used for an attribute; nil if it can.
  func problem(for type: AttributeType) -> String? {
    let fits: Bool
    switch kind {
    case .number: fits = [.integer16, .integer32, .integer64, .decimal, .double, .float].contains(type)
    case .date: fits = type == .date
    case .length: fits = [.string, .binaryData].contains(type)
    case .pattern:
      do {
        if let text { _ = try RegularExpression.known(text) }
      } catch {
        return error.message
      }
      fits = type == .string
    case .condition, .value:
      guard let text else { return nil }
      do {
        _ = try FormatPredicate(text)
        return nil
      } catch {
        return "the condition \"\(text)\" cannot be read: \(error.message)"
      }
    }
    return fits ? nil : "a rule for a \(kind.rawValue) cannot be used for \(type)"
  }
}

extension Value {
  fileprivate var isNumber: Bool {
    switch self {
    case .int, .decimal, .double: true
    default: false
    }
  }

  fileprivate var length: Int? {
    switch self {
    case .string(let text): text.count
    case .data(let data): data.count
    default: nil
    }
  }
}
