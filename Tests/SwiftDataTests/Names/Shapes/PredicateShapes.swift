import Foundation
import SwiftData

private func evaluated<One: PredicateExpression, Two: PredicateExpression, Inner: PredicateExpression>(
  _ one: One, _ two: Two, _ inner: Inner
) where Inner.Output == Predicate<One.Output, Two.Output> {
  let made: PredicateExpressions.PredicateEvaluate<Inner, One, Two> = PredicateExpressions.build_evaluate(
    inner, one, two)
  let _: (One, Two) = made.input
}

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
