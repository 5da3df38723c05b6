import Foundation

/// The arguments of a format, in place of a `va_list`: that of a C function does not say which types it has. In a program that imports this
/// module it is what `CVaListPointer` means, so that functions of the program pass it on.
public struct _ArgumentList {
  let arguments: [any CVarArg]
}

/// The arguments of a format, as a function of the program takes them to pass them on.
public typealias CVaListPointer = _ArgumentList

/// Runs a body with a list of arguments that predicates and expressions take, as in `withVaList(arguments) { NSPredicate(format: text, arguments: $0) }`.
/// A function that takes a `va_list` of C gets that of Swift.
@_disfavoredOverload
public func withVaList<Result>(_ arguments: [any CVarArg], _ body: (_ArgumentList) -> Result) -> Result {
  body(_ArgumentList(arguments: arguments))
}

/// A list of arguments that predicates, expressions and texts take. Swift has none on Linux.
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

extension NSString {
  /// A text from a format with the arguments of a list.
  public convenience init(format: String, arguments: _ArgumentList) {
    self.init(string: String(format: format, arguments: arguments.arguments))
  }

  /// A text from a format with the arguments of a list, in a language and region.
  public convenience init(format: String, locale: Any?, arguments: _ArgumentList) {
    self.init(
      string: String(format: format, locale: locale as? Locale, arguments: arguments.arguments))
  }
}

/// Logs a text from a format with the arguments of a list.
public func NSLogv(_ format: String, _ args: _ArgumentList) {
  NSLog("%@", String(format: format, arguments: args.arguments))
}

/// Prints a text from a format of C with the arguments of a list.
public func vprintf(_ format: UnsafePointer<CChar>, _ arguments: _ArgumentList) -> CInt {
  withVaList(arguments.arguments) { (list: Swift.CVaListPointer) in vprintf(format, list) }
}

/// Writes a text from a format of C with the arguments of a list to a place of `size` bytes.
public func vsnprintf(
  _ text: UnsafeMutablePointer<CChar>?, _ size: Int, _ format: UnsafePointer<CChar>,
  _ arguments: _ArgumentList
) -> CInt {
  withVaList(arguments.arguments) { (list: Swift.CVaListPointer) in vsnprintf(text, size, format, list) }
}
