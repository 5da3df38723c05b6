import Foundation
import Heartwood

/// The transactions of a store's history after a number, a part at a time, so that a long history is not in memory.
struct HistoryReading {
  private let store: CommandStore
  private let predicate: (any FetchPredicate)?
  /// The position after the last transaction that was read.
  private var position: PersistentHistoryToken?
  /// Whether it goes on where it has read before, so that nothing between may be missing.
  private var hasBegun = false

  private static let partCount = 1_000

  /// - Parameter predicate: Which changes are meant; nil for all.
  init(_ store: CommandStore, since number: UInt64, _ predicate: (any FetchPredicate)?) {
    self.store = store
    self.predicate = predicate
    position = store.position(after: number)
  }

  /// Calls `body` with what was saved since the last call, oldest first.
  ///
  /// - Throws: `.persistentHistoryTokenExpired` if some of that is deleted already.
  mutating func all(_ body: (PersistentHistoryTransaction) throws -> Void) throws {
    let newest = store.coordinator.currentPersistentHistoryToken()
    if let position, let newest, newest.transactionNumber <= position.transactionNumber { return }
    defer { hasBegun = true }
    var isComplete = false
    while !isComplete {
      let found = try part()
      for transaction in found {
        if predicate == nil || transaction.changes?.isEmpty == false { try body(transaction) }
        position = transaction.token
      }
      isComplete = found.count < Self.partCount
    }
    // Transactions that the predicate has left out are not read again.
    if let newest, newest.transactionNumber > position?.transactionNumber ?? 0 { position = newest }
  }

  private func part() throws -> [PersistentHistoryTransaction] {
    try store.history(after: position, isWhole: hasBegun) {
      $0.fetchLimit = Self.partCount
      $0.changePredicate = predicate
    }
  }
}

extension CommandStore {
  /// The transactions after a position; all that are left if those just after it are deleted.
  ///
  /// - Parameters:
  ///   - isWhole: Whether that is an error.
  ///   - adapt: Says which ones.
  func history(
    after position: PersistentHistoryToken?, isWhole: Bool = false,
    _ adapt: (PersistentHistoryChangeRequest) throws -> Void
  ) throws -> [PersistentHistoryTransaction] {
    func fetch(after token: PersistentHistoryToken?) throws -> [PersistentHistoryTransaction] {
      let request = PersistentHistoryChangeRequest.fetchHistory(after: token)
      try adapt(request)
      return try context.execute(request).transactions
    }
    do {
      return try fetch(after: position)
    } catch let error as HeartwoodError where !isWhole && error.code == .persistentHistoryTokenExpired {
      return try fetch(after: nil)
    }
  }

  /// The position after the transaction of a number; nil for the beginning.
  func position(after number: UInt64) -> PersistentHistoryToken? {
    number == 0 ? nil : PersistentHistoryToken(transactionNumbersByStore: [identifier: number])
  }
}

extension HistoryCommand {
  /// Writes transactions as text, as a list in JSON, or as a line in JSON for each.
  final class Printer {
    private let (isJSON, follows): (Bool, Bool)
    private let listed: Int
    private let console: any Console
    private var isFirst = true

    /// - Parameter listed: How many changes of a transaction are listed; 0 for all.
    init(isJSON: Bool, follows: Bool, listed: Int, _ console: any Console) {
      (self.isJSON, self.follows, self.console) = (isJSON, follows, console)
      self.listed = listed == 0 ? .max : listed
    }

    func begin() throws { if isJSON, !follows { try console.write("[") } }

    func print(_ transaction: PersistentHistoryTransaction) throws {
      defer { isFirst = false }
      guard isJSON else { return try console.write(HistoryText.text(transaction, listing: listed)) }
      let value = HistoryText.json(transaction)
      guard !follows else { return try console.writeLine(JSONWriter.line(value)) }
      let lines = JSONWriter.pretty(value).split(separator: "\n").map { "\n  " + $0 }
      try console.write((isFirst ? "" : ",") + lines.joined())
    }

    func end() throws { if isJSON, !follows { try console.writeLine(isFirst ? "]" : "\n]") } }
  }

  /// Waits for saves of others.
  struct News {
    private let signal = DispatchSemaphore(value: 0)
    private let follower: HistoryFollower

    init(_ coordinator: PersistentStoreCoordinator) {
      follower = HistoryFollower(coordinator) { [signal] in signal.signal() }
    }

    /// - Returns: False if none came within a second.
    func wait() -> Bool { signal.wait(timeout: .now() + 1) == .success }
  }
}
