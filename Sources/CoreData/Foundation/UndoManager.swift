import Foundation
import Heartwood

/// Actions that undo changes, in groups. The part of Foundation's class that contexts and their programs use.
open class UndoManager: NSObject {
  let stack = UndoStack()
  /// The contexts whose changes it undoes.
  private var contexts: [WeakContext] = []

  /// A manager without actions.
  public override init() {}

  /// How many groups are kept; 0 for any number.
  open var levelsOfUndo: Int {
    get { stack.levelsOfUndo }
    set { stack.levelsOfUndo = newValue }
  }
  /// Whether each event makes a group of its own. Contexts group by events in any case.
  open var groupsByEvent = true
  /// How many groups are begun and not ended.
  open var groupingLevel: Int { stack.groupingLevel }
  /// Whether actions are registered.
  open var isUndoRegistrationEnabled: Bool { stack.isUndoRegistrationEnabled }
  /// Whether there is an action to undo.
  open var canUndo: Bool { stack.canUndo }
  /// Whether there is an action to redo.
  open var canRedo: Bool { stack.canRedo }
  /// Whether actions are being undone.
  open var isUndoing: Bool { stack.isUndoing }
  /// Whether actions are being redone.
  open var isRedoing: Bool { stack.isRedoing }
  /// The name of the action that would be undone.
  open var undoActionName: String { stack.undoActionName }
  /// The name of the action that would be redone.
  open var redoActionName: String { stack.redoActionName }

  /// Begins a group.
  open func beginUndoGrouping() { stack.beginUndoGrouping() }
  /// Ends a group.
  open func endUndoGrouping() { stack.endUndoGrouping() }
  /// Registers nothing until `enableUndoRegistration()`.
  open func disableUndoRegistration() { stack.disableUndoRegistration() }
  /// Registers actions again.
  open func enableUndoRegistration() { stack.enableUndoRegistration() }
  /// Undoes the last group.
  open func undo() { stack.undo() }
  /// Undoes the last group.
  open func undoNestedGroup() { stack.undo() }
  /// Redoes what was undone last.
  open func redo() { stack.redo() }
  /// Forgets all actions.
  open func removeAllActions() { stack.removeAllActions() }
  /// Names the group that is open, or the one of the changes of a context that are not processed yet, or else the last one.
  open func setActionName(_ actionName: String) {
    stack.setActionName(actionName, isOfNext: contexts.contains { $0.context?.hasUnprocessedChanges == true })
  }

  fileprivate func add(_ context: ManagedObjectContext) {
    contexts.removeAll { $0.context == nil || $0.context === context }
    contexts.append(WeakContext(context: context))
  }

  /// Registers an action on an object, which is not kept.
  public func registerUndo<Target: AnyObject>(withTarget target: Target, handler: @escaping (Target) -> Void)
  {
    stack.registerUndo { [weak target] in if let target { handler(target) } }
  }
}

private struct WeakContext {
  weak var context: ManagedObjectContext?
}

/// The registrar of a context's changes: an undo manager.
package final class UndoManagerRegistrar: UndoRegistering {
  package let manager: UndoManager
  private let afterwards: () -> Void

  /// - Parameters:
  ///   - context: The context whose changes are registered.
  ///   - afterwards: Called after each change that was undone or redone.
  package init(
    _ manager: UndoManager, of context: ManagedObjectContext, afterwards: @escaping () -> Void = {}
  ) {
    self.manager = manager
    self.afterwards = afterwards
    manager.add(context)
  }

  package var isUndoRegistrationEnabled: Bool { manager.isUndoRegistrationEnabled }
  package var canUndo: Bool { manager.canUndo }
  package var canRedo: Bool { manager.canRedo }
  package func registerUndo(_ action: @escaping () -> Void) {
    manager.stack.registerUndo { [afterwards] in
      action()
      afterwards()
    }
  }
  package func undo() { manager.undo() }
  package func redo() { manager.redo() }
  package func removeAllActions() { manager.removeAllActions() }
}
