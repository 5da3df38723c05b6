import Foundation
import HeartwoodFiles

/// One of several stores.
struct StoreMember: Sendable {
  let number: Int
  let store: any ObjectStore
  /// The store on the engine; nil for an incremental store.
  let log: LogStore?
  let configuration: StoreConfiguration
  let isReadOnly: Bool
  /// Where it is, for messages.
  let place: String

  /// Whether it may have objects of an entity or of subentities.
  func mayHave(_ entity: EntityDescription) -> Bool {
    entity.compiled.family.entities.contains(where: configuration.has)
  }
}

/// A part of a save that a store of a program executes when all transactions of the save are written and checked, and none is committed.
struct SaveRequest {
  let number: Int
  let store: StoreIdentity
  /// Executes it, and returns the generation that it has made.
  let execute: () throws -> UInt64
}

/// The several stores of a coordinator that are on the engine, as one.
///
/// A row has the key that it has in its store, with the number of the store in the upper bits (see `StoreNumbers`). Rows of the store
/// with the number 0 are read in place; those of others are copied if they refer to objects. An object refers to objects of its own store
/// only.
final class StoreUnion: RowStore {
  private struct Log {
    let number: Int
    let store: LogStore
  }

  let numbers: StoreNumbers
  /// In the order in which they were added.
  let members: [StoreMember]
  private let logs: [Log]
  let references: RowReferences

  /// - Parameter members: Those that are not on the engine are left out.
  init(_ members: [StoreMember], _ numbers: StoreNumbers, _ model: ManagedObjectModel) {
    self.members = members.filter { $0.log != nil }
    logs = members.compactMap { member in member.log.map { Log(number: member.number, store: $0) } }
    self.numbers = numbers
    references = RowReferences(model)
  }

  var identity: StoreIdentity { numbers.identity }

  /// Grows with each commit to one of them.
  var newestGeneration: UInt64 { members.reduce(0) { $0 &+ $1.store.newestGeneration } }

  /// - Throws: If one of the stores cannot.
  func require(_ feature: StoreFeature) throws(HeartwoodError) {
    for member in members { try member.store.require(feature) }
  }

  func view() throws -> any StoreView { try newestView() }

  private func newestView() throws -> StoreUnionView {
    StoreUnionView(try views { try $0.newestView() }, references)
  }

  /// The newest generation of each.
  func newestViews() throws -> [StoreUnionView.Member] { try views { try $0.newestView() } }

  private func views(_ open: (LogStore) throws -> LogStoreView) rethrows -> [StoreUnionView.Member] {
    try logs.map { StoreUnionView.Member(number: $0.number, view: try open($0.store)) }
  }

  func view(at generations: StoreGenerations) throws -> any StoreView {
    if let lost = generations.members.first(where: { wanted in
      !members.contains { $0.store.identity == wanted.store }
    }) {
      throw HeartwoodError(
        .persistentStoreOperation,
        "the query generation has one of the store \(lost.store.text ?? "?"), which this coordinator does not have open: add it again, "
          + "or use a token of the stores that are open")
    }
    let views = try views { store in
      guard let number = generations.number(of: store.identity) else {
        throw HeartwoodError(
          .persistentStoreOperation,
          "the query generation has none of the store at \(store.path), which was added later: use a newer token"
        )
      }
      return try store.pastView(at: number)
    }
    return StoreUnionView(views, references)
  }

  func savePendingMetadata() throws {
    for member in members { try member.store.savePendingMetadata() }
  }

  func reserveKeys(_ root: EntityDescription, _ count: Int, in store: Int) throws -> UInt64 {
    guard let log = logs.first(where: { $0.number == store }) else { throw HeartwoodError.noStore(store) }
    return try log.store.reserveKeys(root, count).numbered(store)
  }

  // MARK: Saving

