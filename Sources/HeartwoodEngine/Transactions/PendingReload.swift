/// The checkpoint of another process from which the tree must be reloaded.
enum PendingReload {
  case none
  /// Nil for the start of the log.
  case checkpoint(NamedCheckpoint?)
}
