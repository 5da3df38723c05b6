import Foundation
import HeartwoodBytes

/// Fetching: the objects of an entity that satisfy a condition, in an order.
///
/// By default a fetch includes the context's own unsaved changes: changed objects that no longer match are left out, those that match now are at
/// their place in the order, and limit and offset apply to the merged result. An object that is realised already keeps its values.
extension ManagedObjectContext {
  /// The objects that a request finds.
  ///
  /// Without sort descriptors the order depends on the plan, which may change with the store's contents. Objects that are
  /// equal in all sort descriptors come in creation order, in the direction of the last descriptor.
  ///
  /// - Throws: If the request does not fit the model, if a row cannot be read, or if reading a property has failed since the last fetch or save.
  /// - Complexity: Linear in the rows that the plan reads; see `plan(for:)`.
  public func fetch<Object: ManagedObject>(_ request: FetchRequest<Object>) throws -> [Object] {
    beginUse("fetching")
    defer { endUse() }
    var objects: [ManagedObject] = []
    try fetching.forEachResult(of: request, expecting: { objects.reserveCapacity($0) }) { object in
      objects.append(object)
      return true
    }
    if request.relationshipKeyPathsForPrefetching != nil {
      let delivery = try fetching.delivery(of: request)
      if !delivery.isBatched { try RowLoader(self).prefetch(delivery.prefetching, of: objects) }
    }
    return objects.ofCheckedClass(Object.self)
  }

  /// Calls `body` with each object that a request finds as soon as it is made: what `body` makes of it is beside it in memory, and read in less time.
  ///
  /// - Parameters:
  ///   - request: One that prefetches no relationships.
  ///   - expect: Called with the maximum number of results, if that is known without reading rows.
  /// - Throws: As `fetch(_:)`; `body` may have been called before.
  package func forEachFetched(
    _ request: FetchRequest<ManagedObject>, expecting expect: (Int) -> Void,
    _ body: (ManagedObject) -> Void
  ) throws {
    beginUse("fetching")
    defer { endUse() }
    try fetching.forEachResult(of: request, expecting: expect) { object in
      body(object)
      return true
    }
  }

  /// The objects of a class that satisfy a condition.
  ///
  /// ```swift
  /// let large = try context.fetch(
  ///   Country.self, where: { $0.population > 50_000_000 }, sort: [.ascending(\.name)], limit: 10)
  /// ```
  ///
  /// - Parameters:
  ///   - type: A class that has exactly one entity in the model; objects of subentities are included.
  ///   - condition: The condition on each object; nil for all.
  ///   - sort: The sort order, most significant first.
  ///   - limit: The maximum number of objects; nil for all.
  ///   - offset: How many of the first objects to skip.
  /// - Throws: As `fetch(_:)` with a request.
  @_disfavoredOverload
  public func fetch<Object: ManagedObject>(
    _ type: Object.Type, where condition: ((ObjectQuery<Object>) -> Condition)? = nil,
    sort: [Sort<Object>] = [], limit: Int? = nil, offset: Int = 0
  ) throws -> [Object] {
    if limit == 0 { return [] }
    let condition = condition?(ObjectQuery<Object>())
    // `isEmpty` of an array whose type is generic is looked up.
    if let condition, sort.count == 0, offset == 0,
      let found = try fetching.lookedUp(type, where: condition, limit: limit)
    {
      return found
    }
    return try fetch(fetching.request(type, where: condition, sort, limit, offset))
  }

  /// The objects of a class that satisfy a predicate.
  ///
  /// - Parameters:
  ///   - predicate: The condition on each object, with the class.
  ///   - sort: The sort order, most significant first.
  ///   - limit: The maximum number of objects; nil for all.
  ///   - offset: How many of the first objects to skip.
  /// - Throws: As `fetch(_:)` with a request.
  public func fetch<Object: ManagedObject>(
    _ predicate: Where<Object>, sort: [Sort<Object>] = [], limit: Int? = nil, offset: Int = 0
  ) throws -> [Object] {
    try fetch(Object.self, where: { _ in predicate.condition }, sort: sort, limit: limit, offset: offset)
  }

