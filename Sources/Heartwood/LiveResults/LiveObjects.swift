import Observation

/// The objects of a request as a context changes, for the Observation framework: a view that reads `objects` is shown again when they
/// change.
///
/// ```swift
/// let adults = try LiveObjects(FetchRequest<Person>(where: { $0.age > 17 }, sort: [.ascending(\.name)]), in: container.viewContext)
/// ```
///
/// Use it on its context's queue only: that of the view context is the main queue. To keep the evaluation off the main queue, iterate over a
/// `LiveQuery` of a background context instead, and show the objects of its identifiers.
///
/// Changes show at the same times as with `FetchedResultsController`. Values of the objects themselves are observed with the objects: see
/// `ManagedObjectContext.isObservable`.
public final class LiveObjects<Object: ManagedObject>: Observable {
  private struct Content {
    var difference: CollectionDifference<ManagedObjectID>
    var updated: Set<ManagedObjectID>
    var error: (any Error)?
  }

  private let tracker: ResultTracker
  private let registrar = ObservationRegistrar()
  private var content: Content

  /// Fetches the objects and follows them.
  ///
  /// - Parameters:
  ///   - request: The request, which is copied. Objects that are equal in all sort descriptors are in creation order, as are all if
  ///     there is none.
  ///   - context: The context, which is kept.
  /// - Throws: As a fetch.
  public init(_ request: FetchRequest<Object>, in context: ManagedObjectContext) throws {
    let copy = request.orderedCopy()
    tracker = ResultTracker(
      context, of: Object.self,
      compile: { try ResultReader(ObjectFetch($0).resolveObjects(copy), section: nil) })
    content = Content(difference: [].difference(from: []), updated: [], error: nil)
    context.beginUse("following a request")
    defer { context.endUse() }
    try tracker.fetch()
    content.difference = Self.inserting(tracker.result)
    tracker.followsIdentifiers = { true }
    tracker.willChange = { [weak self] in self?.willChange() }
    tracker.changed = { [weak self] change in self?.didChange(change) }
    tracker.failed = { [weak self] error in self?.replace(error: error) }
    tracker.wasReset = { [weak self] in self?.fetchAfterReset() }
  }

  /// The objects, in order.
  public var objects: [Object] {
    registrar.access(self, keyPath: \.objects)
    return (tracker.result?.objects ?? []).ofCheckedClass(Object.self)
  }

  /// The difference that made the present list of identifiers of the one before; at first, of none.
  public var difference: CollectionDifference<ManagedObjectID> {
    registrar.access(self, keyPath: \.difference)
    return content.difference
  }

  /// The objects in both whose values have changed.
  public var updatedObjectIDs: Set<ManagedObjectID> {
    registrar.access(self, keyPath: \.updatedObjectIDs)
    return content.updated
  }

  /// The error that kept the last change from showing; nil if it shows. The next change fetches again.
  public var error: (any Error)? {
    registrar.access(self, keyPath: \.error)
    return content.error
  }

  private func willChange() {
    registrar.willSet(self, keyPath: \.objects)
    registrar.willSet(self, keyPath: \.difference)
    registrar.willSet(self, keyPath: \.updatedObjectIDs)
  }

  private func didChange(_ change: ResultChange) {
    content.difference = change.difference(includingUpdates: false)
    content.updated = Set(change.changedIdentifiers)
    finishChange()
  }

  private func finishChange() {
    registrar.didSet(self, keyPath: \.objects)
    registrar.didSet(self, keyPath: \.difference)
    registrar.didSet(self, keyPath: \.updatedObjectIDs)
    if content.error != nil { replace(error: nil) }
  }

  private func replace(error: (any Error)?) {
    registrar.withMutation(of: self, keyPath: \.error) { content.error = error }
  }

  private func fetchAfterReset() {
    willChange()
    let former = tracker.result?.tracked.map(\.identifier) ?? []
    do {
      try tracker.fetch()
      let changes = LiveQueryChanges(fetched: tracker.result?.tracked.map(\.identifier) ?? [])
      content.difference = changes.result(after: former).difference
      content.updated = []
      finishChange()
    } catch {
      finishChange()
      replace(error: error)
    }
  }

  private static func inserting(_ result: TrackedResult?) -> CollectionDifference<ManagedObjectID> {
    LiveQueryChanges(fetched: result?.tracked.map(\.identifier) ?? []).result(after: []).difference
  }
}
