/// Follows a context: a live result. All is called on the queue of the context.
protocol ContextTracker: AnyObject {
  /// Applies changes of the context.
  func apply(_ touched: TouchedObjects)
  /// The context has other stores.
  func noteStores()
  /// The context was reset.
  func reset()
}

/// The live results of a context, which it does not keep.
///
/// A class, as a tracker that is called may add another one.
final class ContextTrackers {
  private struct WeakTracker {
    weak var tracker: (any ContextTracker)?
  }

  private var trackers: [WeakTracker] = []
  /// Objects that have got permanent identifiers by a save of a parent, which the trackers hear of at the end of the event.
  private var renamed: [ManagedObject] = []

  var isEmpty: Bool { trackers.isEmpty }

  func add(_ tracker: some ContextTracker) {
    trackers.removeAll { $0.tracker == nil || $0.tracker === tracker }
    trackers.append(WeakTracker(tracker: tracker))
  }

  func apply(_ event: ContextEvent) {
    if !isEmpty { apply(TouchedObjects(event)) }
  }

  /// Called after a save, which gives new objects their keys and writes rows.
  func apply(rewritten objects: @autoclosure () -> [ManagedObject]) {
    if !isEmpty { apply(TouchedObjects(rewritten: objects())) }
  }

  /// Notes an object that has got its permanent identifier by a save of a parent.
  func noteRenamed(_ object: ManagedObject) {
    if !isEmpty { renamed.append(object) }
  }

  func applyRenamed() {
    guard !renamed.isEmpty else { return }
    let objects = renamed
    renamed = []
    apply(rewritten: objects)
  }

  /// Called where anything may have changed.
  func refresh() {
    if !isEmpty { apply(.everything) }
  }

  /// Called after the coordinator has added or removed a store.
  func noteStores() {
    for weak in trackers { weak.tracker?.noteStores() }
  }

  /// Called after the context was reset.
  func reset() {
    renamed = []
    for weak in trackers { weak.tracker?.reset() }
  }

  private func apply(_ touched: TouchedObjects) {
    for weak in trackers { weak.tracker?.apply(touched) }
    trackers.removeAll { $0.tracker == nil }
  }
}
