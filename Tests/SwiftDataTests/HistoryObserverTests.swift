import Foundation
import SwiftData
import Synchronization
import Testing

/// Observers whose part of the history is deleted.
struct HistoryObserverTests {
  let context: ModelContext

  init() throws { context = ModelContext(try Library.container()) }

  private func save(_ name: String) throws -> DefaultHistoryTransaction {
    context.insert(Author(name: name))
    try context.save()
    return try #require((try context.fetchHistory() as [DefaultHistoryTransaction]).last)
  }

  // SWD-44
  @Test func `an observer that begins after a deleted part of the history is refused`() throws {
    let first = try save("0")
    for name in ["1", "2"] { _ = try save(name) }
    let tokens = [first.storeIdentifier: first.token]
    #expect(try HistoryObserver(historyTokens: tokens, modelContainer: context.container).eventCounter == 1)
    try context.deleteHistory(HistoryDescriptor<DefaultHistoryTransaction>())
    #expect {
      try HistoryObserver(historyTokens: tokens, modelContainer: context.container)
    } throws: {
      SwiftDataError.historyTokenExpired ~= $0
    }
  }

  // SWD-44
  @Test func `an observer counts once what was deleted before it read it, and goes on`() async throws {
    let observer = try HistoryObserver(authors: ["me"], modelContainer: context.container)
    // Blocks the thread that notifies of saves, so that the observer does not read.
    let isHeld = Mutex(false)
    let release = DispatchSemaphore(value: 0)
    let holder = NotificationCenter.default.addObserver(
      forName: ModelContainer.remoteChange, object: context.container, queue: nil
    ) { _ in
      let isFirst = isHeld.withLock { isHeld in
        defer { isHeld = true }
        return !isHeld
      }
      if isFirst { release.wait() }
    }
    defer { NotificationCenter.default.removeObserver(holder) }
    _ = try save("1")
    while !isHeld.withLock({ $0 }) { await Task.yield() }
    for name in ["2", "3"] { _ = try save(name) }
    try context.deleteHistory(HistoryDescriptor<DefaultHistoryTransaction>())
    #expect(observer.eventCounter == 0)
    release.signal()
    // Who has saved what is deleted is not known.
    while observer.eventCounter < 1 { await Task.yield() }
    context.author = "me"
    let last = try save("4")
    while (observer.historyTokens.values.first as? DefaultHistoryToken) != last.token { await Task.yield() }
    #expect(observer.eventCounter == 2)
  }
}
