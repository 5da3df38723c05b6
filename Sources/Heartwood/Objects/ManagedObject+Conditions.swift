/// Objects as constants of conditions.
extension ConditionExpression {
  /// An object, by the identifier that it has when the condition is compiled.
  package init(_ object: ManagedObject) {
    let id = object.objectID
    self =
      id.isTemporaryID ? ConditionExpression(.object(ObjectReference.reference(to: id))) : .value(.object(id))
  }
}

extension ManagedObject: PredicateArgument {
  /// The object, by the identifier that it has when the fetch is executed.
  public final var predicateConstant: PredicateConstant {
    PredicateConstant(ConditionExpression(self))
  }
}