  /// The number of objects of a class that satisfy a predicate.
  ///
  /// - Parameter predicate: The condition on each object, with the class.
  /// - Throws: As `fetch(_:)`.
  public func count<Object: ManagedObject>(_ predicate: Where<Object>) throws -> Int {
    try count(Object.self, where: { _ in predicate.condition })
  }

  /// The number of objects that `fetch` would return; of a request whose result are dictionaries, their number.
  ///
  /// - Throws: As `fetch(_:)`.
  /// - Complexity: O(log n) if there is no condition or an index serves it; otherwise linear in the rows of the plan.
  public func count<Object: FetchRequestResult>(for request: FetchRequest<Object>) throws -> Int {
    beginUse("counting")
    defer { endUse() }
    try beginReading()
    let view = try readingView()
    if request.resultType == .dictionaryResultType, let count = try DictionaryFetch(request, self).count() {
      return count
    }
    return try fetching.execution(
      fetching.resolve(request, reading: [], of: view), in: view, isCount: true
    ).count()
  }

  /// The number of objects of a class that satisfy a condition.
  ///
  /// - Throws: As `fetch(_:)`.
  @_disfavoredOverload
  public func count<Object: ManagedObject>(
    _ type: Object.Type, where condition: ((ObjectQuery<Object>) -> Condition)? = nil
  ) throws -> Int {
    try count(for: fetching.request(type, condition, [], nil, 0))
  }

  /// The identifiers of the objects that `fetch` would return, without creating objects.
  ///
  /// - Throws: As `fetch(_:)`.
  public func fetchIdentifiers<Object: FetchRequestResult>(
    _ request: FetchRequest<Object>
  ) throws -> [ManagedObjectID] {
    beginUse("fetching identifiers")
    defer { endUse() }
    try beginReading()
    let view = try readingView()
    var resolved = try fetching.resolve(request, of: view)
    // The entity of a row is not in an index.
    if resolved.entity.rootEntity.subentities.isEmpty { resolved.columns = [] }
    return try fetching.identifiers(fetching.execution(resolved, in: view))
  }

  /// The identifiers of the objects of a class that satisfy a condition.
  ///
  /// - Throws: As `fetch(_:)`.
  @_disfavoredOverload
  public func fetchIdentifiers<Object: ManagedObject>(
    _ type: Object.Type, where condition: ((ObjectQuery<Object>) -> Condition)? = nil,
    sort: [Sort<Object>] = [], limit: Int? = nil, offset: Int = 0
  ) throws -> [ManagedObjectID] {
    if limit == 0 { return [] }
    return try fetchIdentifiers(fetching.request(type, condition, sort, limit, offset))
  }

  /// Iterates over the objects that a request finds in batches, so that memory for one batch is enough: between batches
  /// the context releases objects that only it references and that have nothing to save.
  ///
  /// All batches show the state of the first one, regardless of saves in between.
  ///
  /// - Parameters:
  ///   - request: The request.
  ///   - batchSize: The number of objects in a batch, at least 1; the last batch may be smaller.
  ///   - body: Called with each batch.
  /// - Throws: As `fetch(_:)`, and what `body` throws.
  public func enumerate<Object: ManagedObject>(
    _ request: FetchRequest<Object>, batchSize: Int = 1000, _ body: ([Object]) throws -> Void
  ) throws {
    beginUse("enumerating")
    defer { endUse() }
    require(batchSize > 0, "a batch has at least one object")
    var batch: [ManagedObject] = []
    let relationships = try fetching.delivery(of: request).prefetching
    let request = request.copy()
    (request.fetchBatchSize, request.isEnumeration) = (0, true)
    try fetching.forEachResult(of: request) { object in
      batch.append(object)
      if batch.count < batchSize { return true }
      try RowLoader(self).prefetch(relationships, of: batch)
      try body(batch.ofCheckedClass(Object.self))
      batch.removeAll(keepingCapacity: true)
      sweepIfDue()
      return true
    }
    try RowLoader(self).prefetch(relationships, of: batch)
    if !batch.isEmpty { try body(batch.ofCheckedClass(Object.self)) }
  }
}

