import Foundation

/// The arguments of a format, in place of a `va_list`: that of a C function does not say which types it has.
public struct _ArgumentList {
  let arguments: [any CVarArg]
}

/// Runs a body with a list of arguments that predicates and expressions take, as in `withVaList(arguments) { NSPredicate(format: text, arguments: $0) }`.
/// A function that takes a `va_list` of C gets that of Swift.
@_disfavoredOverload
public func withVaList<Result>(_ arguments: [any CVarArg], _ body: (_ArgumentList) -> Result) -> Result {
  body(_ArgumentList(arguments: arguments))
}

/// A list of arguments that predicates and expressions take. What takes a `va_list` of C gets that of Swift.
@_disfavoredOverload
public func getVaList(_ arguments: [any CVarArg]) -> _ArgumentList { _ArgumentList(arguments: arguments) }

extension _FormatPredicate where Self: NSPredicate {
  /// A predicate from text, as `init(format:argumentArray:)`.
  public init(format: String, arguments: _ArgumentList) {
    self.init(format: format, argumentArray: arguments.arguments)
  }
}

extension NSExpression {
  /// An expression from text, as `init(format:argumentArray:)`.
  public convenience init(format expressionFormat: String, arguments: _ArgumentList) {
    self.init(format: expressionFormat, argumentArray: arguments.arguments)
  }
}
