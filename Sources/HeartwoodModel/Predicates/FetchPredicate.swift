/// A predicate of a fetch: a typed query (`Where`), text (`FormatPredicate`) or a condition itself.
///
/// Predicates are values that any thread may use.
public protocol FetchPredicate: Sendable {
  /// The condition on objects of an entity.
  ///
  /// - Throws: `.invalidPredicate` if the predicate cannot be used for the entity; the message says where and why.
  func conditionTree(for entity: EntityDescription) throws(HeartwoodError) -> Condition
}

extension Condition: FetchPredicate {
  /// The condition itself.
  public func conditionTree(for entity: EntityDescription) throws(HeartwoodError) -> Condition { self }
}
