import Foundation

/// An operator of key-value coding on the members of a collection, such as `@sum`, with the name that it has in paths.
///
/// Functions have the same values as in fetches. Missing values are not counted, and in no list.
package enum CollectionOperator {
  /// Whether there is an operator of this name.
  package static func exists(_ name: String) -> Bool { function(name) != nil || lists.contains(name) }

  /// The names that exist, for messages.
  package static let names =
    "@count, @sum, @avg, @min, @max, @median, @mode, @stddev, @unionOfObjects or @distinctUnionOfObjects"

  /// The result of an operator on values: one of them, a number or a list.
  ///
  /// - Parameters:
  ///   - name: Its name, which exists, with the sign.
  ///   - values: The values at the end of the path that follows it; for `@count` the members themselves.
  static func value(_ name: String, of values: [Value]) -> Value {
    guard let function = function(name) else {
      let members = values.flatMap(\.parts)
      return .list(name.hasPrefix("@distinct") ? members.withoutRepetitions : members)
    }
    var state = AggregateState(function)
    for value in values {
      if function == .count { state.addObject() } else { for part in value.parts { state.add(part) } }
    }
    return state.value()
  }

  private static func function(_ name: String) -> Aggregate.Function? {
    name.hasPrefix("@") ? Aggregate.Function(rawValue: String(name.dropFirst())) : nil
  }

  private static let lists: Set<String> = [
    "@unionOfObjects", "@unionOfArrays", "@unionOfSets", "@distinctUnionOfObjects", "@distinctUnionOfArrays",
    "@distinctUnionOfSets",
  ]
}
