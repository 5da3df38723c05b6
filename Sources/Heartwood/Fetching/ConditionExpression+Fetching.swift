/// Results of another fetch, as a part of a condition or a column.
extension ConditionExpression {
  /// The objects that a request finds, as a list for `IN`, or their number.
  ///
  /// Unlike Core Data's expression, which fetches each time it is evaluated, it is a constant: what the request finds now.
  ///
  /// - Parameters:
  ///   - request: The request.
  ///   - context: The context that fetches; call this on its queue.
  ///   - countOnly: Whether the value is the number of objects.
  /// - Throws: As `ManagedObjectContext.fetchIdentifiers(_:)`.
  public init<Object: ManagedObject>(
    forFetch request: FetchRequest<Object>, context: ManagedObjectContext, countOnly: Bool = false
  ) throws {
    if countOnly {
      self.init(forConstantValue: try context.count(for: request))
    } else {
      self.init(forConstantValue: try context.fetchIdentifiers(request))
    }
  }
}
