import Foundation

/// What happens in a context, as asynchronous sequences.
///
/// Each use of a property is a sequence of its own, which begins with the call and ends when its iteration ends or the context
/// is released. Elements that are not consumed yet are kept. The sequences do not keep the context.
extension ManagedObjectContext {
  /// What each save of this context changes.
  @_disfavoredOverload
  public var saves: AsyncStream<ObjectIDChanges> {
    changes(of: .managedObjectContextDidSaveObjectIDs) { ObjectIDChanges(userInfo: $0.userInfo ?? [:]) }
  }

  /// What each event changes: edits that are not saved yet, merges, refreshes, rollbacks and resets. New objects have temporary
  /// identifiers.
  @_disfavoredOverload
  public var objectChanges: AsyncStream<ObjectIDChanges> {
    changes(of: .managedObjectContextObjectsDidChange) { ContextChanges($0)?.objectIDs ?? ObjectIDChanges() }
  }

  /// What each merge brings.
  @_disfavoredOverload
  public var merges: AsyncStream<ObjectIDChanges> {
    changes(of: .managedObjectContextDidMergeChangesObjectIDs) {
      ObjectIDChanges(userInfo: $0.userInfo ?? [:])
    }
  }

  private func changes(
    of name: Notification.Name, _ element: @escaping @Sendable (Notification) -> ObjectIDChanges
  ) -> AsyncStream<ObjectIDChanges> {
    let (stream, continuation) = AsyncStream<ObjectIDChanges>.makeStream()
    let observer = SequenceObserver(
      NotificationCenter.default.addObserver(forName: name, object: self, queue: nil) { notification in
        continuation.yield(element(notification))
      })
    continuation.onTermination = { _ in observer.end() }
    sequences.add(continuation)
    return stream
  }
}

/// The observation behind a sequence.
private final class SequenceObserver: @unchecked Sendable {
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