/// Plans: how fetches are executed, and what that costs.
extension ManagedObjectContext {
  /// Plans a request, and drops the plan.
  ///
  /// - Throws: If the request does not fit the model, or the store cannot be read.
  package func check<Object: ManagedObject>(planOf request: FetchRequest<Object>) throws {
    beginUse("planning a fetch")
    defer { endUse() }
    _ = try fetching.execution(fetching.resolve(request), in: readingView())
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
    return try fetching.execution(fetching.resolve(request), in: readingView()).explain()
  }

  /// The plan of fetching the objects of a class that satisfy a condition now.
  ///
  /// - Throws: As `plan(for:)` with a request.
  @_disfavoredOverload
  public func plan<Object: ManagedObject>(
    for type: Object.Type, where condition: ((ObjectQuery<Object>) -> Condition)? = nil,
    sort: [Sort<Object>] = [], limit: Int? = nil, offset: Int = 0
  ) throws -> FetchPlan {
    try plan(for: fetching.request(type, condition, sort, limit, offset))
  }

  /// The plan of counting a request's objects now.
  ///
  /// - Throws: If the request does not fit the model, or the store cannot be read.
  public func plan<Object: ManagedObject>(forCounting request: FetchRequest<Object>) throws -> FetchPlan {
    beginUse("planning a fetch")
    defer { endUse() }
    return try fetching.execution(
      fetching.resolve(request, reading: []), in: readingView(), isCount: true
    ).explainCount()
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
    var execution = try fetching.execution(fetching.resolve(request, of: view), in: view)
    let figures = FetchFigures()
    (execution.figures, execution.log) = (figures, nil)
    try figures.timeWhole {
      try execution.forEach { _ in
        figures.results += 1
        return true
      }
    }
    return try execution.explain()
  }
}

// MARK: Other results

/// Fetching other results than objects, in batches, and beside other work.
extension ManagedObjectContext {
  private var fetching: ObjectFetch { ObjectFetch(self) }

  /// The identifiers of the objects that a request finds, as `fetchIdentifiers(_:)` returns them.
  ///
  /// - Parameter request: A request with the name of an entity.
  /// - Throws: As `fetch(_:)` for objects.
  public func fetch(_ request: FetchRequest<ManagedObjectID>) throws -> [ManagedObjectID] {
    try request.checkResultType()
    return try fetchIdentifiers(request)
  }

  /// The dictionaries of a request, as `fetchDictionaries(_:)` returns them.
  ///
  /// - Parameter request: A request with the name of an entity.
  /// - Throws: As `fetchDictionaries(_:)`.
  public func fetch(_ request: FetchRequest<[String: Any]>) throws -> [[String: Any]] {
    try request.checkResultType()
    return try fetchDictionaries(request)
  }

  /// The number of objects that a request finds, in an array of one element.
  ///
  /// - Parameter request: A request with the name of an entity.
  /// - Throws: As `count(for:)`.
  public func fetch(_ request: FetchRequest<Int>) throws -> [Int] {
    try request.checkResultType()
    return [try count(for: request)]
  }

  /// The objects that a request finds, made batch by batch as they are met; see `BatchedObjects`.
  ///
  /// - Parameter request: The request. Batches have 100 objects if it has no batch size.
  /// - Throws: As `fetch(_:)`.
  /// - Complexity: As of `fetchIdentifiers(_:)`.
  public func fetchInBatches<Object: ManagedObject>(
    _ request: FetchRequest<Object>
  ) throws -> BatchedObjects<Object> {
    beginUse("fetching in batches")
    defer { endUse() }
    let fetch = try fetching.detachedFetch(request)
    let found = try fetch.find(ScanControl())
    return BatchedObjects(
      try BatchSource(found, by: fetch, self) { object in
        if !(object is Object) { throw HeartwoodError.wrongClass(object, Object.self) }
      })
  }

