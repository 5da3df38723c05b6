/// Plans: how fetches are executed, and what that costs.
extension ManagedObjectContext {
  /// Plans a request, and drops the plan.
  ///
  /// - Throws: If the request does not fit the model, or the store cannot be read.
  package func check<Object: ManagedObject>(planOf request: FetchRequest<Object>) throws {
    beginUse("planning a fetch")
    defer { endUse() }
    _ = try execution(resolve(request), in: readingView())
  }

  /// The plan of a request now, with the numbers of rows that are expected.
  ///
  /// If the plan reads many more rows than there are results, and an index would help, its last step is an advice that names it. How
  /// many rows of a scan match is estimated by looking at some of them.
  ///
  /// - Throws: If the request does not fit the model, or the store cannot be read.
  public func plan<Object: ManagedObject>(for request: FetchRequest<Object>) throws -> FetchPlan {
    beginUse("planning a fetch")
    defer { endUse() }
    return try execution(resolve(request), in: readingView()).explain()
  }

  /// The plan of fetching the objects of a class that satisfy a condition now.
  ///
  /// - Throws: As `plan(for:)` with a request.
  @_disfavoredOverload
  public func plan<Object: ManagedObject>(
    for type: Object.Type, where condition: ((ObjectQuery<Object>) -> Condition)? = nil,
    sort: [Sort<Object>] = [], limit: Int? = nil, offset: Int = 0
  ) throws -> FetchPlan {
    try plan(for: request(type, condition, sort, limit, offset))
  }

  /// The plan of counting a request's objects now.
  ///
  /// - Throws: If the request does not fit the model, or the store cannot be read.
  public func plan<Object: ManagedObject>(forCounting request: FetchRequest<Object>) throws -> FetchPlan {
    beginUse("planning a fetch")
    defer { endUse() }
    return try execution(resolve(request, reading: []), in: readingView(), isCount: true).explainCount()
  }

  /// Executes a request without making objects of its results, and returns its plan with the numbers of rows that each step had, and
  /// how long it took.
  ///
  /// - Throws: As `fetch(_:)`.
  /// - Complexity: That of the fetch; taking the times makes it slower.
  public func analyze<Object: ManagedObject>(_ request: FetchRequest<Object>) throws -> FetchPlan {
    beginUse("analysing a fetch")
    defer { endUse() }
    try beginReading()
    let view = try readingView().forOneReader()
    defer { withExtendedLifetime(view) {} }
    var execution = try execution(resolve(request, of: view), in: view)
    let figures = FetchFigures()
    (execution.figures, execution.log) = (figures, nil)
    try figures.time(\.whole) {
      try execution.forEach { _ in
        figures.results += 1
        return true
      }
    }
    return try execution.explain()
  }
}
