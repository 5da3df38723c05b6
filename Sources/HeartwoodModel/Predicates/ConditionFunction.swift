/// A function of values. The raw value is its name in the format language, which is Foundation's where Foundation has the function.
///
/// A function of a missing value is nil, and so is one without a result: of the wrong sign, with an overflow, or no number.
package enum ConditionFunction: String, CaseIterable, Sendable {
  // Numbers.
  case modulus = "modulus:by:"
  case raise = "raise:toPower:"
  case squareRoot = "sqrt:"
  case log = "log:"
  case ln = "ln:"
  case exp = "exp:"
  case floor = "floor:"
  case ceiling = "ceiling:"
  case abs = "abs:"
  case trunc = "trunc:"
  case round = "round:"
  case bitwiseAnd = "bitwiseAnd:with:"
  case bitwiseOr = "bitwiseOr:with:"
  case bitwiseXor = "bitwiseXor:with:"
  case shiftLeft = "leftshift:by:"
  case shiftRight = "rightshift:by:"
  case complement = "onesComplement:"
  case random = "random"
  case randomBelow = "random:"
  case distance = "distanceToLocation:fromLocation:"

  // Texts.
  case uppercase = "uppercase:"
  case lowercase = "lowercase:"
  case canonical = "canonical:"
  case length = "length:"
  case relevance = "relevance"

  // Dates.
  case now = "now"
  case year = "year:"
  case quarter = "quarter:"
  case month = "month:"
  case week = "week:"
  case day = "day:"
  case dayOfYear = "dayOfYear:"
  case weekday = "weekday:"
  case hour = "hour:"
  case minute = "minute:"
  case second = "second:"

  // Lists.
  case count = "count:"
  case sum = "sum:"
  case min = "min:"
  case max = "max:"
  case average = "average:"
  case median = "median:"
  case mode = "mode:"
  case standardDeviation = "stddev:"
  case union = "UNION"
  case intersect = "INTERSECT"
  case minus = "MINUS"
  case item = "objectFrom:withIndex:"

  // Values of any kind.
  case cast = "castObject:toType:"
  case coalesce = "coalesce:"

  /// How many arguments the function takes.
  var arity: ClosedRange<Int> {
    switch self {
    case .random, .now: 0...0
    case .modulus, .raise, .bitwiseAnd, .bitwiseOr, .bitwiseXor, .shiftLeft, .shiftRight: 2...2
    case .distance, .union, .intersect, .minus, .item, .cast, .relevance: 2...2
    case .round: 1...2
    case .coalesce: 2...100
    case _ where isDateComponent: 1...2
    default: 1...1
    }
  }

  /// Whether the function is a component of a date, in UTC or in the time zone of the second argument.
  var isDateComponent: Bool {
    switch self {
    case .year, .quarter, .month, .week, .day, .dayOfYear, .weekday, .hour, .minute, .second: true
    default: false
    }
  }

  /// The function over the values of a list, or of the destinations of a relationship; nil for other functions.
  package var aggregate: Aggregate.Function? {
    switch self {
    case .count: .count
    case .sum: .sum
    case .min: .min
    case .max: .max
    case .average: .average
    case .median: .median
    case .mode: .mode
    case .standardDeviation: .standardDeviation
    default: nil
    }
  }

  /// Whether the same arguments always give the same value.
  var isPure: Bool { self != .random && self != .randomBelow }

  /// The operator that stands between two arguments, and how strongly it binds; nil for functions with parentheses.
  var sign: (text: String, strength: Int)? {
    switch self {
    case .raise: ("**", Strength.power)
    case .bitwiseAnd: ("&", Strength.bitwiseAnd)
    case .bitwiseXor: ("^", Strength.bitwiseXor)
    case .bitwiseOr: ("|", Strength.bitwiseOr)
    case .shiftLeft: ("<<", Strength.shift)
    case .shiftRight: (">>", Strength.shift)
    case .union, .intersect, .minus: (rawValue, Strength.set)
    default: nil
    }
  }
}

/// How strongly operators of the format language bind.
enum Strength {
  static let or = 1
  static let and = 2
  static let not = 3
  static let comparison = 4
  static let set = 5
  static let bitwiseOr = 6
  static let bitwiseXor = 7
  static let bitwiseAnd = 8
  static let shift = 9
  static let sum = 10
  static let product = 11
  static let power = 12
}

/// The meaning of a name before parentheses.
package enum NamedFunction {
  case function(ConditionFunction)
  case arithmetic(ArithmeticOperator)
  /// The argument itself.
  case argument

  /// The function with a name, with or without colons, in any case.
  package init?(name: String) {
    let name = name.lowercased()
    guard let found = Self.byName[name] ?? Self.byName[name.filter { $0 != ":" }] else { return nil }
    self = found
  }

  private static let byName: [String: NamedFunction] = {
    var names: [String: NamedFunction] = [:]
    func add(_ name: String, _ meaning: NamedFunction) {
      names[name.lowercased()] = meaning
      let short = name.lowercased().filter { $0 != ":" }
      if names[short] == nil { names[short] = meaning }
    }
    for function in ConditionFunction.allCases where function.sign == nil || function.rawValue.contains(":") {
      add(function.rawValue, .function(function))
    }
    for (name, function) in synonyms { add(name, .function(function)) }
    for (name, operation) in arithmetic { add(name, .arithmetic(operation)) }
    add("noindex:", .argument)
    return names
  }()

  /// Other names: short ones, and the messages to objects that Foundation's `FUNCTION` knows.
  private static let synonyms: [(String, ConditionFunction)] = [
    ("modulus", .modulus), ("mod", .modulus), ("raise", .raise), ("power", .raise), ("pow", .raise),
    ("ceil", .ceiling),
    ("absolute", .abs), ("bitwiseAnd", .bitwiseAnd), ("bitwiseOr", .bitwiseOr), ("bitwiseXor", .bitwiseXor),
    ("distance", .distance), ("avg", .average), ("uppercaseString", .uppercase), ("uppercased", .uppercase),
    ("lowercaseString", .lowercase), ("lowercased", .lowercase), ("castObject", .cast), ("objectFrom", .item),
    ("index:of", .item), ("ifnull", .coalesce), ("weekOfYear", .week), ("dayOfMonth", .day),
    ("decimalNumberByRaisingToPower:", .raise),
  ]

  private static let arithmetic: [(String, ArithmeticOperator)] = [
    ("add:to:", .add), ("from:subtract:", .subtract), ("multiply:by:", .multiply), ("divide:by:", .divide),
    ("add", .add),
    ("subtract", .subtract), ("multiply", .multiply), ("divide", .divide), ("decimalNumberByAdding:", .add),
    ("decimalNumberBySubtracting:", .subtract), ("decimalNumberByMultiplyingBy:", .multiply),
    ("decimalNumberByDividingBy:", .divide), ("stringByAppendingString:", .add),
    ("dateByAddingTimeInterval:", .add),
    ("timeIntervalSinceDate:", .subtract),
  ]
}
