/// The state of a running save. A context has none otherwise, and a hook or an observer of a save cannot begin another one.
struct SaveProgress {
  /// The changes that a merge policy makes for the save.
  struct Resolution {
    /// The events since the policy began.
    var events: [ContextEvent] = []
    /// The changes of these events, to be undone once the save has succeeded.
    var undo: [ChangeRecord] = []
  }

  /// Nil until a merge policy begins to resolve conflicts.
  var resolution: Resolution?
}
