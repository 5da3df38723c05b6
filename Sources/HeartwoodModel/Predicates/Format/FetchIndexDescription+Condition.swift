extension FetchIndexDescription {
  /// Which objects the index has: those for which this is true; nil for all of the entity.
  ///
  /// Such an index is smaller, and spares saves of other objects the work. It serves requests whose predicate says as much: a part of it is this
  /// condition, or a narrower one about the same property, such as `priority == 5` where this is `priority > 3`. The
  /// condition is about attributes of the object itself, and whether its to-one relationships are set; the checks of the model find what is wrong
  /// with it.
  @_disfavoredOverload public var partialIndexPredicate: (any FetchPredicate)? {
    get { condition.flatMap { try? FormatPredicate($0) } }
    set {
      do throws(HeartwoodError) {
        let entity = owningEntity ?? EntityDescription(named: "")
        (condition, problem) = (try newValue?.conditionTree(for: entity).description, nil)
      } catch {
        (condition, problem) = (nil, error.message)
      }
    }
  }
}
