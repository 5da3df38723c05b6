/// Values that are made of the objects of a request, batch by batch: an asynchronous sequence.
///
/// ```swift
/// for try await titles in context.batches(of: FetchRequest<Album>(), size: 100, { $0.map(\.title) }) {
///   try await send(titles)
/// }
/// ```
///
/// The objects are found once, on another thread, at the beginning of an iteration; the rows of a batch are read when it is its turn,
/// and show what is newest then. Objects that were deleted meanwhile are left out. The memory of one batch and of a key for each object is
/// needed. If the task is cancelled, the scan ends, and iteration throws `CancellationError`.
public struct FetchedBatches<Object: ManagedObject, Element: Sendable>: AsyncSequence, Sendable {
  private let context: ManagedObjectContext
  private let request: SharedRequest<Object>
  private let size: Int
  private let transform: @Sendable ([Object]) throws -> Element

  fileprivate init(
    _ request: FetchRequest<Object>, in context: ManagedObjectContext, size: Int,
    _ transform: @escaping @Sendable ([Object]) throws -> Element
  ) {
    self.context = context
    self.request = SharedRequest(request: request.copy())
    self.size = size
    self.transform = transform
  }

  /// Begins a fetch of its own.
  public func makeAsyncIterator() -> Iterator { Iterator(batches: self) }

  /// The batches of one fetch.
  public struct Iterator: AsyncIteratorProtocol {
    fileprivate let batches: FetchedBatches
    private var found: FoundKeys?
    private var fetch: DetachedFetch?
    private var delivery: SharedDelivery?
    private var position = 0

    fileprivate init(batches: FetchedBatches) { self.batches = batches }

    /// What the next batch gives; nil at the end.
    ///
    /// - Throws: As a fetch, what the function throws that makes the value, and `CancellationError`.
    public mutating func next() async throws -> Element? {
      try Task.checkCancellation()
      let (context, request, transform) = (batches.context, batches.request, batches.transform)
      if found == nil {
        let fetch = try await context.perform {
          context.beginUse("fetching in batches")
          defer { context.endUse() }
          return try context.detachedFetch(request.request)
        }
        var delivery = fetch.request.delivery
        (delivery.batchSize, delivery.hasRows) = (0, true)
        self.delivery = SharedDelivery(delivery: delivery)
        self.fetch = fetch
        found = try await fetch.find()
      }
      while let found, let fetch, let delivery, position < found.keys.count {
        let range = position..<Swift.min(position + batches.size, found.keys.count)
        position = range.upperBound
        let made: Element? = try await context.perform {
          let objects: [Object] = try context.objects(
            found, range, by: fetch, of: Object.self, delivery.delivery
          )
          .filter { !$0.isDeleted && !$0.lacksRow }
          return objects.isEmpty ? nil : try transform(objects)
        }
        if let made { return made }
      }
      return nil
    }
  }
}

/// How objects are returned; not changed after it was made.
private struct SharedDelivery: @unchecked Sendable {
  let delivery: ObjectDelivery
}

extension ManagedObjectContext {
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
    let fetch = try withUse("fetching") { try detachedFetch(request) }
    let found = try await fetch.find()
    return try withUse("fetching") {
      try objects(found, 0..<found.keys.count, by: fetch, of: Object.self, fetch.request.delivery)
    }
  }

  private func withUse<Result>(_ verb: StaticString, _ body: () throws -> Result) rethrows -> Result {
    beginUse(verb)
    defer { endUse() }
    return try body()
  }
}
