/// A fetch of rows whose only value is a part of another fetch.
struct ScalarFetch: FetchedValue {
  let text: String
  /// Executes the fetch.
  let read: @Sendable (ManagedObjectContext, any StoreView) throws -> Value

  init<Object: ManagedObject>(
    _ type: Object.Type, _ column: ConditionExpression, _ condition: Condition?
  ) {
    let query = RowQuery(columns: [RowQuery.Column(name: "1", expression: column)])
    text = "FETCH(\(type), \(column)\(condition.map { ", \($0)" } ?? ""))"
    let name = text
    read = { context, view in
      let request = FetchRequest<Object>()
      request.predicate = condition
      var found: [Value] = []
      try RowFetching(context).forEachRow(
        in: view, { try RowFetching(context).rowExecution(of: request, query, in: $0, counting: $1) }
      ) { values, converter in
        found.append(try converter.value(values, 0))
        return found.count < 2
      }
      guard found.count < 2 else {
        throw HeartwoodError(
          .coreData,
          "\(name) has several rows, and one value of it is needed: take an aggregate, or a condition that one object satisfies"
        )
      }
      return found.first ?? .null
    }
  }
}

extension RowFunction {
  /// The value of another fetch, such as the average of all objects: in the columns, the conditions and the order of a fetch of rows, and
  /// in the condition of a fetch of objects.
  ///
  /// ```swift
  /// let aboveAverage = try context.fetch(
  ///   Track.self, where: { $0.seconds > RowFunction.value(of: Track.self) { $0.seconds.average() } })
  /// ```
  ///
  /// It is executed once, before the fetch that it is a part of, and reads the same state of the store. It knows nothing of the objects of
  /// that fetch.
  ///
  /// - Parameters:
  ///   - type: A class that has exactly one entity in the model; objects of subentities are included.
  ///   - condition: Selects the objects; nil for all.
  ///   - column: An aggregate of the objects, or a value if there is one object. The fetch throws if there are several, and the value is nil
  ///     if there is none.
  public static func value<Object: ManagedObject, Value>(
    of type: Object.Type, where condition: ((ObjectQuery<Object>) -> Condition)? = nil,
    _ column: (ObjectQuery<Object>) -> ValueQuery<Value>
  ) -> ValueQuery<Value> {
    let object = ObjectQuery<Object>()
    let fetch = ScalarFetch(type, column(object)._expression, condition?(object))
    return ValueQuery(ConditionExpression(.fetched(fetch)))
  }
}

/// Executing the fetches whose values are parts of others.
extension RowFetching {
  /// The condition with values in place of fetches.
  ///
  /// - Parameter view: The view that is read; nil for the newest state.
  /// - Throws: If the newest state cannot be read. Errors of the fetches are thrown where the condition is compiled.
  func withFetchedValues(_ condition: Condition, in view: (any StoreView)? = nil) throws -> Condition {
    guard condition.needsFetch else { return condition }
    let view = try view ?? context.readingView().forOneReader()
    return condition.rewritten { replacingFetch($0, view) }
  }

  /// The query with values in place of fetches. Errors of the fetches are thrown where it is compiled.
  func withFetchedValues(_ query: RowQuery, in view: any StoreView) -> RowQuery {
    guard query.needsFetch else { return query }
    var query = query
    query.rewrite(
      { $0.rewritten { replacingFetch($0, view) } }, { $0.rewritten { replacingFetch($0, view) } })
    return query
  }

  /// The value in place of a fetch. An error is thrown where the expression is compiled.
  private func replacingFetch(_ part: ConditionExpression, _ view: any StoreView) -> ConditionExpression {
    guard case .fetched(let value) = part.kind, let fetch = value as? ScalarFetch else { return part }
    do {
      return .value(try fetch.read(context, view))
    } catch {
      let known = error as? HeartwoodError
      return ConditionExpression(
        .refused(known ?? HeartwoodError(.persistentStoreOperation, "\(error)", underlying: error)))
    }
  }
}
