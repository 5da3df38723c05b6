import SwiftTokens

/// The names that Apple's systems have in Foundation or the Objective-C runtime, and this package in the module `CoreData`: declared for
/// each target under its own name, so that files that import Foundation alone have it, and so that Foundation's names of the same kind do
/// not count.
package enum FoundationNames {
  static let namespace = "_NamesOfFoundation"

  /// The types, with the names that they have in `CoreData`.
  static let types: [(name: String, target: String)] = [
    ("NSExpression", "NSExpression"), ("NSComparisonPredicate", "NSComparisonPredicate"),
    ("NSCompoundPredicate", "_NSCompoundPredicate"), ("Selector", "Selector"), ("UndoManager", "UndoManager"),
    ("ValueTransformer", "ValueTransformer"), ("NSValueTransformerName", "NSValueTransformerName"),
    ("NSSecureUnarchiveFromDataTransformer", "NSSecureUnarchiveFromDataTransformer"),
    ("NSFastEnumerationIterator", "_NSFastEnumerationIterator"),
    ("NSKeyValueObservation", "NSKeyValueObservation"),
    ("NSKeyValueObservedChange", "NSKeyValueObservedChange"),
    ("NSKeyValueObservingOptions", "NSKeyValueObservingOptions"), ("NSKeyValueChange", "NSKeyValueChange"),
    ("NSKeyValueSetMutationKind", "NSKeyValueSetMutationKind"),
    ("AutoreleasingUnsafeMutablePointer", "AutoreleasingUnsafeMutablePointer"),
    ("CVaListPointer", "CVaListPointer"),
  ]

  private static let functionsAndValues: [(name: String, text: String)] = [
    (
      "NSStringFromClass",
      "func NSStringFromClass(_ aClass: AnyClass) -> String { CoreData._nameOfClass(aClass) }"
    ),
    (
      "NSClassFromString",
      "func NSClassFromString(_ aClassName: String) -> AnyClass? { CoreData._class(named: aClassName) }"
    ),
    (
      "NSStringFromSelector",
      "func NSStringFromSelector(_ aSelector: CoreData.Selector) -> String { aSelector.name }"
    ),
    (
      "NSSelectorFromString",
      "func NSSelectorFromString(_ aSelectorName: String) -> CoreData.Selector { CoreData.Selector(aSelectorName) }"
    ),
    (
      "autoreleasepool",
      "func autoreleasepool<Result, Failure: Error>(invoking body: () throws(Failure) -> Result) throws(Failure) -> Result { try body() }"
    ),
    ("NSEC_PER_SEC", "var NSEC_PER_SEC: UInt64 { 1_000_000_000 }"),
    ("NSEC_PER_MSEC", "var NSEC_PER_MSEC: UInt64 { 1_000_000 }"),
    ("NSEC_PER_USEC", "var NSEC_PER_USEC: UInt64 { 1000 }"),
    ("USEC_PER_SEC", "var USEC_PER_SEC: UInt64 { 1_000_000 }"),
  ]

  static let all = Set(types.map(\.name) + functionsAndValues.map(\.name))

  private static let generic = [
    "NSKeyValueObservedChange": "<Value>", "AutoreleasingUnsafeMutablePointer": "<Pointee>",
  ]

  /// The declarations for a target.
  ///
  /// - Parameter declared: The names that the target declares itself, which stay as they are.
  package static func declarations(without declared: Set<String>) -> String {
    func alias(_ type: (name: String, target: String)) -> String {
      let arguments = generic[type.name] ?? ""
      return "public typealias \(type.name)\(arguments) = CoreData.\(type.target)\(arguments)"
    }
    var lines = types.filter { !declared.contains($0.name) }.map(alias)
    for function in functionsAndValues where !declared.contains(function.name) {
      lines.append("@usableFromInline \(function.text)")
    }
    lines.append("public enum \(namespace) {")
    lines += types.map { "  " + alias($0) }
    lines += functionsAndValues.map { "  public static \($0.text)" }
    lines.append("}")
    return lines.joined(separator: "\n") + "\n"
  }

  /// The names of what a source declares outside of types.
  package static func declared(in bytes: [UInt8]) -> Set<String> {
    let cursor = TokenCursor(Conditions.active(Lexer.tokens(of: bytes)))
    let keywords = ["class", "struct", "enum", "actor", "protocol", "typealias", "func", "var", "let"]
    var names: Set<String> = []
    var next = 0
    while cursor[next].kind != .end {
      let token = cursor[next]
      if token.is("{") {
        next = cursor.end(ofBracketsAt: next)
        continue
      }
      if token.kind == .word, keywords.contains(token.text), cursor[next + 1].kind == .word {
        names.insert(cursor[next + 1].text)
      }
      next += 1
    }
    return names
  }
}