  /// Writes to several stores: locks them in the order of their identifiers, which is the same in all processes, writes to all, and
  /// commits them in the opposite order, one after the other.
  ///
  /// If a store cannot commit, those that have not committed before are not changed. If there are some that have, the save is incomplete.
  func commit<Result>(
    _ info: TransactionInfo, to stores: Set<Int>, _ body: (any StoreTransaction) throws -> Result
  ) throws -> (Result, CommittedSave) {
    try commit(info, to: stores, [], body)
  }

  /// The same, with parts of the save that other stores execute.
  func commit<Result>(
    _ info: TransactionInfo, to stores: Set<Int>, _ requests: [SaveRequest],
    _ body: (any StoreTransaction) throws -> Result
  ) throws -> (Result, CommittedSave) {
    let writing = logs.filter { stores.contains($0.number) }.sorted {
      ($0.store.identity.text ?? "") < ($1.store.identity.text ?? "")
    }
    var commits = Commits()
    do {
      // A program that observes a store is told when none of them is locked.
      let result = try LateCalls.after {
        try write(writing[...], info, [:], requests, &commits, finish: {}, body)
      }
      let others = commits.committed.filter { made in !logs.contains { $0.store.identity == made.store } }
      let newest =
        logs.map { log in
          commits.committed.first { $0.store == log.store.identity }
            ?? StoreGenerations.Member(store: log.store.identity, number: log.store.newestGeneration)
        } + others
      return (
        result,
        CommittedSave(written: StoreGenerations(commits.committed), newest: StoreGenerations(newest))
      )
    } catch {
      guard !commits.committed.isEmpty else { throw error }
      let all = requests.map { ($0.number, $0.store) } + writing.map { ($0.number, $0.store.identity) }
      throw IncompleteSave(
        committed: StoreGenerations(commits.committed),
        failed: all.filter { !commits.ended.contains($0.0) }, cause: error)
    }
  }

  /// The parts of a save that have been committed.
  private struct Commits {
    var committed: [StoreGenerations.Member] = []
    /// The numbers of the stores whose transactions have ended, also of those in which nothing was written.
    var ended: Set<Int> = []

    mutating func note(_ number: Int, _ store: StoreIdentity, _ generation: UInt64?) {
      ended.insert(number)
      if let generation { committed.append(StoreGenerations.Member(store: store, number: generation)) }
    }
  }

  /// Locks the first of the stores, and then the others; runs the body at the end.
  private func write<Result>(
    _ rest: ArraySlice<Log>, _ info: TransactionInfo, _ transactions: [Int: LogStoreTransaction],
    _ requests: [SaveRequest], _ commits: inout Commits, finish: () throws -> Void,
    _ body: (any StoreTransaction) throws -> Result
  ) throws -> Result {
    guard let member = rest.first else {
      let transaction = StoreUnionTransaction(transactions, self, references)
      let result = try body(transaction)
      // Checks everything in all stores, and writes what is left, before the first commits.
      try finish()
      for request in requests { commits.note(request.number, request.store, try request.execute()) }
      return result
    }
    let (result, number) = try member.store.write(info) { transaction, finishOwn in
      var transactions = transactions
      transactions[member.number] = transaction
      return try write(
        rest.dropFirst(), info, transactions, requests, &commits,
        finish: {
          try finish()
          do {
            try finishOwn()
          } catch let refused as ConstraintViolations {
            throw refused.numbered(member.number)
          }
        }, body)
    }
    commits.note(member.number, member.store.identity, number)
    return result
  }
}

extension ConstraintViolations {
  /// The violations with the keys that rows of a store have among several.
  fileprivate func numbered(_ store: Int) -> ConstraintViolations {
    ConstraintViolations(
      violations: violations.map {
        ConstraintViolation(
          entity: $0.entity, constraint: $0.constraint, values: $0.values,
          existingKey: $0.existingKey.numbered(store), newKey: $0.newKey.numbered(store))
      })
  }
}

extension HeartwoodError {
  static func noStore(_ number: Int) -> HeartwoodError {
    HeartwoodError(
      .persistentStoreOperation,
      "the store of the object, number \(number), is not open in this coordinator any more: add it again")
  }
}
