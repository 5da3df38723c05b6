import Foundation

/// A requirement of saves on an attribute's value, beyond its type. A missing value satisfies every rule: whether one is needed
/// is `isOptional`.
///
/// Rules are kept with the model in the store, but are not part of its version hash: changing them needs no migration.
public struct ValidationRule: Hashable, Sendable, Codable {
  package enum Kind: String, CaseIterable, Codable, Sendable {
    case number, date, length, pattern, condition, value
  }

  package let kind: Kind
  /// The bounds, inclusive; nil for none. Decimals as text, dates in seconds since 2001, lengths as integers.
  package let least: String?
  package let greatest: String?
  /// The regular expression or the condition.
  package let text: String?
  /// The text of the error in place of its own sentence.
  package private(set) var message: String?

  private init(_ kind: Kind, _ least: String? = nil, _ greatest: String? = nil, text: String? = nil) {
    func bound(_ text: String?) -> String? { text?.lowercased() == "nan" ? nil : text }
    (self.kind, self.least, self.greatest, self.text) = (kind, bound(least), bound(greatest), text)
  }

  /// A number that is at least `least` and at most `greatest`; nil or NaN for no bound.
  public static func number(atLeast least: Decimal? = nil, atMost greatest: Decimal? = nil) -> ValidationRule
  {
    ValidationRule(.number, least?.description, greatest?.description)
  }

  /// An integer in a range.
  public static func range(_ range: ClosedRange<Int>) -> ValidationRule {
    ValidationRule(.number, "\(range.lowerBound)", "\(range.upperBound)")
  }

  /// A date that is not earlier than `earliest` and not later than `latest`; nil or NaN for no bound.
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
  /// The requirement of the rule in words.
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
    return Value.date(seconds).shownWithLimits
  }
}

extension Value {
  /// The value beside the limits of a rule in a message: a date has its fraction, and a name where it is infinite.
  package var shownWithLimits: String {
    switch self {
    case .date(.infinity): "the infinite future"
    case .date(-.infinity): "the infinite past"
    case .date(let seconds) where seconds.isNaN: "NaN"
    case .date(let seconds): DateText.text(Date(timeIntervalSinceReferenceDate: seconds))
    default: description
    }
  }
}
