import Dispatch
import Foundation

/// The end of an event: what was changed since the last one is completed, recorded for undo, and reported once.
extension ManagedObjectContext {
  /// Ends the current event: applies the delete rules of deleted objects, if `propagatesDeletesAtEndOfEvent`, registers the
  /// changes for undo, and posts `objectsDidChange` if anything has changed.
  ///
  /// Called by a fetch, a save, an undo, and at the end of `perform`. For changes made on the main thread outside of
  /// `perform`, a context of the main queue calls it when the main queue next runs.
  public func processPendingChanges() {
    beginUse("processing pending changes")
    defer { endUse() }
    lastRead = nil
    if propagatesDeletesAtEndOfEvent { propagateDeletes() }
    endEvent()
    takeAssignedIdentifiers()
    tellTrackersOfRenamed()
    sweepIfDue()
  }

  private func tellTrackersOfRenamed() {
    guard !renamedByParent.isEmpty else { return }
    let renamed = renamedByParent
    renamedByParent = []
    tellTrackers(rewritten: renamed)
  }

  /// Reports what has happened since the last call, without applying delete rules.
  func endEvent(registeringUndo registersUndo: Bool = true) {
    tellTrackersOfRenamed()
    guard !event.isEmpty else { return }
    let ended = event
    event = ContextEvent()
    saveProgress?.resolution?.events.append(ended)
    pendingLookup?.apply(ended, editCountBefore: editCountOfEvents, in: self)
    shownChanges?.note(ended, editCountBefore: editCountOfEvents, after: editCount)
    editCountOfEvents = editCount
    if registersUndo { registerUndo(ended) }
    for change in ended.changes { change.object.state.remove(.noted) }
    assert(ended.changes.allSatisfy { changes.isConsistent(for: $0.object) })
    tellTrackers(of: ended)
    post(.managedObjectContextObjectsDidChange, ended.summary())
  }

  /// Forgets what is known of the changed objects, as something has changed them that no event has.
  func forgetShownChanges() {
    pendingLookup = nil
    shownChanges = nil
  }

  /// Notes that an object is about to change.
  @inline(__always)
  func note(_ object: ManagedObject) {
    if !object.state.contains(.noted) { noteFirst(object) }
  }

  private func noteFirst(_ object: ManagedObject) {
    if event.isEmpty { scheduleEndOfEvent() }
    event.note(object)
    object.state.insert(.noted)
  }

  /// A context of the main queue that is used there has no `perform` that would end the event.
  private func scheduleEndOfEvent() {
    guard concurrencyType == .mainQueue, MainQueue.shared.isHereAndRuns else { return }
    DispatchQueue.main.async { [weak self] in self?.processPendingChanges() }
  }
}

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
