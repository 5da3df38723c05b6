/// A value that another fetch has: it is executed before the condition or the columns that the value is a part of are compiled.
package protocol FetchedValue: Sendable {
  /// The fetch, for messages.
  var text: String { get }
}

extension Condition {
  /// Whether a fetch has to be executed for a part of it.
  package var needsFetch: Bool { size.needsFetch }
}

extension ConditionExpression {
  /// Whether a fetch has to be executed for a part of it.
  package var needsFetch: Bool { size.needsFetch }
}
