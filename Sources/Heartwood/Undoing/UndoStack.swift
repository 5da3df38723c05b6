/// The changes of a context that can be undone and redone, in groups.
///
/// ```swift
/// context.undoManager = UndoStack()
/// ```
///
/// Each event of the context (each call of `processPendingChanges`) registers one action. Outside of a group that the program
/// has begun, each action is a group of its own. Use it on the context's queue only.
public final class UndoStack: UndoRegistering {
  private struct Group {
    var actions: [() -> Void] = []
    var name = ""
  }

  private enum Work {
    case none
    case undoing
    case redoing
  }

  private var undoGroups: [Group] = []
  private var redoGroups: [Group] = []
  /// The actions of the outermost open group.
  private var open = Group()
  private var work = Work.none
  private var disabledCount = 0

  /// How many groups have begun and not ended.
  public private(set) var groupingLevel = 0

  /// The greatest number of groups that are kept; 0 for no limit. The oldest are dropped.
  public var levelsOfUndo = 0 {
    didSet { trim() }
  }

  /// An empty stack without a limit.
  public init() {}

  /// Whether changes are registered: false between `disableUndoRegistration()` and `enableUndoRegistration()`.
  public var isUndoRegistrationEnabled: Bool { disabledCount == 0 }
  /// Whether there is something to undo.
  public var canUndo: Bool { !undoGroups.isEmpty || !open.actions.isEmpty }
  /// Whether there is something to redo.
  public var canRedo: Bool { !redoGroups.isEmpty }
  /// The number of groups that can be undone.
  public var undoCount: Int { undoGroups.count + (open.actions.isEmpty ? 0 : 1) }
  /// The number of groups that can be redone.
  public var redoCount: Int { redoGroups.count }
  /// Whether an undo is running.
  public var isUndoing: Bool { work == .undoing }
  /// Whether a redo is running.
  public var isRedoing: Bool { work == .redoing }

  /// Begins a group: actions are undone together until `endUndoGrouping()`. Groups can be nested; the outermost counts.
  public func beginUndoGrouping() { groupingLevel += 1 }

  /// Ends a group.
  ///
  /// - Precondition: A group was begun.
  public func endUndoGrouping() {
    precondition(groupingLevel > 0, "endUndoGrouping() without beginUndoGrouping()")
    groupingLevel -= 1
    guard groupingLevel == 0 else { return }
    closeGroup()
    open.name = ""
  }

  /// Stops registration, until `enableUndoRegistration()` was called as often. Process pending changes before each.
  public func disableUndoRegistration() { disabledCount += 1 }

  /// Resumes registration.
  ///
  /// - Precondition: `disableUndoRegistration()` was called.
  public func enableUndoRegistration() {
    precondition(disabledCount > 0, "enableUndoRegistration() without disableUndoRegistration()")
    disabledCount -= 1
  }

  /// Registers an action that takes back what was just done, unless registration is disabled.
  public func registerUndo(_ action: @escaping () -> Void) {
    guard isUndoRegistrationEnabled else { return }
    open.actions.append(action)
    if work == .none { redoGroups = [] }
    if work == .none, groupingLevel == 0 { closeGroup() }
  }

  /// Takes back the last group. Does nothing without one.
  ///
  /// - Precondition: No group is open.
  public func undo() {
    precondition(groupingLevel == 0, "undo() inside of a group: end it first")
    closeGroup()
    guard work == .none, let group = undoGroups.popLast() else { return }
    run(group, as: .undoing)
    if !open.actions.isEmpty { redoGroups.append(open) }
    open = Group()
  }

  /// Takes back the last undo. Does nothing without one, or if something was registered since.
  public func redo() {
    guard work == .none, let group = redoGroups.popLast() else { return }
    run(group, as: .redoing)
    if !open.actions.isEmpty { undoGroups.append(open) }
    open = Group()
  }

  /// Forgets everything that could be undone or redone.
  public func removeAllActions() { (undoGroups, redoGroups, open) = ([], [], Group()) }

  /// The name of the group that would be undone.
  package var undoActionName: String { (open.actions.isEmpty ? undoGroups.last : open)?.name ?? "" }
  /// The name of the group that would be redone.
  package var redoActionName: String { redoGroups.last?.name ?? "" }

  /// Names the open group, or else the last one. What undoes it has the same name.
  ///
  /// - Parameter isOfNext: Whether changes were made that are not registered yet, which the name is for.
  package func setActionName(_ name: String, isOfNext: Bool) {
    let isOfLast = groupingLevel == 0 && open.actions.isEmpty && !isOfNext && !undoGroups.isEmpty
    if isOfLast { undoGroups[undoGroups.count - 1].name = name } else { open.name = name }
  }

  private func run(_ group: Group, as kind: Work) {
    work = kind
    open.name = group.name
    for action in group.actions.reversed() { action() }
    work = .none
  }

  private func closeGroup() {
    guard !open.actions.isEmpty else { return }
    undoGroups.append(open)
    open = Group()
    trim()
  }

  private func trim() {
    if levelsOfUndo > 0, undoGroups.count > levelsOfUndo {
      undoGroups.removeFirst(undoGroups.count - levelsOfUndo)
    }
  }
}
