/// Registers the changes of a context, so that they can be undone. `UndoStack` is Heartwood's own; on Apple systems an
/// extension can make Foundation's `UndoManager` conform.
public protocol UndoRegistering: AnyObject {
  /// Whether changes are registered now.
  var isUndoRegistrationEnabled: Bool { get }
  /// Whether there is something to undo.
  var canUndo: Bool { get }
  /// Whether there is something to redo.
  var canRedo: Bool { get }
  /// Registers an action that takes back what was just done. An action that is registered while another one is undone goes to
  /// the actions to redo.
  func registerUndo(_ action: @escaping () -> Void)
  /// Takes back the last group of actions.
  func undo()
  /// Takes back the last undo.
  func redo()
  /// Forgets all actions.
  func removeAllActions()
}
