/// How two values are compared.
enum ComparisonOperator: String, CaseIterable {
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
  case isIn = "IN"
  case between = "BETWEEN"

  /// Whether the comparison asks about the order or the identity of the two.
  var isOrder: Bool {
    switch self {
    case .equal, .notEqual, .less, .lessOrEqual, .greater, .greaterOrEqual: true
    default: false
    }
  }

  /// Whether only texts can be compared so.
  var isText: Bool {
    switch self {
    case .beginsWith, .endsWith, .contains, .like, .matches: true
    default: false
    }
  }

  /// The operator that says the same with the sides exchanged; nil where there is none.
  var mirrored: ComparisonOperator? {
    switch self {
    case .equal, .notEqual: self
    case .less: .greater
    case .lessOrEqual: .greaterOrEqual
    case .greater: .less
    case .greaterOrEqual: .lessOrEqual
    default: nil
    }
  }

  /// Whether an order below zero, of zero or above zero satisfies an order operator.
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

/// What comparing texts disregards.
public struct ComparisonOptions: OptionSet, Hashable, Sendable {
  /// The options' bits.
  public let rawValue: UInt8

  /// Options by their bits.
  public init(rawValue: UInt8) { self.rawValue = rawValue }

  /// Capital and small letters are the same: `[c]`.
  public static let caseInsensitive = ComparisonOptions(rawValue: 1)
  /// Accents and other marks on letters are disregarded: `[d]`.
  public static let diacriticInsensitive = ComparisonOptions(rawValue: 2)
}
