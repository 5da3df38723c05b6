/// What a fetch may ask: typed queries (`Where`), text (`FormatPredicate`), and conditions themselves.
public protocol FetchPredicate {
  /// The tree of comparisons for objects of an entity.
  ///
  /// - Throws: when the predicate cannot be used for the entity; the message says where and why.
  func conditionTree(for entity: EntityDescription) throws(HeartwoodError) -> Condition
}

extension Condition: FetchPredicate {
  /// The condition itself.
  public func conditionTree(for entity: EntityDescription) throws(HeartwoodError) -> Condition { self }
}
