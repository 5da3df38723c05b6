import Foundation
import Heartwood
import HeartwoodPostgres

/// Saves until it is told to stop. Each save counts a shared counter up, moves money between accounts and makes an object.
struct ClusterWorker {
  private let bank: Bank
  private let worker: Int64
  private let ledger: FileHandle
  private let stop: String
  private let context: ManagedObjectContext
  private var (saved, conflicts, asked, absent, failures) = (0, 0, 0, 0, 0)

  init(_ bank: Bank, _ worker: Int64, ledger: String, stop: String) throws {
    (self.bank, self.worker, self.stop) = (bank, worker, stop)
    _ = FileManager.default.createFile(atPath: ledger, contents: nil)
    self.ledger = try FileHandle(forWritingTo: URL(fileURLWithPath: ledger))
    context = bank.container.newBackgroundContext()
  }

  mutating func work() throws {
    var number: Int64 = 0
    while !FileManager.default.fileExists(atPath: stop) {
      number += 1
      let counter = "c\(Int.random(in: 0..<Bank.counters))"
      try save(number, counter)
      try ledger.write(contentsOf: Data("\(worker) \(number) \(counter)\n".utf8))
      saved += 1
    }
    print(
      "process \(worker): \(saved) saves, \(conflicts) conflicts, \(asked) asked later, \(absent) of them not there, \(failures) failures"
    )
  }

  /// Saves once, however often that needs to be tried.
  private mutating func save(_ number: Int64, _ counter: String) throws {
    while true {
      do {
        context.reset()
        try change(number, counter)
        try context.save()
        return
      } catch let error as HeartwoodError {
        if error.isOutcomeUnknown {
          guard let id = error.postgresTransaction else { throw error }
          asked += 1
          if ask(id) == .committed { return }
          absent += 1
        } else if error.code == .managedObjectMerge || error.code == .persistentStoreSaveConflicts {
          conflicts += 1
        } else if [.persistentStoreSave, .persistentStoreOperation, .persistentStoreTimeout].contains(
          error.code)
        {
          failures += 1
          print("process \(worker): \(error)")
        } else {
          throw error
        }
      }
    }
  }

  /// Asks until there is an answer.
  private func ask(_ id: PostgresTransactionID) -> PostgresStore.Outcome {
    while true {
      if let outcome = try? bank.store.outcome(of: id), outcome != .unknown { return outcome }
    }
  }

  private func change(_ number: Int64, _ counter: String) throws {
    guard let shared = try context.fetch(Counter.self, where: { $0.name == counter }).first else {
      throw HeartwoodError(.coreData, "the counter \(counter) is not there")
    }
    shared.value += 1
    let accounts = try context.fetch(Account.self).shuffled()
    let amount = Int64.random(in: 1...20)
    accounts[0].balance -= amount
    accounts[1].balance += amount
    let entry = Entry(context: context)
    (entry.worker, entry.number, entry.counter) = (worker, number, counter)
  }
}

/// Compares the store with the ledgers.
struct ClusterCheck {
  private let bank: Bank
  private let ledgers: [String]

  init(_ bank: Bank, ledgers: [String]) { (self.bank, self.ledgers) = (bank, ledgers) }

  func passes() throws -> Bool {
    let lines = try ledgers.flatMap { path in
      try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n").map(String.init)
    }
    let context = bank.container.newBackgroundContext()
    let entries = try context.fetch(Entry.self).map { "\($0.worker) \($0.number) \($0.counter)" }
    let (told, found) = (Set(lines), Set(entries))
    let sum = try context.fetch(Account.self).map(\.balance).reduce(0, +)
    var counts: [String: Int64] = [:]
    for line in lines { counts[String(line.split(separator: " ")[2]), default: 0] += 1 }
    var isRight = true
    func check(_ what: String, _ found: some Equatable, _ wanted: some Equatable) {
      let isSame = "\(found)" == "\(wanted)"
      print("\(isSame ? "right" : "WRONG"): \(what): \(found)\(isSame ? "" : ", not \(wanted)")")
      isRight = isRight && isSame
    }
    check("saves that were told to be there and are not", told.subtracting(found).count, 0)
    check("saves that are there and were not told", found.subtracting(told).count, 0)
    check("saves", entries.count, lines.count)
    check("sum of the accounts", sum, Int64(Bank.accounts) * Bank.balance)
    for counter in try context.fetch(Counter.self, sort: [.ascending(\.name)]) {
      check("counter \(counter.name)", counter.value, counts[counter.name] ?? 0)
    }
    return isRight
  }
}
