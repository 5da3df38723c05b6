import Foundation
import SwiftData
import Testing

struct HistoryTests {
  let container: ModelContainer
  let context: ModelContext

  init() throws {
    container = try Library.container()
    context = ModelContext(container)
    context.author = "test"
  }

  // SWD-02, SWD-31, SWD-33
  @Test func `each save is a transaction with its changes`() throws {
    let project = Project(key: "P")
    context.insert(project)
    try context.save()
    let id = project.persistentModelID
    project.key = "Q"
    try context.save()
    context.delete(project)
    try context.save()
    let history: [DefaultHistoryTransaction] = try context.fetchHistory()
    #expect(history.count == 3 && history.allSatisfy { $0.author == "test" && $0.changes.count == 1 })
    #expect(history.flatMap { $0.changes.map(\.changedPersistentIdentifier) } == [id, id, id])
    guard case .insert(let insert as DefaultHistoryInsert<Project>) = history[0].changes[0],
      case .update(let update as DefaultHistoryUpdate<Project>) = history[1].changes[0],
      case .delete(let delete as DefaultHistoryDelete<Project>) = history[2].changes[0]
    else {
      Issue.record("the changes are of other kinds")
      return
    }
    #expect(insert.changedPersistentIdentifier == id)
    #expect(update.updatedAttributes.contains { $0 == \Project.key })
    #expect(delete.tombstone[\.key] == "Q" && delete.tombstone.map { "\($0.value)" } == ["Q"])
    #expect(!history[0].processIdentifier.isEmpty && history[0].storeIdentifier == id.storeIdentifier)
  }

