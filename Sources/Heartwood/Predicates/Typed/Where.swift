/// A typed condition as the predicate of a request.
///
/// ```swift
/// request.predicate = Where<Country> { $0.population > 50_000_000 }
/// ```
public struct Where<Object: ManagedObject>: FetchPredicate {
  /// The condition on each object.
  public let condition: Condition

  /// A predicate from a closure, which is called once, immediately.
  public init(_ build: (ObjectQuery<Object>) -> Condition) { condition = build(ObjectQuery()) }

  /// The condition.
  public func conditionTree(for entity: EntityDescription) throws(HeartwoodError) -> Condition { condition }
}

extension Where: CustomStringConvertible {
  /// The condition in the language of `FormatPredicate`.
  public var description: String { condition.description }
}
