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
  public func sum<Value>(
    _ value: (ObjectQuery<Destination>) -> ValueQuery<Value>,
    where condition: ((ObjectQuery<Destination>) -> Condition)? = nil
  ) -> ValueQuery<Value> {
    aggregate(.sum, { value($0)._expression }, where: condition)
  }

  /// The least value of all destinations; nil if there is none.
  public func min<Value>(
    _ value: (ObjectQuery<Destination>) -> ValueQuery<Value>,
    where condition: ((ObjectQuery<Destination>) -> Condition)? = nil
  ) -> ValueQuery<Value> {
    aggregate(.min, { value($0)._expression }, where: condition)
  }

  /// The greatest value of all destinations; nil if there is none.
  public func max<Value>(
    _ value: (ObjectQuery<Destination>) -> ValueQuery<Value>,
    where condition: ((ObjectQuery<Destination>) -> Condition)? = nil
  ) -> ValueQuery<Value> {
    aggregate(.max, { value($0)._expression }, where: condition)
  }

  /// The average of a value of all destinations that have it; nil if there is none.
  public func average<Value>(
    _ value: (ObjectQuery<Destination>) -> ValueQuery<Value>,
    where condition: ((ObjectQuery<Destination>) -> Condition)? = nil
  ) -> ValueQuery<Double> {
    aggregate(.average, { value($0)._expression }, where: condition)
  }

  /// The median of a value of all destinations that have it; nil if there is none.
  public func median<Value>(
    _ value: (ObjectQuery<Destination>) -> ValueQuery<Value>,
    where condition: ((ObjectQuery<Destination>) -> Condition)? = nil
  ) -> ValueQuery<Double> {
    aggregate(.median, { value($0)._expression }, where: condition)
  }

  /// The most frequent value of all destinations, the least of several; nil if there is none.
  public func mode<Value>(
    _ value: (ObjectQuery<Destination>) -> ValueQuery<Value>,
    where condition: ((ObjectQuery<Destination>) -> Condition)? = nil
  ) -> ValueQuery<Value> {
    aggregate(.mode, { value($0)._expression }, where: condition)
  }

  /// The standard deviation of a value of all destinations that have it, as the whole population; nil if there is none.
  public func standardDeviation<Value>(
    _ value: (ObjectQuery<Destination>) -> ValueQuery<Value>,
    where condition: ((ObjectQuery<Destination>) -> Condition)? = nil
  ) -> ValueQuery<Double> {
    aggregate(.standardDeviation, { value($0)._expression }, where: condition)
  }
}

/// Single destinations, and values of all.
extension ManyQuery {
  /// The first destination of an ordered relationship; none if there is no destination.
  public var first: ObjectQuery<Destination> { item(.first) }
  /// The last destination of an ordered relationship; none if there is no destination.
  public var last: ObjectQuery<Destination> { item(.last) }
  /// The destination of an ordered relationship at a place, counted from 0; none if there are fewer.
  public subscript(index: Int) -> ObjectQuery<Destination> { item(.index(index)) }

  private func item(_ item: PathItem) -> ObjectQuery<Destination> {
    ObjectQuery(PropertyPath(_path.scope, _path.steps + [.item(item)], column: _path.column))
  }

  /// The values of all destinations that have one.
  public func map<Value>(_ value: (ObjectQuery<Destination>) -> ValueQuery<Value>) -> ListQuery<Value> {
    let scope = Scope()
    let element = value(ObjectQuery<Destination>(PropertyPath(scope)))._expression
    return ListQuery(values: DestinationValues(path: _path, scope: scope, element: element))
  }
}

/// The values of the destinations of a to-many relationship in a typed condition.
public struct ListQuery<Value: AttributeValue>: Sendable {
  private let values: DestinationValues

  init(values: DestinationValues) { self.values = values }

  private var expression: ConditionExpression { ConditionExpression(.collection(values)) }

  /// Each value once.
  public var distinct: ListQuery {
    var values = values
    values.isDistinct = true
    return ListQuery(values: values)
  }

  /// The number of values.
  public var count: ValueQuery<Int> { ValueQuery<Int>(ConditionExpression(.function(.count, [expression]))) }
  /// Whether a value is among them.
  public func contains(_ value: Value) -> Condition { .comparing(.value(value._value), .isIn, expression) }
  /// Whether a value is among them.
  public func contains(_ value: ValueQuery<Value>) -> Condition {
    .comparing(value._expression, .isIn, expression)
  }
}

extension ValueQuery {
  /// Whether the value is one of these of the destinations of a relationship.
  public func isIn(_ values: ListQuery<Value>) -> Condition { values.contains(self) }
}
