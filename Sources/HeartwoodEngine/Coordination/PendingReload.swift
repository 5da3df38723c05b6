/// The checkpoint of another process from which the tree must be reloaded.
enum PendingReload {
  case none
  /// Nil for the start of the log.
  case checkpoint(NamedCheckpoint?)
}

extension OpenStore {
  /// Whether the tree is based on an older checkpoint than the newest one in the log.
  var hasPendingReload: Bool {
    if case .none = pendingReload { false } else { true }
  }
}
