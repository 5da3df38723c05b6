import Foundation
import SwiftData
import Testing

enum Bank {
  @Model
  final class Deposit {
    var number: Int
    init(_ number: Int) { self.number = number }
  }

  @Model
  final class Payment {
    var number: Int
    init(_ number: Int) { self.number = number }
  }

  /// A container of two stores.
  static func container() throws -> ModelContainer {
    try ModelContainer(
      for: Schema([Deposit.self, Payment.self]),
      configurations: [
        ModelConfiguration("deposits", schema: Schema([Deposit.self]), isStoredInMemoryOnly: true),
        ModelConfiguration("payments", schema: Schema([Payment.self]), isStoredInMemoryOnly: true),
      ])
  }
}

/// The history of a container with several configurations.
struct SeveralStoresHistoryTests {
  let context: ModelContext

  init() throws { context = ModelContext(try Bank.container()) }

  private func save(_ model: any PersistentModel) throws -> PersistentIdentifier {
    context.insert(model)
    try context.save()
    return model.persistentModelID
  }

  /// Keeps the token of what it has read.
  struct Consumer {
    var token: DefaultHistoryToken?
    var limit: UInt64 = 0
    var form = 0

    mutating func read(_ context: ModelContext) throws -> [PersistentIdentifier] {
      var descriptor = HistoryDescriptor<DefaultHistoryTransaction>()
      descriptor.fetchLimit = limit
      if let token { descriptor.predicate = condition(token) }
      let transactions = try context.fetchHistory(descriptor)
      token = transactions.last?.token ?? token
      return transactions.flatMap { $0.changes.map(\.changedPersistentIdentifier) }
    }

    private func condition(_ token: DefaultHistoryToken) -> Predicate<DefaultHistoryTransaction> {
      switch form {
      case 0: #Predicate { $0.token > token }
      case 1: #Predicate { token < $0.token }
      case 2: #Predicate { !($0.token <= token) }
      case 3: #Predicate { !(token >= $0.token || $0.author != "test") }
      default: #Predicate { $0.token > token && $0.author == "test" }
      }
    }
  }

  // SWD-30, SWD-32
  @Test func `a consumer that keeps its token gets each save to either store once`() throws {
    var consumer = Consumer()
    for number in 0..<4 {
      for model in [Bank.Deposit(number), Bank.Payment(number)] as [any PersistentModel] {
        let id = try save(model)
        let read = try consumer.read(context)
        #expect(read == [id])
      }
    }
    let read = try consumer.read(context)
    #expect(read.isEmpty)
  }

  // SWD-30, SWD-32
  @Test(arguments: 0..<16) func `consumers that read at any time lose nothing and get nothing twice`(
    seed: Int
  ) throws {
    var random = SeededGenerator(seed: UInt64(seed))
    context.author = "test"
    var consumer = Consumer(limit: seed % 3 == 0 ? 2 : 0, form: seed % 5)
    var (saved, read): ([PersistentIdentifier], [PersistentIdentifier]) = ([], [])
    for number in 0..<40 {
      switch Int.random(in: 0..<5, using: &random) {
      case 0, 1: saved.append(try save(Bank.Deposit(number)))
      case 2, 3: saved.append(try save(Bank.Payment(number)))
      default:
        read += try consumer.read(context)
        // It may be kept in a file.
        let coded = try JSONEncoder().encode(consumer.token)
        consumer.token = try JSONDecoder().decode(DefaultHistoryToken?.self, from: coded)
      }
    }
    while true {
      let last = try consumer.read(context)
      if last.isEmpty { break }
      read += last
    }
    #expect(read == saved)
  }

  // SWD-32
  @Test func `tokens of two stores are in the order of the saves`() throws {
    for number in 0..<3 {
      _ = try save(Bank.Payment(number))
      _ = try save(Bank.Deposit(number))
    }
    let tokens = (try context.fetchHistory() as [DefaultHistoryTransaction]).map(\.token)
    #expect(tokens.shuffled().sorted() == tokens)
    for (earlier, later) in zip(tokens, tokens.dropFirst()) { #expect(earlier < later && later > earlier) }
    var descriptor = HistoryDescriptor<DefaultHistoryTransaction>()
    descriptor.sortBy = [SortDescriptor(\.token, order: .reverse)]
    #expect(try context.fetchHistory(descriptor).map(\.token) == tokens.reversed())
  }

  // SWD-30
  @Test func `what a consumer has read is deleted, and nothing else`() throws {
    typealias Descriptor = HistoryDescriptor<DefaultHistoryTransaction>
    for number in 0..<3 {
      _ = try save(Bank.Deposit(number))
      _ = try save(Bank.Payment(number))
    }
    let all = try context.fetchHistory(Descriptor())
    let (first, token) = (all[0].token, all[3].token)
    try context.deleteHistory(Descriptor(predicate: #Predicate { $0.token <= token }))
    #expect(try context.fetchHistory(Descriptor()).map(\.token) == all[4...].map(\.token))
    #expect(try context.fetchHistory(Descriptor(predicate: #Predicate { $0.token > token })).count == 2)
    #expect {
      try context.fetchHistory(Descriptor(predicate: #Predicate { $0.token > first }))
    } throws: {
      SwiftDataError.historyTokenExpired ~= $0
    }
  }

  // SWD-30
  @Test func `a deletion in one store leaves the history of another one, and the newest transaction`() throws
  {
    for number in 0..<3 {
      context.author = "deposits"
      _ = try save(Bank.Deposit(number))
      context.author = "payments"
      _ = try save(Bank.Payment(number))
    }
    func left() throws -> [String?] {
      (try context.fetchHistory() as [DefaultHistoryTransaction]).map(\.author)
    }
    for _ in 0..<2 {
      try context.deleteHistory(
        HistoryDescriptor<DefaultHistoryTransaction>(predicate: #Predicate { $0.author == "payments" }))
      #expect(try left() == ["deposits", "deposits", "deposits", "payments"])
    }
    for _ in 0..<3 {
      try context.deleteHistory(HistoryDescriptor<DefaultHistoryTransaction>())
      #expect(try left() == ["deposits", "payments"])
    }
  }
}
