import Foundation
import Heartwood
import HeartwoodEngine
import HeartwoodFiles

package final class Account: ManagedObject {
  @Attribute(.unique) package var name = ""
  /// The sum of the transfers to the account, less those from it.
  @Attribute package var balance: Int64 = 0
  @Relationship(inverse: { $0.origin }) package var outgoing: Set<Transfer>
  @Relationship(inverse: { $0.target }) package var incoming: Set<Transfer>
}

package final class Transfer: ManagedObject {
  @Attribute package var amount: Int64 = 0
  @Attribute(.indexed) package var reason = ""
  @Relationship(inverse: { $0.outgoing }) package var origin: Account?
  @Relationship(inverse: { $0.incoming }) package var target: Account?
}

/// The accounts of one store.
package struct Ledger {
  package let container: PersistentContainer
  package let context: ManagedObjectContext

  /// - Parameters:
  ///   - path: The folder of the store.
  ///   - fileSystem: Its disk.
  ///   - options: Those of the engine; nil for the usual ones.
  package init(
    at path: String, on fileSystem: any FileSystem = PosixFileSystem(), options: EngineOptions? = nil
  ) throws {
    let description = PersistentStoreDescription(url: URL(fileURLWithPath: path))
    (description.fileSystem, description.engineOptions) = (fileSystem, options)
    container = PersistentContainer(
      name: "Ledger", managedObjectModel: try ManagedObjectModel(types: [Account.self, Transfer.self]))
    container.persistentStoreDescriptions = [description]
    try container.loadPersistentStores()
    context = container.newBackgroundContext()
  }

  package func close() throws { try container.close() }

  /// The account of a name, which is made if there is none. The next transfer saves it.
  package func account(_ name: String) throws -> Account {
    if let known = try context.fetch(Account.self, where: { $0.name == name }).first { return known }
    let account = Account(context: context)
    account.name = name
    return account
  }

  /// Moves an amount: the transfer and both balances in one save. After an error nothing has moved.
  package func transfer(_ amount: Int64, from origin: String, to target: String, for reason: String) throws {
    do {
      try add(amount, from: account(origin), to: account(target), for: reason)
      try context.save()
    } catch {
      context.rollback()
      throw error
    }
  }

  /// Makes a transfer that is not saved yet.
  package func add(_ amount: Int64, from origin: Account, to target: Account, for reason: String) {
    let transfer = Transfer(context: context)
    (transfer.amount, transfer.reason) = (amount, reason)
    (transfer.origin, transfer.target) = (origin, target)
    origin.balance -= amount
    target.balance += amount
  }

  /// The findings of an audit of the accounts; empty if nothing is wrong.
  package func audit() throws -> [String] {
    let accounts = try context.fetch(Account.self)
    var findings = accounts.compactMap { account -> String? in
      let (gained, spent) = (account.incoming.map(\.amount), account.outgoing.map(\.amount))
      let sum = gained.reduce(0, +) - spent.reduce(0, +)
      return sum == account.balance ? nil : "\(account.name) has \(account.balance) instead of \(sum)"
    }
    if accounts.map(\.balance).reduce(0, +) != 0 { findings.append("money was made or lost") }
    return findings
  }
}
