import Foundation
import Heartwood

/// Replaces a store by the backup that was made of it before a migration.
enum MigrationReturn {
  /// Replaces a store by its backup.
  ///
  /// - Throws: If the backup is none of the store, nor of the one of which a mapping has made it, or if something was saved since that would be
  ///   lost, unless that is wanted.
  static func run(
    _ path: String, _ backup: String, _ arguments: ParsedArguments, _ console: any Console
  ) throws(CommandFailure) {
    let isRehearsal = arguments.has("dry-run")
    try BackupCommand.checkPlace(backup, of: path)
    let (identifier, token) = try CommandStore.with(backup, for: .inspecting, console) {
      ($0.identifier, $0.coordinator.currentPersistentHistoryToken())
    }
    let (lost, newest) = try CommandStore.with(path, for: isRehearsal ? .inspecting : .reading, console) {
      try later(than: token, of: identifier, $0, "\(backup): this is no backup of \(path), but another store")
    }
    guard !isRehearsal else {
      for sentence in lost.isEmpty ? ["nothing was saved after the backup"] : lost {
        try console.writeLine(sentence)
      }
      return try console.writeLine(
        "the store would be as it was when the backup was made; nothing was changed")
    }
    guard lost.isEmpty || arguments.has("force") else {
      throw CommandFailure.data(
        "\(path): \(lost.joined(separator: "; ")); --force replaces the store all the same")
    }
    if let kept = arguments.value("backup") {
      guard CommandStore.resolved(kept) != CommandStore.resolved(backup) else {
        throw .usage("\(kept): this is the backup to go back to; name another directory with --backup")
      }
      try replace(path, by: backup, keeping: kept, console)
    } else {
      try GraphFailure.catching(path) {
        do {
          try replace(path, by: backup, ifUnchangedSince: arguments.has("force") ? nil : newest)
        } catch let error as HeartwoodError where error.isSaveSinceToken {
          throw CommandFailure.data("\(error.message); --force replaces the store all the same")
        }
      }
    }
    try console.writeLine("the store is as it was when the backup was made")
  }

  /// The transactions that were saved after a backup, in sentences, and the end of the store's history.
  ///
  /// - Parameters:
  ///   - token: The end of the backup's history.
  ///   - identifier: The identifier of the backup.
  ///   - refusal: The message for a store that is another one.
  private static func later(
    than token: PersistentHistoryToken?, of identifier: String, _ store: CommandStore, _ refusal: String
  ) throws -> (lost: [String], newest: PersistentHistoryToken?) {
    let former = try store.coordinator.formerStore()
    // A mapping has made another store, whose history begins with the migration.
    let isMapped = store.identifier != identifier
    guard !isMapped || former?.identifier == identifier else { throw CommandFailure.data(refusal) }
    let request = PersistentHistoryChangeRequest.fetchHistory(after: isMapped ? nil : token)
    let transactions = try store.context.execute(request).transactions
    // Transactions of the migration itself are to be undone.
    let own = try store.coordinator.transactionsOfMigrations()
    let saved = transactions.count { !own.contains($0.transactionNumber) }
    var lost: [String] = []
    if isMapped, former?.isSaved(after: token) == true {
      lost.append("something was saved between the backup and the migration, and would be lost")
    }
    if saved > 0 {
      let verb = saved == 1 ? "was" : "were"
      lost.append("\(Amount.text(saved, "transaction")) \(verb) saved after the backup, and would be lost")
    }
    let end = isMapped ? store.coordinator.currentPersistentHistoryToken() : token
    return (lost, transactions.last?.token ?? end)
  }

  private static func replace(
    _ path: String, by backup: String, ifUnchangedSince token: PersistentHistoryToken?
  ) throws {
    try PersistentStoreCoordinator(managedObjectModel: ManagedObjectModel()).replacePersistentStore(
      at: CommandStore.url(path), withPersistentStoreFrom: CommandStore.url(backup),
      ifUnchangedSince: token)
  }

  /// How often a store is backed up again because something was saved to it since.
  private static let mostBackups = 20

  /// Replaces a store by its backup once another backup has all that was saved to it.
  private static func replace(
    _ path: String, by backup: String, keeping kept: String, _ console: any Console
  ) throws(CommandFailure) {
    var rest = mostBackups
    while true {
      try BackupCommand.backUp(path, to: kept, console)
      let newest = try CommandStore.with(kept, for: .inspecting, console) {
        $0.coordinator.currentPersistentHistoryToken()
      }
      let isReplaced = try GraphFailure.catching(path) {
        do {
          try replace(path, by: backup, ifUnchangedSince: newest)
          return true
        } catch let error as HeartwoodError where error.isSaveSinceToken {
          guard rest > 1 else {
            throw CommandFailure.data(
              "\(error.message): something was saved after each of \(mostBackups) backups")
          }
          return false
        }
      }
      if isReplaced { return }
      rest -= 1
    }
  }
}

extension HeartwoodError {
  /// Whether a store was not replaced because something was saved to it: the request is refused, and no disk has failed.
  fileprivate var isSaveSinceToken: Bool { code == .persistentStoreSave && underlying == nil }
}
