import Foundation
import HeartwoodFiles

/// The batches of a consumer as they come: an asynchronous sequence that waits for saves of this process and of others.
///
/// ```swift
/// for try await batch in indexer.batches() {
///   try await context.perform {
///     for change in batch.changes { try index(change, in: context) }
///     try context.complete(batch)
///     try context.save()
///   }
/// }
/// ```
///
/// The next batch begins where the store says that the consumer is, so a batch that was not completed comes again. The sequence ends when its task
/// is cancelled.
public struct HistoryBatches: AsyncSequence, Sendable {
  let consumer: HistoryConsumer
  let limit: Int

  /// The iterator, which waits from now on.
  public func makeAsyncIterator() -> Iterator { Iterator(consumer, limit) }

  /// Takes batch after batch.
  public struct Iterator: AsyncIteratorProtocol {
    private let consumer: HistoryConsumer
    private let limit: Int
    private let follower: HistoryFollower
    private var news: AsyncStream<Void>.Iterator

    init(_ consumer: HistoryConsumer, _ limit: Int) {
      self.consumer = consumer
      self.limit = limit
      let (stream, signal) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
      follower = HistoryFollower(consumer.coordinator) { signal.yield() }
      news = stream.makeAsyncIterator()
    }

    /// The next batch with a transaction; nil once the task is cancelled.
    ///
    /// - Throws: As `HistoryConsumer.nextBatch(limit:)`.
    public mutating func next() async throws -> HistoryBatch? {
      while !Task.isCancelled {
        let batch = try consumer.nextBatch(limit: limit)
        if !batch.transactions.isEmpty { return batch }
        try consumer.passOver(batch)
        guard await news.next() != nil else { return nil }
      }
      return nil
    }
  }
}

extension HistoryConsumer {
  /// The batches of the consumer as they come.
  ///
  /// - Parameter limit: The maximum number of transactions of a batch, at least 1.
  public func batches(limit: Int = 1_000) -> HistoryBatches { HistoryBatches(consumer: self, limit: limit) }
}

/// Gives a signal after each save of others to the stores of a coordinator, as long as it exists.
package final class HistoryFollower: Sendable {
  private let context: ManagedObjectContext

  package init(_ coordinator: PersistentStoreCoordinator, _ signal: @escaping @Sendable () -> Void) {
    context = ManagedObjectContext(.privateQueue, coordinator: coordinator)
    context.receivesChanges = { _ in signal() }
    context.automaticallyMergesRemoteChanges = true
  }

  deinit { context.automaticallyMergesChangesFromParent = false }
}
