import Foundation

/// The observation behind a sequence.
final class SequenceObserver: @unchecked Sendable {
  /// Unchecked: notification centers accept tokens on any thread.
  private let token: any NSObjectProtocol

  init(_ token: any NSObjectProtocol) { self.token = token }

  func end() { NotificationCenter.default.removeObserver(token) }
}

/// The sequences of a context, which end with it.
final class ContextSequences: @unchecked Sendable {
  private let lock = NSLock()
  private var continuations: [AsyncStream<ObjectIDChanges>.Continuation] = []

  func add(_ continuation: AsyncStream<ObjectIDChanges>.Continuation) {
    lock.withLock { continuations.append(continuation) }
  }

  deinit { for continuation in continuations { continuation.finish() } }
}
