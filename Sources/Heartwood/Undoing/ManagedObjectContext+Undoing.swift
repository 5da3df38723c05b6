import HeartwoodBytes

/// Undo and redo.
///
/// Each event registers one action, which takes back what the event changed. Taking it back is itself an event, whose action
/// the undo manager keeps for redo.
extension ManagedObjectContext {
  /// Undoes changes as `undo()` does.
  func undoChanges() {
    beginUse("undoing")
    defer { endUse() }
    processPendingChanges()
    undoManager?.undo()
  }

  /// Redoes changes as `redo()` does.
  func redoChanges() {
    beginUse("redoing")
    defer { endUse() }
    processPendingChanges()
    undoManager?.redo()
  }

  /// Registers what an event has changed.
  func registerUndo(_ event: ContextEvent) { UndoStep(self).registerUndo(event) }

  /// Registers an action that takes back what is recorded.
  func registerUndo(_ record: ChangeRecord) {
    undoManager?.registerUndo { [weak self] in self?.takeBack(record) }
  }

  private func takeBack(_ record: ChangeRecord) { UndoStep(self).takeBack(record) }
}
