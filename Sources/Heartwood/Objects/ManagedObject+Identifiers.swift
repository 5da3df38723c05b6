extension ManagedObject {
  /// The value, with its own entity if it is an identifier.
  final func withOwnEntity(_ value: Value) -> Value {
    guard case .object(let id) = value, let context = managedObjectContext else { return value }
    return .object(context.identifier(id.entity, id.key))
  }
}