  @Test func `changes of a subclass name inherited properties by its own key paths`() throws {
    let garage = ModelContext(try HistoryCar.container())
    let car = HistoryRaceCar(name: "A", doors: 4, laps: 1)
    garage.insert(car)
    try garage.save()
    (car.name, car.doors, car.laps) = ("B", 5, 2)
    try garage.save()
    garage.delete(car)
    try garage.save()
    let changes = try garage.fetchHistory(HistoryDescriptor<DefaultHistoryTransaction>()).flatMap(\.changes)
    guard case .update(let update as DefaultHistoryUpdate<HistoryRaceCar>) = changes[1],
      case .delete(let delete as DefaultHistoryDelete<HistoryRaceCar>) = changes[2]
    else {
      Issue.record("the changes are of other kinds")
      return
    }
    #expect(
      Set(update.updatedAttributes.map { $0 as AnyKeyPath })
        == [\HistoryRaceCar.name, \HistoryRaceCar.doors, \HistoryRaceCar.laps])
    #expect(delete.tombstone[\.name] == "B" && delete.tombstone[\.doors] == 5)
  }

  // SWD-27, SWD-30, SWD-32
  @Test func `the history after a token, by author, sorted and limited`() throws {
    for index in 0..<6 {
      context.author = index % 2 == 0 ? "even" : "odd"
      context.insert(Author(name: "\(index)"))
      try context.save()
    }
    let all: [DefaultHistoryTransaction] = try context.fetchHistory()
    let token = all[2].token
    var descriptor = HistoryDescriptor<DefaultHistoryTransaction>(predicate: #Predicate { $0.token > token })
    #expect(try context.fetchHistory(descriptor).count == 3)
    descriptor.predicate = #Predicate { $0.token > token && $0.author == "odd" }
    #expect(try context.fetchHistory(descriptor).count == 2)
    descriptor.sortBy = [SortDescriptor(\.transactionIdentifier, order: .reverse)]
    descriptor.fetchLimit = 1
    #expect(try context.fetchHistory(descriptor).map(\.token) == [all[5].token])
    #expect(all[1].token < all[2].token && all[1].token != all[2].token)
    let decoded = try JSONDecoder().decode(DefaultHistoryToken.self, from: JSONEncoder().encode(token))
    #expect(decoded == token && decoded.tokenValue == token.tokenValue)
    #expect(token.tokenValue?.count == 1 && Set(all).count == all.count)
    #expect(token.tokenValue?[all[0].storeIdentifier] != nil)
  }

  // SWD-30, SWD-40
  @Test func `a deleted part of the history has expired`() throws {
    for index in 0..<4 {
      context.insert(Author(name: "\(index)"))
      try context.save()
    }
    let all: [DefaultHistoryTransaction] = try context.fetchHistory()
    let (first, third) = (all[0].token, all[2].token)
    try context.deleteHistory(
      HistoryDescriptor<DefaultHistoryTransaction>(predicate: #Predicate { $0.token < third }))
    #expect(try context.fetchHistory(HistoryDescriptor<DefaultHistoryTransaction>()).count == 2)
    #expect {
      try context.fetchHistory(
        HistoryDescriptor<DefaultHistoryTransaction>(predicate: #Predicate { $0.token > first }))
    } throws: {
      SwiftDataError.historyTokenExpired ~= $0
    }
  }

  // SWD-30
  @Test func `a deletion deletes what it asks for only, and not the newest transaction`() throws {
    for (index, author) in ["app", "sync", "app", "sync", "sync"].enumerated() {
      context.author = author
      context.insert(Author(name: "\(index)"))
      try context.save()
    }
    let first = try #require((try context.fetchHistory() as [DefaultHistoryTransaction]).first).token
    try context.deleteHistory(
      HistoryDescriptor<DefaultHistoryTransaction>(predicate: #Predicate { $0.author == "sync" }))
    let left = try context.fetchHistory(
      HistoryDescriptor<DefaultHistoryTransaction>(predicate: #Predicate { $0.token >= first }))
    #expect(left.map(\.author) == ["app", "app", "sync"])
    #expect(left.compactMap(\.changes.first).count == 3)
  }

  // SWD-30
  @Test(arguments: 0..<8) func `a condition reads what is after its token only, however it is written`(
    form: Int
  ) throws {
    for index in 0..<4 {
      context.insert(Author(name: "\(index)"))
      try context.save()
    }
    let all: [DefaultHistoryTransaction] = try context.fetchHistory()
    let (first, third) = (all[0].token, all[2].token)
    #expect(
      try context.fetchHistory(HistoryDescriptor(predicate: after(third, form))).map(\.token) == [
        all[3].token
      ])
    try context.deleteHistory(
      HistoryDescriptor<DefaultHistoryTransaction>(predicate: #Predicate { $0.token < third }))
    #expect {
      try context.fetchHistory(HistoryDescriptor(predicate: after(first, form)))
    } throws: {
      SwiftDataError.historyTokenExpired ~= $0
    }
  }

  // SWD-30
  @Test func `a condition begins at the earliest transaction that may satisfy it`() throws {
    for index in 0..<6 {
      context.insert(Author(name: "\(index)"))
      try context.save()
    }
    let all: [DefaultHistoryTransaction] = try context.fetchHistory()
    let (second, fourth) = (all[1].token, all[3].token)
    let (before, middle) = (all[0].transactionIdentifier, all[1].transactionIdentifier)
    let (later, last) = (all[2].transactionIdentifier, all[3].transactionIdentifier)
    let cases: [(Predicate<DefaultHistoryTransaction>, Int64?, [Int])] = [
      (#Predicate { $0.token >= second }, before, [1, 2, 3, 4, 5]),
      (#Predicate { second <= $0.token }, before, [1, 2, 3, 4, 5]),
      (#Predicate { !($0.token < second) }, before, [1, 2, 3, 4, 5]),
      (#Predicate { $0.token == fourth }, later, [3]),
      (#Predicate { !(fourth != $0.token) }, later, [3]),
      (#Predicate { $0.token > second && $0.token >= fourth }, later, [3, 4, 5]),
      (#Predicate { $0.token > fourth && $0.token > second }, last, [4, 5]),
      (#Predicate { $0.token > second || $0.token > fourth }, middle, [2, 3, 4, 5]),
      (#Predicate { $0.token == fourth || $0.token == second }, before, [1, 3]),
      (#Predicate { !($0.token < second || $0.token < fourth) }, later, [3, 4, 5]),
      (#Predicate { !($0.token <= second && $0.token <= fourth) }, middle, [2, 3, 4, 5]),
      (#Predicate { ($0.token > fourth) != false }, last, [4, 5]),
      (#Predicate { $0.token > fourth || $0.author == "test" }, nil, [0, 1, 2, 3, 4, 5]),
      (#Predicate { $0.token <= second }, nil, [0, 1]),
      (#Predicate { $0.token != second }, nil, [0, 2, 3, 4, 5]),
    ]
    for (predicate, start, found) in cases {
      let numbers = HistoryStart(of: predicate)?.position.transactionNumbersByStore.values.map { Int64($0) }
      #expect(numbers == start.map { [$0] }, "\(predicate)")
      #expect(
        try context.fetchHistory(HistoryDescriptor(predicate: predicate)).map(\.token)
          == found.map { all[$0].token }, "\(predicate)")
    }
  }

  // SWD-30
  @Test func `a condition on a transaction whose history is deleted finds what is left`() throws {
    for index in 0..<5 {
      context.insert(Author(name: "\(index)"))
      try context.save()
    }
    let all: [DefaultHistoryTransaction] = try context.fetchHistory()
    let (first, second, third) = (all[0].token, all[1].token, all[2].token)
    try context.deleteHistory(
      HistoryDescriptor<DefaultHistoryTransaction>(predicate: #Predicate { $0.token <= third }))
    let left = all[3...].map(\.token)
    let found: [(Predicate<DefaultHistoryTransaction>, [DefaultHistoryToken])] = [
      (#Predicate { $0.token > third }, left), (#Predicate { $0.token >= third }, left),
      (#Predicate { $0.token >= first }, left), (#Predicate { $0.token == second }, []),
    ]
    for (predicate, tokens) in found {
      #expect(try context.fetchHistory(HistoryDescriptor(predicate: predicate)).map(\.token) == tokens)
    }
    #expect {
      try context.fetchHistory(
        HistoryDescriptor<DefaultHistoryTransaction>(
          predicate: #Predicate { $0.token > first || $0.token > third }))
    } throws: {
      SwiftDataError.historyTokenExpired ~= $0
    }
  }

  private func after(_ token: DefaultHistoryToken, _ form: Int) -> Predicate<DefaultHistoryTransaction> {
    switch form {
    case 0: #Predicate { $0.token > token }
    case 1: #Predicate { token < $0.token }
    case 2: #Predicate { !($0.token <= token) }
    case 3: #Predicate { !(token >= $0.token) }
    case 4: #Predicate { $0.author == "test" && !(!($0.token > token)) }
    case 5: #Predicate { !($0.token <= token || $0.author != "test") }
    case 6: #Predicate { ($0.token <= token) == false }
    default: #Predicate { ($0.token > token) == true }
    }
  }
}

@Model class HistoryVehicle {
  @Attribute(.preserveValueOnDeletion) var name: String
  init(name: String) { self.name = name }
}

@Model class HistoryCar: HistoryVehicle {
  @Attribute(.preserveValueOnDeletion) var doors: Int
  init(name: String, doors: Int) {
    self.doors = doors
    super.init(name: name)
  }

  static func container() throws -> ModelContainer {
    try ModelContainer(
      for: HistoryVehicle.self, HistoryCar.self, HistoryRaceCar.self,
      configurations: ModelConfiguration(isStoredInMemoryOnly: true))
  }
}

@Model final class HistoryRaceCar: HistoryCar {
  var laps: Int
  init(name: String, doors: Int, laps: Int) {
    self.laps = laps
    super.init(name: name, doors: doors)
  }
}
