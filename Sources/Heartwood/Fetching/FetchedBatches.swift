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

  init(
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

    /// The value of the next batch; nil at the end.
    ///
    /// - Throws: As a fetch, what the function throws that makes the value, and `CancellationError`.
    public mutating func next() async throws -> Element? {
      try Task.checkCancellation()
      let (context, request, transform) = (batches.context, batches.request, batches.transform)
      if found == nil {
        let fetch = try await context.perform {
          context.beginUse("fetching in batches")
          defer { context.endUse() }
          return try ObjectFetch(context).detachedFetch(request.request)
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
          let objects: [Object] = try ObjectFetch(context).objects(
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
