import Foundation
import HeartwoodEngine

/// Past generations: those that are left, those that are held by name, and tokens by which contexts are pinned to them.
extension PersistentStoreCoordinator {
  /// The transactions in the store's log, oldest first. The state after each of them can be read.
  ///
  /// - Parameter store: The store; nil for the only one.
  /// - Throws: If the log cannot be read.
  /// - Complexity: Linear in the size of the log.
  @_disfavoredOverload
  public func generations(of store: PersistentStore? = nil) throws -> [GenerationRecord] {
    try openStore(store).generations()
  }

  // MARK: Tokens

  /// A token of a past generation, by the number of its transaction.
  ///
  /// - Throws: If there is no store, or several, or the number is greater than the newest generation's.
  public func queryGenerationToken(forGeneration number: UInt64) throws -> QueryGenerationToken {
    let store = try openStore()
    try store.require(.generations)
    let newest = store.newestGeneration
    guard number <= newest else {
      throw HeartwoodError(
        .persistentStoreOperation, "there is no generation \(number) yet: the newest is \(newest)")
    }
    return QueryGenerationToken(generation: number, storeID: store.identity.text)
  }

  /// A token of the state of a store at a date: after the newest transaction whose time is not later, by the times in the history, the clocks of
  /// the machines that saved. Times may run backwards, and the order of the transactions counts.
  ///
  /// - Throws: As `queryGenerationToken(forGeneration:)`, and if the store has no generation of that time any more.
  /// - Complexity: Linear in the generations that can still be read, and in the transactions of the history after the
  ///   date.
  public func queryGenerationToken(asOf date: Date) throws -> QueryGenerationToken {
    let store = try historyStore(nil)
    let time = date.latestStoreTime
    let view = try store.newestView()
    var (last, next): (UInt64?, UInt64) = (nil, .max)
    try view.historyTimes(after: view.newestDeletedHistory(), reversed: true) { number, nanoseconds in
      guard nanoseconds > time else {
        last = number
        return false
      }
      next = number
      return true
    }
    // Those between two transactions of the history have the same objects.
    let readable = try store.generations().map { ($0.generation.rawValue, $0.time) }
    let held = try store.holds().map(\.generation.rawValue)
    let found =
      last.map { last in (readable.map(\.0) + held).filter { $0 >= last && $0 < next }.min() }
      ?? readable.last { $0.1 <= time }?.0
    guard let found else {
      throw HeartwoodError(
        .persistentStoreOperation,
        "the store has no generation of \(DateText.short(date)) or before it any more: it was made later, or its space was reclaimed"
      )
    }
    return try queryGenerationToken(forGeneration: found)
  }

  /// A token of a generation that is held by name.
  ///
  /// - Throws: `.persistentStoreOperation` if the only store of the coordinator has no hold of this name; the store's error if it cannot be read.
  public func queryGenerationToken(ofHold name: String) throws -> QueryGenerationToken {
    let store = try openStore()
    let holds = try store.holds()
    guard let hold = holds.first(where: { $0.name == name }) else {
      let known = holds.map { "\"\($0.name)\"" }.joined(separator: ", ")
      throw HeartwoodError(
        .persistentStoreOperation,
        "no generation of the store is held as \"\(name)\""
          + (known.isEmpty ? ": there are no holds" : "; there are \(known)"))
    }
    return try queryGenerationToken(forGeneration: hold.generation.rawValue)
  }

  // MARK: Holds

  /// For how long a generation is held if the program does not say: seven days, in seconds.
  public static let defaultHoldSeconds = 7 * 86_400.0

  /// Keeps a generation readable, by any process, until it is released or the time is over. It survives crashes, and `reclaim()`.
  ///
  /// The files that the generation needs stay: `bytesOfHolds(of:)` says how much that is. Backups have no holds.
  ///
  /// - Parameters:
  ///   - name: 1 to 255 bytes in UTF-8, unique in the store.
  ///   - generation: The number of a generation, or of the transaction that made it; nil for the newest.
  ///   - seconds: How long it is held, at least 0; nil until it is released.
  ///   - store: One of several stores; nil for the only one.
  /// - Throws: `.persistentStoreOperation` if there is a hold of this name, or if the store no longer has the generation;
  ///   `.persistentStoreUnsupportedRequestType` if it has no past generations; `.persistentStoreSave` if it is open read-only, and the store's
  ///   error if it cannot be written.
  /// - Complexity: That of writing the pages that have changed since the last checkpoint.
  @discardableResult
  public func hold(
    _ name: String, generation: UInt64? = nil, forSeconds seconds: Double? = defaultHoldSeconds,
    of store: PersistentStore? = nil
  ) throws -> GenerationHold {
    try openStore(store).hold(name, generation, seconds: seconds)
  }

  /// Ends a hold: the next `reclaim()` may take what the generation needs.
  ///
  /// - Returns: False if there is none of this name.
  /// - Throws: As `hold(_:generation:forSeconds:of:)`.
  @discardableResult
  public func releaseHold(_ name: String, of store: PersistentStore? = nil) throws -> Bool {
    try openStore(store).releaseHold(name)
  }

  /// The generations that are held by name, in the order of the names.
  ///
  /// - Parameter store: One of several stores; nil for the only one.
  /// - Throws: The store's error if it cannot be read; none for a store without past generations.
  public func holds(of store: PersistentStore? = nil) throws -> [GenerationHold] {
    try openStore(store).holds()
  }

  /// How many bytes `reclaim()` could free without a hold, if there were no other one, by the names of the holds.
  ///
  /// - Parameter store: One of several stores; nil for the only one.
  /// - Throws: The store's error if it cannot be read.
  /// - Complexity: Linear in the number of objects.
  public func bytesOfHolds(of store: PersistentStore? = nil) throws -> [String: Int64] {
    try openStore(store).bytesOfHolds()
  }
}
