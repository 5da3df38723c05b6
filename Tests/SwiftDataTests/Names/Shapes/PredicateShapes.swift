import Foundation
import SwiftData

private func texts<Text: PredicateExpression>(_ text: Text) where Text.Output == String {
  typealias Expressions = PredicateExpressions
  let contains = Expressions.StringLocalizedStandardContains(root: text, other: text)
  let caseless = Expressions.StringCaseInsensitiveCompare(root: text, other: text)
  let localized = Expressions.StringLocalizedCompare(root: text, other: text)
  _ = (contains.root, contains.other, caseless.root, caseless.other, localized.root, localized.other)
  let _: Expressions.StringCaseInsensitiveCompare<Text, Text> = Expressions.build_caseInsensitiveCompare(
    text, text)
  let _: Expressions.StringLocalizedCompare<Text, Text> = Expressions.build_localizedCompare(text, text)
}
