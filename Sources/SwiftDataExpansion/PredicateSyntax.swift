/// An expression in the closure of `#Predicate` or `#Expression`.
indirect enum PredicateSyntax {
  /// Source that reads no variable of the closure, and is evaluated once.
  case constant(String)
  case nilLiteral
  /// A variable of the closure, or of one inside it.
  case variable(String)
  case member(PredicateSyntax, name: String)
  /// A chain after `?.`: the value of `body` for the wrapped value, which is `variable` in it.
  case optionalChain(PredicateSyntax, variable: String, body: PredicateSyntax)
  case call(PredicateSyntax, method: MethodCall)
  case item(PredicateSyntax, index: PredicateSyntax, default: PredicateSyntax?)
  case forced(PredicateSyntax)
  case negation(PredicateSyntax)
  case minus(PredicateSyntax)
  case binary(BinaryOperator, PredicateSyntax, PredicateSyntax)
  case conditional(PredicateSyntax, PredicateSyntax, PredicateSyntax)
  /// `if let`: the second with the wrapped value, or the third where there is none.
  case binding(PredicateSyntax, variable: String, body: PredicateSyntax, otherwise: PredicateSyntax)
  case cast(PredicateSyntax, type: String, kind: CastKind)

  enum CastKind { case check, conditional, forced }

  enum BinaryOperator: String {
    case or = "||"
    case and = "&&"
    case equal = "=="
    case notEqual = "!="
    case less = "<"
    case lessOrEqual = "<="
    case greater = ">"
    case greaterOrEqual = ">="
    case coalesce = "??"
    case closedRange = "..."
    case halfOpenRange = "..<"
    case add = "+"
    case subtract = "-"
    case multiply = "*"
    case divide = "/"
    case remainder = "%"

    /// How tightly it binds; all but `??` group from the left.
    var precedence: Int {
      switch self {
      case .or: 1
      case .and: 2
      case .equal, .notEqual, .less, .lessOrEqual, .greater, .greaterOrEqual: 3
      case .coalesce: 4
      case .closedRange, .halfOpenRange: 5
      case .add, .subtract: 6
      case .multiply, .divide, .remainder: 7
      }
    }
  }

  /// A method, with its arguments or a closure.
  struct MethodCall {
    var name: String
    var label: String?
    var arguments: [PredicateSyntax]
    var closure: Closure?
  }

  struct Closure {
    var variable: String
    var body: PredicateSyntax
  }

  /// The source of an expression that reads no variable of the closure; nil of another one. A comparison with nil is one, too.
  var source: String? {
    switch self {
    case .constant(let text): text
    case .nilLiteral: "nil"
    case .negation(let base): base.source.map { "!(\($0))" }
    case .binary(let infix, let left, let right):
      switch infix {
      case .equal, .notEqual, .and, .or:
        left.operand.flatMap { left in right.operand.map { "\(left) \(infix.rawValue) \($0)" } }
      default: nil
      }
    default: nil
    }
  }

  private var operand: String? { source.map { $0 == "nil" ? $0 : "(\($0))" } }

  var isConstant: Bool {
    switch self {
    case .constant, .nilLiteral: true
    default: false
    }
  }
}
