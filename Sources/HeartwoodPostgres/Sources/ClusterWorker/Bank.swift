import Foundation
import Heartwood
import HeartwoodPostgres

/// A counter that many processes count up.
final class Counter: ManagedObject {
  @Attribute(.unique) var name = ""
  @Attribute var value: Int64 = 0
}

/// An account between which money is moved.
final class Account: ManagedObject {
  @Attribute(.unique) var name = ""
  @Attribute var balance: Int64 = 0
}

/// A save of a process.
final class Entry: ManagedObject {
  @Attribute(.indexed) var worker: Int64 = 0
  @Attribute var number: Int64 = 0
  @Attribute var counter = ""
}

/// The store of all processes.
struct Bank {
  static let counters = 4
  static let accounts = 12
  static let balance: Int64 = 1000

  let container: PersistentContainer
  let store: PostgresStore

  init(_ url: URL) throws {
    PostgresStore.register()
    container = PersistentContainer(
      name: "Bank",
      managedObjectModel: try ManagedObjectModel(types: [Counter.self, Account.self, Entry.self]))
    let description = PersistentStoreDescription(url: url)
    description.type = .postgres
    try container.persistentStoreCoordinator.addPersistentStore(with: description)
    guard let store = container.persistentStoreCoordinator.persistentStores.first as? PostgresStore else {
      throw HeartwoodError(.persistentStoreOpen, "the store is of another kind")
    }
    self.store = store
  }

  /// Makes the counters and accounts.
  func fill() throws {
    let context = container.newBackgroundContext()
    for number in 0..<Self.counters { Counter(context: context).name = "c\(number)" }
    for number in 0..<Self.accounts {
      let account = Account(context: context)
      (account.name, account.balance) = ("a\(number)", Self.balance)
    }
    try context.save()
  }
}
