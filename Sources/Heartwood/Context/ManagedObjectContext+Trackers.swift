/// Telling the live results of a context what has changed.
extension ManagedObjectContext {
  func add(_ tracker: some ContextTracker) {
    trackers.removeAll { $0.tracker == nil || $0.tracker === tracker }
    trackers.append(WeakTracker(tracker: tracker))
  }

  func tellTrackers(of event: ContextEvent) {
    if !trackers.isEmpty { tellTrackers(TouchedObjects(event)) }
  }

  /// Called after a save, which gives new objects their keys and writes rows.
  func tellTrackers(rewritten objects: @autoclosure () -> [ManagedObject]) {
    if !trackers.isEmpty { tellTrackers(TouchedObjects(rewritten: objects())) }
  }

  /// Objects that a save lets leave because others have deleted them; they may have been inserted again since. Empty without live
  /// results.
  var inaccessibleForTrackers: [ManagedObject] {
    trackers.isEmpty ? [] : Array(changes.gone)
  }

  /// Called where anything may have changed.
  func refreshTrackers() {
    if !trackers.isEmpty { tellTrackers(.everything) }
  }

  /// Called after the coordinator has added or removed a store.
  func noteStoresForTrackers() {
    for weak in trackers { weak.tracker?.noteStores() }
  }

  func resetTrackers() {
    for weak in trackers { weak.tracker?.reset() }
  }

  private func tellTrackers(_ touched: TouchedObjects) {
    for weak in trackers { weak.tracker?.apply(touched) }
    trackers.removeAll { $0.tracker == nil }
  }
}

/// Follows a context: a live result. All is called on the queue of the context.
protocol ContextTracker: AnyObject {
  /// Applies changes of the context.
  func apply(_ touched: TouchedObjects)
  /// The context has other stores.
  func noteStores()
  /// The context was reset.
  func reset()
}

/// A tracker of a context, which the context does not keep.
struct WeakTracker {
  weak var tracker: (any ContextTracker)?
}
