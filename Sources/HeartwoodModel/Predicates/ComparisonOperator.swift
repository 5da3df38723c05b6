/// A comparison of two values.
package enum ComparisonOperator: String, CaseIterable {
  case equal = "=="
  case notEqual = "!="
  case less = "<"
  case lessOrEqual = "<="
  case greater = ">"
  case greaterOrEqual = ">="
  case beginsWith = "BEGINSWITH"
  case endsWith = "ENDSWITH"
  case contains = "CONTAINS"
  case like = "LIKE"
  case matches = "MATCHES"
  case matchesWords = "MATCHESWORDS"
  case isIn = "IN"
  case between = "BETWEEN"

  /// Whether the operator compares the order or the equality of the operands.
  var isOrder: Bool {
    switch self {
    case .equal, .notEqual, .less, .lessOrEqual, .greater, .greaterOrEqual: true
    default: false
    }
  }

  /// Whether the operator compares strings only.
  package var isText: Bool {
    switch self {
    case .beginsWith, .endsWith, .contains, .like, .matches, .matchesWords: true
    default: false
    }
  }

  /// The equivalent operator for exchanged operands; nil if there is none.
  package var mirrored: ComparisonOperator? {
    switch self {
    case .equal, .notEqual: self
    case .less: .greater
    case .lessOrEqual: .greaterOrEqual
    case .greater: .less
    case .greaterOrEqual: .lessOrEqual
    default: nil
    }
  }

  /// Whether an order operator holds for a comparison result below, equal to or above zero.
  @inline(__always)
  func holds(_ order: Int) -> Bool {
    switch self {
    case .equal: order == 0
    case .notEqual: order != 0
    case .less: order < 0
    case .lessOrEqual: order <= 0
    case .greater: order > 0
    case .greaterOrEqual: order >= 0
    default: false
    }
  }
}

/// The differences that a comparison of strings ignores.
public struct ComparisonOptions: OptionSet, Hashable, Sendable {
  /// The options' bits.
  public let rawValue: UInt8

  /// Options by their bits.
  public init(rawValue: UInt8) { self.rawValue = rawValue }

  /// Ignores case: `[c]`.
  public static let caseInsensitive = ComparisonOptions(rawValue: 1)
  /// Ignores accents and other diacritics: `[d]`.
  public static let diacriticInsensitive = ComparisonOptions(rawValue: 2)
  /// Compares the bytes of the texts as they are, without looking at them as Unicode: `[n]`. It overrides the others. For texts that
  /// were made comparable before.
  public static let normalized = ComparisonOptions(rawValue: 4)
  /// Orders texts as a dictionary does: letters decide before accents, and accents before case: `[l]`. The order is the same for all
  /// locales and on every system; it has no effect on comparisons other than `<`, `<=`, `>`, `>=`, `BETWEEN` and sorting.
  public static let localeSensitive = ComparisonOptions(rawValue: 8)

  /// For sorting: orders texts as people of the system's current locale do, by Foundation's `localizedCompare`, and with `caseInsensitive` by
  /// `localizedCaseInsensitiveCompare`. No index gives this order, as its values are in one for all locales.
  public static let localized = ComparisonOptions(rawValue: 16)
  /// For sorting: orders texts as lists of names are shown in the system's current locale, with numbers by their values, by Foundation's
  /// `localizedStandardCompare`. No index gives this order.
  public static let localizedStandard = ComparisonOptions(rawValue: 32)

  /// Whether texts are ordered by the system's locale.
  package var isLocalized: Bool { !isDisjoint(with: [.localized, .localizedStandard]) }

  /// The options that have an effect together.
  package var effective: ComparisonOptions { contains(.normalized) ? .normalized : self }
}
