import Foundation
import HeartwoodFiles

/// One of several stores.
struct StoreMember: Sendable {
  let number: Int
  let store: LogStore
  let configuration: StoreConfiguration
}

/// The several stores of a coordinator as one.
///
/// A row has the key that it has in its store, with the number of the store in the upper bits (see `StoreNumbers`). Rows of the store
/// with the number 0 are read in place; those of others are copied if they refer to objects. An object refers to objects of its own store
/// only.
final class StoreUnion: RowStore {
  let numbers: StoreNumbers
  /// In the order in which they were added.
  let members: [StoreMember]
  private let references: RowReferences

  init(_ members: [StoreMember], _ numbers: StoreNumbers, _ model: ManagedObjectModel) {
    self.members = members
    self.numbers = numbers
    references = RowReferences(model)
  }

  var identity: StoreIdentity { numbers.identity }

  /// Grows with each commit to one of them.
  var newestGeneration: UInt64 { members.reduce(0) { $0 &+ $1.store.newestGeneration } }

  func member(numbered number: Int) -> StoreMember? { members.first { $0.number == number } }

  /// - Throws: If one of the stores cannot.
  func require(_ feature: StoreFeature) throws(HeartwoodError) {
    for member in members { try member.store.require(feature) }
  }

  func view() throws -> any StoreView { try newestView() }

  private func newestView() throws -> StoreUnionView {
    try view { try $0.newestView() }
  }

  private func view(_ open: (LogStore) throws -> LogStoreView) rethrows -> StoreUnionView {
    StoreUnionView(
      try members.map { StoreUnionView.Member(number: $0.number, view: try open($0.store)) }, references)
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
    return try view { store in
      guard let number = generations.number(of: store.identity) else {
        throw HeartwoodError(
          .persistentStoreOperation,
          "the query generation has none of the store at \(store.path), which was added later: use a newer token"
        )
      }
      return try store.pastView(at: number)
    }
  }

  func savePendingMetadata() throws {
    for member in members { try member.store.savePendingMetadata() }
  }

  func reserveKeys(_ root: EntityDescription, _ count: Int, in store: Int) throws -> UInt64 {
    guard let member = member(numbered: store) else { throw HeartwoodError.noStore(store) }
    return try member.store.reserveKeys(root, count).numbered(store)
  }

  // MARK: Saving

  /// Writes to several stores: locks them in the order of their identifiers, which is the same in all processes, writes to all, and
  /// commits them in the opposite order, one after the other.
  ///
  /// If a store cannot commit, those that have not committed before are not changed. If there are some that have, the save is incomplete.
  func commit<Result>(
    _ info: TransactionInfo, to stores: Set<Int>, _ body: (any StoreTransaction) throws -> Result
  ) throws -> (Result, CommittedSave) {
    let writing = members.filter { stores.contains($0.number) }.sorted {
      ($0.store.identity.text ?? "") < ($1.store.identity.text ?? "")
    }
    var commits = Commits()
    do {
      // A program that observes a store is told when none of them is locked.
      let result = try LateCalls.after {
        try write(writing[...], info, [:], &commits, finish: {}, body)
      }
      let newest = members.map { member in
        commits.committed.first { $0.store == member.store.identity }
          ?? StoreGenerations.Member(store: member.store.identity, number: member.store.newestGeneration)
      }
      return (
        result,
        CommittedSave(written: StoreGenerations(commits.committed), newest: StoreGenerations(newest))
      )
    } catch {
      guard !commits.committed.isEmpty else { throw error }
      let failed = writing.filter { !commits.ended.contains($0.number) }
      throw IncompleteSave(
        committed: StoreGenerations(commits.committed),
        failed: failed.map { ($0.number, $0.store.identity) }, cause: error)
    }
  }

  /// The parts of a save that have been committed.
  private struct Commits {
    var committed: [StoreGenerations.Member] = []
    /// The numbers of the stores whose transactions have ended, also of those in which nothing was written.
    var ended: Set<Int> = []
  }

  /// Locks the first of the stores, and then the others; runs the body at the end.
  private func write<Result>(
    _ rest: ArraySlice<StoreMember>, _ info: TransactionInfo, _ transactions: [Int: LogStoreTransaction],
    _ commits: inout Commits, finish: () throws -> Void,
    _ body: (any StoreTransaction) throws -> Result
  ) throws -> Result {
    guard let member = rest.first else {
      let transaction = StoreUnionTransaction(transactions, self, references)
      let result = try body(transaction)
      // Checks everything in all stores, and writes what is left, before the first commits.
      try finish()
      return result
    }
    let (result, number) = try member.store.write(info) { transaction, finishOwn in
      var transactions = transactions
      transactions[member.number] = transaction
      return try write(
        rest.dropFirst(), info, transactions, &commits,
        finish: {
          try finish()
          do {
            try finishOwn()
          } catch let refused as ConstraintViolations {
            throw refused.numbered(member.number)
          }
        }, body)
    }
    commits.ended.insert(member.number)
    if let number {
      commits.committed.append(StoreGenerations.Member(store: member.store.identity, number: number))
    }
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