  /// Values that are made of the objects that a request finds, batch by batch; see `FetchedBatches`.
  ///
  /// - Parameters:
  ///   - request: The request, which is copied. Its batch size does not matter.
  ///   - size: The number of objects in a batch, at least 1.
  ///   - transform: Makes a value of a batch, on the context's queue.
  @_disfavoredOverload
  public func batches<Object: ManagedObject, Element: Sendable>(
    of request: FetchRequest<Object>, size: Int = 1000,
    _ transform: @escaping @Sendable ([Object]) throws -> Element
  ) -> FetchedBatches<Object, Element> {
    FetchedBatches(request, in: self, size: Swift.max(1, size), transform)
  }

  /// The objects that a request finds, found on another thread: the context can be used meanwhile, and the task's cancellation ends the
  /// scan of the store.
  ///
  /// Call it on the context's queue, such as in a `ModelActor` of the context, or on the main actor for a context of the main queue. Unsaved
  /// changes are those of the call. Outside of that queue, `perform` a `fetch(_:)`, or use `batches(of:size:_:)`.
  ///
  /// - Throws: As `fetch(_:)`; `CancellationError` if the task was cancelled.
  public nonisolated(nonsending) func fetchAsynchronously<Object: ManagedObject>(
    _ request: FetchRequest<Object>
  ) async throws -> [Object] {
    let fetch = try withUse("fetching") { try fetching.detachedFetch(request) }
    let found = try await fetch.find()
    return try withUse("fetching") {
      try fetching.objects(
        found, 0..<found.keys.count, by: fetch, of: Object.self, fetch.request.delivery)
    }
  }

  private func withUse<Result>(_ verb: StaticString, _ body: () throws -> Result) rethrows -> Result {
    beginUse(verb)
    defer { endUse() }
    return try body()
  }

  /// Begins an asynchronous fetch, and returns its result, which has no objects yet.
  ///
  /// The objects are found on another thread, in the state of the store at this call, with the unsaved changes of this call if the request
  /// includes them. The context can be used meanwhile. The objects get their rows in batches, of 1000 if the request has no batch size.
  ///
  /// - Parameter request: The request.
  /// - Throws: If the request does not fit the model, or the store cannot be read. What fails later is the result's `operationError`.
  @discardableResult
  public func execute<Object: ManagedObject>(
    _ request: AsynchronousFetchRequest<Object>
  ) throws -> AsynchronousFetchResult<Object> {
    beginUse("executing an asynchronous fetch")
    defer { endUse() }
    let plain = request.fetchRequest.copy()
    plain.affectedStores = plain.affectedStores ?? request.affectedStores
    let fetch = try fetching.detachedFetch(plain)
    let progress = Progress(
      totalUnitCount: request.estimatedResultCount > 0 ? Int64(request.estimatedResultCount) : -1)
    let shared = SharedProgress(progress: progress)
    let control = ScanControl { [weak self] count in
      self?.enqueue { shared.progress.completedUnitCount = Int64(count) }
    }
    progress.cancellationHandler = { control.cancel() }
    let result = AsynchronousFetchResult(request, self, progress, control)
    let delivery = AsynchronousDelivery(result: result, fetch: fetch)
    DetachedFetch.onOtherThread {
      let found = Result { try fetch.find(control) }
      self.enqueue { self.asEvent { delivery.end(found) } }
    }
    return result
  }
}

/// The verbs of contexts and objects for rows that are loaded together: see `RowLoader`.
extension ManagedObjectContext {
  /// Loads the rows of a batch, one of whose objects was just read.
  func loadRows(of batch: FetchBatch) { RowLoader(self).load(batch) }

  /// Loads the batch of an object if a relationship is loaded with it.
  ///
  /// - Returns: Whether it was.
  func loadBatch(prefetching slot: Int, of object: ManagedObject) -> Bool {
    RowLoader(self).loadBatch(prefetching: slot, of: object)
  }

  /// Loads the rows of faults with keys next to that of an object whose row was just read.
  func prefetchSiblings(of object: ManagedObject, in view: any StoreView) {
    RowLoader(self).prefetchSiblings(of: object, in: view)
  }

  /// The stamp of rows that are loaded now; 0 if the store cannot be read.
  func prefetchStamp() -> UInt32 { RowLoader(self).prefetchStamp() }
}
