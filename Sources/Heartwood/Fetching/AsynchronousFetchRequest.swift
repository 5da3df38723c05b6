import Foundation

/// A fetch that finds its objects on another thread, and then delivers them on the context's queue.
///
/// ```swift
/// let request = AsynchronousFetchRequest(fetchRequest: FetchRequest<Album>()) { result in
///   show(result.finalResult ?? [])
/// }
/// let result = try context.execute(request)
/// ```
public final class AsynchronousFetchRequest<Object: ManagedObject>: PersistentStoreRequest {
  /// The fetch. It is copied when it is executed.
  public let fetchRequest: FetchRequest<Object>
  /// Called on the context's queue at the end, also after an error and a cancellation.
  public let completionBlock: ((AsynchronousFetchResult<Object>) -> Void)?
  /// The number of objects that is expected, for the progress; 0 if it is unknown.
  public var estimatedResultCount = 0

  /// A request.
  ///
  /// - Parameters:
  ///   - fetchRequest: The fetch.
  ///   - completionBlock: Called on the context's queue at the end.
  public init(
    fetchRequest: FetchRequest<Object>, completionBlock: ((AsynchronousFetchResult<Object>) -> Void)? = nil
  ) {
    self.fetchRequest = fetchRequest
    self.completionBlock = completionBlock
    super.init()
  }
}

/// The result that an asynchronous fetch returns at once: its progress, and at the end its objects. Use it on the context's queue.
public final class AsynchronousFetchResult<Object: ManagedObject> {
  /// The request.
  public let fetchRequest: AsynchronousFetchRequest<Object>
  /// The context of the objects.
  public let managedObjectContext: ManagedObjectContext
  /// The objects; nil until the end, and after an error or a cancellation.
  public fileprivate(set) var finalResult: [Object]?
  /// Why there are no objects: `CancellationError` after a cancellation; nil until the end, and if there are objects.
  public fileprivate(set) var operationError: (any Error)?
  /// Counts the rows that were found. It changes on the context's queue, and cancelling it cancels the fetch. The total is the estimated
  /// number of objects until the end, or negative if there is no estimate.
  public let progress: Progress
  let control: ScanControl

  init(
    _ request: AsynchronousFetchRequest<Object>, _ context: ManagedObjectContext, _ progress: Progress,
    _ control: ScanControl
  ) {
    fetchRequest = request
    managedObjectContext = context
    self.progress = progress
    self.control = control
  }

  /// Ends the fetch: the scan of the store stops, and the completion block gets a result without objects. Does nothing after the end.
  ///
  /// Any thread may cancel by the `progress`.
  public func cancel() { control.cancel() }
}

/// A progress that is changed on the queue of a context.
///
/// Unchecked, because that queue uses it.
struct SharedProgress: @unchecked Sendable {
  let progress: Progress
}

/// The end of an asynchronous fetch.
///
/// Unchecked, because the queue of the context uses it.
struct AsynchronousDelivery<Object: ManagedObject>: @unchecked Sendable {
  let result: AsynchronousFetchResult<Object>
  let fetch: DetachedFetch

  func end(_ found: Result<FoundKeys, any Error>) {
    do {
      let found = try found.get()
      try result.control.check()
      var delivery = fetch.request.delivery
      if delivery.batchSize == 0, !delivery.realises { delivery.batchSize = 1000 }
      let objects = try ObjectFetch(result.managedObjectContext).objects(
        found, 0..<found.keys.count, by: fetch, of: Object.self, delivery)
      result.finalResult = objects
      result.progress.totalUnitCount = Int64(objects.count)
      result.progress.completedUnitCount = Int64(objects.count)
    } catch {
      result.operationError = error
    }
    result.fetchRequest.completionBlock?(result)
  }
}
