/// The destinations of a to-many relationship in a typed condition.
///
/// Conditions inside closures may also refer to objects of enclosing scopes:
/// `{ country in country.cities.contains { $0.name == country.name } }`.
public struct ManyQuery<Destination: ManagedObject>: Sendable {
  let _path: PropertyPath

  init(_ path: PropertyPath) { _path = path }

  private func quantified(
    _ quantifier: Quantifier, _ build: (ObjectQuery<Destination>) -> Condition
  ) -> Condition {
    let scope = Scope()
    return .quantified(quantifier, _path, scope, build(ObjectQuery(PropertyPath(scope))))
  }

  private func aggregate<Value>(
    _ function: Aggregate.Function, _ build: (ObjectQuery<Destination>) -> ConditionExpression?,
    where condition: ((ObjectQuery<Destination>) -> Condition)? = nil
  ) -> ValueQuery<Value> {
    let scope = Scope()
    let destination = ObjectQuery<Destination>(PropertyPath(scope))
    return ValueQuery(
      ConditionExpression(
        .aggregate(
          Aggregate(
            function: function, path: _path, scope: scope, element: build(destination),
            filter: condition?(destination)))))
  }
}

/// Conditions.
extension ManyQuery {
  /// Whether any destination satisfies a condition.
  public func contains(where condition: (ObjectQuery<Destination>) -> Condition) -> Condition {
    quantified(.any, condition)
  }

  /// Whether all destinations satisfy a condition; true if there is none.
  public func allSatisfy(_ condition: (ObjectQuery<Destination>) -> Condition) -> Condition {
    quantified(.all, condition)
  }

  /// Whether the object is a destination.
  public func contains(_ object: Destination) -> Condition { quantified(.any) { $0 == object } }

  /// Whether the object with this identifier is a destination.
  public func contains(_ identifier: ManagedObjectID) -> Condition { quantified(.any) { $0 == identifier } }

  /// Whether the object is a destination.
  public func contains(_ object: ObjectQuery<Destination>) -> Condition { object.isIn(self) }

  /// Whether there is no destination.
  public var isEmpty: Condition { quantified(.none) { _ in .always(true) } }
}

/// Numbers.
extension ManyQuery {
  /// The number of destinations.
  public var count: ValueQuery<Int> { aggregate(.count) { _ in nil } }

  /// The number of destinations that satisfy a condition.
  public func count(where condition: (ObjectQuery<Destination>) -> Condition) -> ValueQuery<Int> {
    withoutActuallyEscaping(condition) { aggregate(.count, { _ in nil }, where: $0) }
  }

  /// The sum of a value of all destinations that have it; 0 if there is none.
  public func sum<Value>(_ value: (ObjectQuery<Destination>) -> ValueQuery<Value>) -> ValueQuery<Value> {
    aggregate(.sum) { value($0)._expression }
  }

  /// The least value of all destinations; nil if there is none.
  public func min<Value>(_ value: (ObjectQuery<Destination>) -> ValueQuery<Value>) -> ValueQuery<Value> {
    aggregate(.min) { value($0)._expression }
  }

  /// The greatest value of all destinations; nil if there is none.
  public func max<Value>(_ value: (ObjectQuery<Destination>) -> ValueQuery<Value>) -> ValueQuery<Value> {
    aggregate(.max) { value($0)._expression }
  }

  /// The average of a value of all destinations that have it; nil if there is none.
  public func average<Value>(_ value: (ObjectQuery<Destination>) -> ValueQuery<Value>) -> ValueQuery<Double> {
    aggregate(.average) { value($0)._expression }
  }
}
