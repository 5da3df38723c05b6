import Foundation

extension NotificationCenter {
  /// The notifications of a name, from now on.
  ///
  /// - Parameters:
  ///   - name: The name.
  ///   - object: Who posts them; nil for anyone.
  public func notifications(named name: Notification.Name, object: AnyObject? = nil) -> Notifications {
    Notifications(self, name, object)
  }

  /// An asynchronous sequence of notifications, which begins when it is made. Those that are not consumed yet are kept.
  public final class Notifications: AsyncSequence, @unchecked Sendable {
    /// A notification.
    public typealias Element = Notification

    private let stream: AsyncStream<SentBlock<Notification>>
    private let continuation: AsyncStream<SentBlock<Notification>>.Continuation
    private let center: NotificationCenter
    private let token: any NSObjectProtocol

    init(_ center: NotificationCenter, _ name: Notification.Name, _ object: AnyObject?) {
      self.center = center
      let (stream, continuation) = AsyncStream<SentBlock<Notification>>.makeStream()
      (self.stream, self.continuation) = (stream, continuation)
      token = center.addObserver(forName: name, object: object, queue: nil) { notification in
        continuation.yield(SentBlock(notification))
      }
    }

    deinit {
      center.removeObserver(token)
      continuation.finish()
    }

    /// Consumes the notifications.
    public func makeAsyncIterator() -> Iterator { Iterator(self) }

    /// Consumes notifications. It keeps the sequence.
    public struct Iterator: AsyncIteratorProtocol {
      private let sequence: Notifications
      private var iterator: AsyncStream<SentBlock<Notification>>.Iterator

      init(_ sequence: Notifications) {
        self.sequence = sequence
        iterator = sequence.stream.makeAsyncIterator()
      }

      /// The next notification; nil when the task was cancelled.
      public mutating func next() async -> Notification? { await iterator.next()?.block }
      /// The next notification; nil when the task was cancelled.
      public mutating func next(isolation actor: isolated (any Actor)?) async -> Notification? {
        await iterator.next(isolation: actor)?.block
      }
    }
  }
}
