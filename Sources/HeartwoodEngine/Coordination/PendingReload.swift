/// What another process has taken a checkpoint of, and the tree here does not begin from yet.
enum PendingReload {
  case none
  /// Nil for the beginning of the log.
  case checkpoint(NamedCheckpoint?)
}

extension OpenStore {
  /// Whether the tree is of an older checkpoint than the newest one in the log.
  var hasPendingReload: Bool {
    if case .none = pendingReload { false } else { true }
  }
}
