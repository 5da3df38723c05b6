import Foundation
import GraphTestSupport
import Heartwood
import HeartwoodFaults
import TestSupport
import Testing

/// Consumers that go on from the token of the last transaction that they have read.
@Suite struct SeveralStoresConsumerTests {
  private let coordinator: PersistentStoreCoordinator
  private let context: ManagedObjectContext
  private let item: EntityDescription

  init() throws {
    item = EntityDescription(
      name: "Item", properties: [AttributeDescription(name: "number", type: .integer64)])
    let model = ManagedObjectModel(entities: [item])
    let names = ["a", "b", "c"]
    for name in names { model.setEntities([item], forConfigurationName: name) }
    coordinator = try PersistentStoreCoordinator(checking: model)
    for name in names {
      let description = PersistentStoreDescription()
      description.type = .inMemory
      description.configuration = name
      try coordinator.addPersistentStore(with: description)
    }
    context = ManagedObjectContext(.privateQueue, coordinator: coordinator)
  }

  private func save(_ number: Int, to store: PersistentStore, by author: String) throws -> ManagedObjectID {
    let object = ManagedObject(entity: item, insertInto: context)
    object.setValue(Int64(number), forKey: "number")
    context.assign(object, to: store)
    context.transactionAuthor = author
    try context.save()
    return object.objectID
  }

  /// The results that the request finds, and the token to go on from.
  private func read(
    _ request: PersistentHistoryChangeRequest, _ token: inout PersistentHistoryToken?
  ) throws -> [ManagedObjectID] {
    let found = try context.execute(request).transactions
    token = found.last?.token ?? token
    return found.flatMap { $0.changes ?? [] }.map(\.changedObjectID)
  }

  // PSC-16, HIS-17
  @Test(arguments: 0..<12) func `consumers of any of the stores lose nothing and get nothing twice`(
    seed: Int
  ) throws {
    var random = SplitMix64(seed: UInt64(seed))
    let stores = coordinator.persistentStores
    var saved: [(id: ManagedObjectID, author: String)] = []
    var (all, some, own): ([ManagedObjectID], [ManagedObjectID], [ManagedObjectID]) = ([], [], [])
    var tokens: [PersistentHistoryToken?] = [nil, nil, nil]
    for number in 0..<60 {
      let author = Bool.random(using: &random) ? "even" : "odd"
      switch Int.random(in: 0..<6, using: &random) {
      case 0: all += try read(.fetchHistory(after: tokens[0]), &tokens[0])
      case 1:
        let request = PersistentHistoryChangeRequest.fetchHistory(after: tokens[1])
        request.affectedStores = stores.filter { _ in Bool.random(using: &random) } + [stores[0]]
        some += try read(request, &tokens[1])
      case 2:
        let request = PersistentHistoryChangeRequest.fetchHistory(after: tokens[2])
        request.author = "odd"
        own += try read(request, &tokens[2])
      default:
        let store = stores[Int.random(in: 0..<stores.count, using: &random)]
        saved.append((try save(number, to: store, by: author), author))
      }
    }
    all += try read(.fetchHistory(after: tokens[0]), &tokens[0])
    some += try read(.fetchHistory(after: tokens[1]), &tokens[1])
    let request = PersistentHistoryChangeRequest.fetchHistory(after: tokens[2])
    request.author = "odd"
    own += try read(request, &tokens[2])
    #expect(all == saved.map(\.id))
    #expect(some.count == saved.count && Set(some) == Set(saved.map(\.id)))
    #expect(own == saved.filter { $0.author == "odd" }.map(\.id))
  }

  // HIS-09, HIS-17
  @Test func `a consumer that begins with a time goes on from there in all stores`() throws {
    let stores = coordinator.persistentStores
    for number in 0..<6 { _ = try save(number, to: stores[number % 3], by: "early") }
    let early = try context.execute(
      PersistentHistoryChangeRequest.fetchHistory(after: nil as PersistentHistoryToken?))
    let time = try #require(early.transactions.last).timestamp
    let first = try save(6, to: stores[0], by: "late")
    var token: PersistentHistoryToken?
    let found = try read(.fetchHistory(after: time), &token)
    #expect(found == [first])
    let second = try save(7, to: stores[1], by: "late")
    let next = try read(.fetchHistory(after: token), &token)
    #expect(next == [second])
    let none = try read(.fetchHistory(after: token), &token)
    #expect(none.isEmpty)
  }

  // HIS-08, HIS-15
  @Test func `a token is expired by deleted history also in a store that had no transaction yet`() throws {
    let stores = coordinator.persistentStores
    _ = try save(0, to: stores[0], by: "")
    var token: PersistentHistoryToken?
    _ = try read(.fetchHistory(after: token), &token)
    for number in 1..<4 { _ = try save(number, to: stores[1], by: "") }
    let current = try #require(coordinator.currentPersistentHistoryToken())
    _ = try context.execute(PersistentHistoryChangeRequest.deleteHistory(before: current))
    let error = heartwoodError {
      _ = try context.execute(PersistentHistoryChangeRequest.fetchHistory(after: token))
    }
    #expect(error?.code == .persistentHistoryTokenExpired)
  }

  // HIS-08
  @Test func `tokens of several stores are ordered as the saves are`() throws {
    let stores = coordinator.persistentStores
    for number in [2, 0, 1, 1, 0, 2, 0] { _ = try save(number, to: stores[number], by: "") }
    let request = PersistentHistoryChangeRequest.fetchHistory(after: nil as PersistentHistoryToken?)
    let tokens = try context.execute(request).transactions.map(\.token)
    #expect(tokens.count == 7 && tokens.shuffled().sorted() == tokens)
    #expect(Set(tokens.map { $0.transactionNumbersByStore.count }) == [3])
  }
}
