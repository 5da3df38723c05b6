import Foundation
import SwiftData
import Testing

/// A store of a program in memory, with a history of its own.
final class JournalStore: DataStore, HistoryProviding {
  typealias Configuration = JournalConfiguration
  typealias Snapshot = DefaultSnapshot
  typealias HistoryType = JournalTransaction

  let configuration: JournalConfiguration
  let identifier: String
  let schema: Schema
  private var rows: [PersistentIdentifier: DefaultSnapshot] = [:]
  private var journal: [JournalTransaction] = []

  init(_ configuration: JournalConfiguration, migrationPlan: (any SchemaMigrationPlan.Type)?) throws {
    self.configuration = configuration
    identifier = configuration.name
    schema = configuration.schema ?? Schema([])
  }

  func fetch<T: PersistentModel>(
    _ request: DataStoreFetchRequest<T>
  ) throws -> DataStoreFetchResult<T, DefaultSnapshot> {
    if request.descriptor.predicate != nil { throw DataStoreError.preferInMemoryFilter }
    return DataStoreFetchResult(
      descriptor: request.descriptor, fetchedSnapshots: Array(rows.values), relatedSnapshots: rows)
  }

  func save(
    _ request: DataStoreSaveChangesRequest<DefaultSnapshot>
  ) throws -> DataStoreSaveChangesResult<DefaultSnapshot> {
    var remapped: [PersistentIdentifier: PersistentIdentifier] = [:]
    for snapshot in request.inserted {
      remapped[snapshot.persistentIdentifier] = try PersistentIdentifier.identifier(
        for: identifier, entityName: snapshot.persistentIdentifier.entityName, primaryKey: UUID())
    }
    for snapshot in request.inserted + request.updated {
      let id = remapped[snapshot.persistentIdentifier] ?? snapshot.persistentIdentifier
      rows[id] = snapshot.copy(persistentIdentifier: id, remappedIdentifiers: remapped)
    }
    for snapshot in request.deleted { rows[snapshot.persistentIdentifier] = nil }
    let number = (journal.last?.transactionIdentifier ?? 0) + 1
    let inserts = remapped.values.map { HistoryChange.insert(JournalInsert(number, $0)) }
    journal.append(
      JournalTransaction(
        transactionIdentifier: number, author: request.editingState.author, changes: inserts,
        storeIdentifier: identifier))
    return DataStoreSaveChangesResult(for: identifier, remappedIdentifiers: remapped)
  }

  func fetchHistory(_ descriptor: HistoryDescriptor<JournalTransaction>) throws -> [JournalTransaction] {
    let found = try journal.filter { try descriptor.predicate?.evaluate($0) ?? true }
    return descriptor.fetchLimit == 0 ? found : Array(found.prefix(Int(descriptor.fetchLimit)))
  }

  func deleteHistory(_ descriptor: HistoryDescriptor<JournalTransaction>) throws {
    journal = try journal.filter { try !(descriptor.predicate?.evaluate($0) ?? true) }
  }
}

struct JournalConfiguration: DataStoreConfiguration {
  typealias Store = JournalStore
  var name: String
  var schema: Schema?
}

struct JournalToken: HistoryToken {
  var tokenValue: Int?
  var id: Int { tokenValue ?? 0 }
  static func < (left: JournalToken, right: JournalToken) -> Bool {
    (left.tokenValue ?? 0) < (right.tokenValue ?? 0)
  }
}

struct JournalTransaction: HistoryTransaction {
  let timestamp = Date()
  let transactionIdentifier: Int
  let author: String?
  let changes: [HistoryChange]
  let storeIdentifier: String
  var token: JournalToken { JournalToken(tokenValue: transactionIdentifier) }
  var id: Int { transactionIdentifier }

  static func == (left: JournalTransaction, right: JournalTransaction) -> Bool { left.id == right.id }
  func hash(into hasher: inout Hasher) { hasher.combine(id) }
}

struct JournalInsert: HistoryInsert {
  typealias Model = Node
  let transactionIdentifier: Int
  let changeIdentifier: Int
  let changedPersistentIdentifier: PersistentIdentifier

  init(_ transaction: Int, _ identifier: PersistentIdentifier) {
    (transactionIdentifier, changeIdentifier) = (transaction, transaction)
    changedPersistentIdentifier = identifier
  }
}

struct StoreHistoryTests {
  // SWD-30, SWD-31, SWD-34, SWD-35
  @Test func `the history of a program's store is read and deleted through a context`() throws {
    let container = try ModelContainer(
      for: Node.self, configurations: JournalConfiguration(name: "journal", schema: Schema([Node.self])))
    let context = ModelContext(container)
    for index in 1...3 {
      context.author = index == 2 ? "import" : "user"
      context.insert(Node("\(index)"))
      try context.save()
    }
    let all: [JournalTransaction] = try context.fetchHistory(HistoryDescriptor<JournalTransaction>())
    #expect(
      all.map(\.author) == ["user", "import", "user"]
        && all.map(\.storeIdentifier) == Array(repeating: "journal", count: 3))
    let inserted = all.flatMap { $0.changes.map(\.changedPersistentIdentifier) }
    #expect(Set(inserted) == Set(try context.fetch(FetchDescriptor<Node>()).map(\.persistentModelID)))
    let own = HistoryDescriptor<JournalTransaction>(predicate: #Predicate { $0.author == "import" })
    #expect(try context.fetchHistory(own).map(\.transactionIdentifier) == [2])
    try context.deleteHistory(own)
    #expect(try context.fetchHistory(HistoryDescriptor<JournalTransaction>()).map(\.id) == [1, 3])
    // The store has no history of the built-in kind.
    let none: [DefaultHistoryTransaction] = try context.fetchHistory(
      HistoryDescriptor<DefaultHistoryTransaction>())
    #expect(none.isEmpty)
  }

  // SWD-37, SWD-39
  @Test func `the built-in store deletes by a condition`() throws {
    try Library.inFolder { folder in
      let configuration = ModelConfiguration(
        schema: Schema([SportsCar.self]), url: folder.appending(path: "a.store"))
      let store = try DefaultStore(configuration, migrationPlan: nil)
      let context = ModelContext(try ModelContainer(for: SportsCar.self, configurations: configuration))
      for name in ["a", "b"] { context.insert(Vehicle(name: name)) }
      context.insert(SportsCar(name: "a"))
      try context.save()
      func delete(_ includeSubclasses: Bool) throws {
        try store.delete(
          DataStoreBatchDeleteRequest<Vehicle>(
            predicate: #Predicate { $0.name == "a" }, editingState: context.editingState,
            includeSubclasses: includeSubclasses))
      }
      let left = FetchDescriptor<Vehicle>(sortBy: [SortDescriptor(\.name)])
      try delete(false)
      #expect(try ModelContext(context.container).fetch(left).map(\.name) == ["a", "b"])
      try delete(true)
      #expect(try ModelContext(context.container).fetch(left).map(\.name) == ["b"])
    }
  }
}
