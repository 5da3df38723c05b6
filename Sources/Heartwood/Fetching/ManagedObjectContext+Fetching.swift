import HeartwoodBytes

/// Fetching: the objects of an entity that satisfy a condition, in an order.
///
/// A fetch sees the context's own unsaved changes, unless told otherwise: what was changed so that it no
/// longer matches is left out, what came to match is in its place, and limit and offset are applied to
/// the whole. An object that is registered already keeps the values that it shows.
extension ManagedObjectContext {
  /// The objects that a request asks for.
  ///
  /// Without sort descriptors their order is that of the plan, which may change with the store's
  /// contents. Objects that are equal in all sort descriptors come in the order of their creation, in
  /// the direction of the last descriptor.
  ///
  /// - Throws: when the request does not fit the model, when a row cannot be read, or when reading a
  ///   property has failed since the last fetch or save.
  /// - Complexity: see `plan(for:)`; the rows of the plan, not the rows of the store.
  public func fetch<Object: ManagedObject>(_ request: FetchRequest<Object>) throws -> [Object] {
    beginUse("fetching")
    defer { endUse() }
    var objects: [ManagedObject] = []
    try forEachResult(of: request, expecting: { objects.reserveCapacity($0) }) { object in
      objects.append(object)
      return true
    }
    return objects.ofCheckedClass(Object.self)
  }

  /// The objects of a class that satisfy a condition.
  ///
  /// ```swift
  /// let large = try context.fetch(
  ///   Country.self, where: { $0.population > 50_000_000 }, sort: [.ascending(\.name)], limit: 10)
  /// ```
  ///
  /// - Parameters:
  ///   - type: a class that stands for one entity of the model; objects of subentities are included.
  ///   - condition: what to ask of each object; nil for all.
  ///   - sort: the order, most significant first.
  ///   - limit: how many at most; nil for all.
  ///   - offset: how many to leave out at the beginning.
  /// - Throws: as `fetch(_:)` with a request.
  public func fetch<Object: ManagedObject>(
    _ type: Object.Type, where condition: ((ObjectQuery<Object>) -> Condition)? = nil,
    sort: [Sort<Object>] = [], limit: Int? = nil, offset: Int = 0
  ) throws -> [Object] {
    if limit == 0 { return [] }
    return try fetch(request(type, condition, sort, limit, offset))
  }

  /// How many objects `fetch` would give.
  ///
  /// - Throws: as `fetch(_:)`.
  /// - Complexity: O(log n) where the condition is one that an index serves, or there is none.
  public func count<Object: ManagedObject>(for request: FetchRequest<Object>) throws -> Int {
    beginUse("counting")
    defer { endUse() }
    try beginReading()
    let view = try readingView()
    return try execution(resolve(request), in: view, isCount: true).count()
  }

  /// How many objects of a class satisfy a condition.
  ///
  /// - Throws: as `fetch(_:)`.
  public func count<Object: ManagedObject>(
    _ type: Object.Type, where condition: ((ObjectQuery<Object>) -> Condition)? = nil
  ) throws -> Int {
    try count(for: request(type, condition, [], nil, 0))
  }

  /// The identifiers of the objects that `fetch` would give, without making objects.
  ///
  /// - Throws: as `fetch(_:)`.
  public func fetchIdentifiers<Object: ManagedObject>(
    _ request: FetchRequest<Object>
  ) throws -> [ManagedObjectID] {
    beginUse("fetching identifiers")
    defer { endUse() }
    try beginReading()
    let view = try readingView()
    let execution = try execution(resolve(request), in: view)
    return try identifiers(execution)
  }

  /// The identifiers of the objects of a class that satisfy a condition.
  ///
  /// - Throws: as `fetch(_:)`.
  public func fetchIdentifiers<Object: ManagedObject>(
    _ type: Object.Type, where condition: ((ObjectQuery<Object>) -> Condition)? = nil,
    sort: [Sort<Object>] = [], limit: Int? = nil, offset: Int = 0
  ) throws -> [ManagedObjectID] {
    if limit == 0 { return [] }
    return try fetchIdentifiers(request(type, condition, sort, limit, offset))
  }

  /// Goes through the objects that a request asks for, some at a time, so that memory for so many is
  /// enough: between batches the context lets go what nobody holds and nothing waits for.
  ///
  /// All batches show the state that the first one saw, whatever is saved meanwhile.
  ///
  /// - Parameters:
  ///   - request: what to fetch.
  ///   - batchSize: how many objects at a time, at least one.
  ///   - body: gets each batch.
  /// - Throws: as `fetch(_:)`, and what `body` throws.
  public func enumerate<Object: ManagedObject>(
    _ request: FetchRequest<Object>, batchSize: Int = 1000, _ body: ([Object]) throws -> Void
  ) throws {
    beginUse("enumerating")
    defer { endUse() }
    require(batchSize > 0, "a batch has at least one object")
    var batch: [ManagedObject] = []
    try forEachResult(of: request) { object in
      batch.append(object)
      if batch.count < batchSize { return true }
      try body(batch.ofCheckedClass(Object.self))
      batch.removeAll(keepingCapacity: true)
      sweepIfDue()
      return true
    }
    if !batch.isEmpty { try body(batch.ofCheckedClass(Object.self)) }
  }

  /// How a request would be carried out now.
  ///
  /// - Throws: when the request does not fit the model, or the store cannot be read.
  public func plan<Object: ManagedObject>(for request: FetchRequest<Object>) throws -> FetchPlan {
    beginUse("planning a fetch")
    defer { endUse() }
    let resolved = try resolve(request)
    let execution = try execution(resolved, in: readingView())
    return execution.plan.explain(resolved, pendingCount: execution.pending.count)
  }

  /// How the objects of a class that satisfy a condition would be found now.
  ///
  /// - Throws: as `plan(for:)` with a request.
  public func plan<Object: ManagedObject>(
    for type: Object.Type, where condition: ((ObjectQuery<Object>) -> Condition)? = nil,
    sort: [Sort<Object>] = [], limit: Int? = nil, offset: Int = 0
  ) throws -> FetchPlan {
    try plan(for: request(type, condition, sort, limit, offset))
  }

  /// How a request would be counted now.
  ///
  /// - Throws: when the request does not fit the model, or the store cannot be read.
  public func plan<Object: ManagedObject>(forCounting request: FetchRequest<Object>) throws -> FetchPlan {
    beginUse("planning a fetch")
    defer { endUse() }
    let resolved = try resolve(request)
    let execution = try execution(resolved, in: readingView(), isCount: true)
    return execution.plan.explainCount(resolved, pendingCount: execution.pending.count)
  }
}
