import Dispatch
import Foundation

/// The end of an event: what was changed since the last one is completed, recorded for undo, and reported once.
extension ManagedObjectContext {
  /// Whether something was changed since the end of the last event.
  package final var hasUnprocessedChanges: Bool { !event.isEmpty }

  /// Ends an event as `processPendingChanges()` does.
  func endEventWithDeletes() {
    beginUse("processing pending changes")
    defer { endUse() }
    lastReads.removeAll()
    if propagatesDeletesAtEndOfEvent { propagateDeletes() }
    endEvent()
    takeAssignedIdentifiers()
    trackers.applyRenamed()
    sweepIfDue()
  }

  /// Reports what has happened since the last call, without applying delete rules.
  func endEvent(registeringUndo registersUndo: Bool = true) {
    trackers.applyRenamed()
    guard !event.isEmpty else { return }
    let ended = event
    event = ContextEvent()
    saveProgress?.resolution?.events.append(ended)
    pendingLookup?.apply(ended, editCountBefore: editCountOfEvents, in: self)
    shownChanges?.note(ended, editCountBefore: editCountOfEvents, after: editCount)
    editCountOfEvents = editCount
    if registersUndo { registerUndo(ended) }
    for change in ended.changes { change.object.state.remove(.noted) }
    #if DEBUG
      ContextInvariants(self).check(after: ended)
    #endif
    trackers.apply(ended)
    let outer = reportedEvent
    reportedEvent = ended
    post(.managedObjectContextObjectsDidChange, ended.summary())
    reportedEvent = outer
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
