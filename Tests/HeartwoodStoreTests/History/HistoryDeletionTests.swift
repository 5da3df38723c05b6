import Foundation
import GraphTestSupport
import Heartwood
import HeartwoodFaults
import TestSupport
import Testing

@Suite struct `Deleting and filtering the history` {
  /// A store with saves by two authors.
  private func makeHistory(_ container: PersistentContainer, saves: Int) throws
    -> [PersistentHistoryTransaction]
  {
    let context = container.newBackgroundContext()
    let person = context.makePerson("Ada")
    for number in 1...saves {
      person.age = Int64(number)
      if number % 3 == 0 { _ = context.makeCompany("\(number)") }
      context.transactionAuthor = number % 2 == 0 ? "even" : "odd"
      context.name = "context"
      try context.save()
    }
    return try container.history()
  }

  // HIS-14, HIS-15, T66, T67
  @Test func `deleting before a token keeps its transaction and the later ones, and earlier tokens expire`()
    throws
  {
    let container = try makeContainer()
    let all = try makeHistory(container, saves: 10)
    let context = container.newBackgroundContext()
    let result = try context.execute(.deleteHistory(before: all[4].token))
    #expect(result.count == 4 && result.resultType == .statusOnly)
    #expect(try container.history().map(\.transactionNumber) == all[4...].map(\.transactionNumber))
    #expect(
      try container.history(after: all[4].token).map(\.transactionNumber)
        == all[5...].map(\.transactionNumber))
    #expect(try container.history(after: all[3].token).count == 6)
    let error = heartwoodError { _ = try container.history(after: all[2].token) }
    #expect(error?.code == .persistentHistoryTokenExpired)
    #expect(try container.persistentStoreCoordinator.verify().findings.isEmpty)
    #expect(try context.execute(.deleteHistory(before: all[4].token)).count == 0)
  }

  @Test(arguments: 1...20)
  func `single transactions are deleted but the newest one, and the others stay as they are`(
    seed: UInt64
  ) throws {
    print("random seed \(seed)")
    var random = SplitMix64(seed: seed)
    let folder = try TemporaryFolder()
    var container = try PersistentContainer(name: "Companies", types: companyTypes, at: folder.store)
    let coordinator = { container.persistentStoreCoordinator }
    var model: [Int64: String] = [:]
    for round in 0..<12 {
      for number in 0..<random.below(8) {
        let context = container.newBackgroundContext()
        context.transactionAuthor = random.pick(["a", "b", "c"])
        _ = context.makePerson("\(round) \(number)")
        try context.save()
        let last = try #require(try container.history().last)
        model[last.transactionNumber] = last.author
      }
      let newest = model.keys.max() ?? 0
      let named = model.keys.filter { _ in random.below(3) == 0 } + [Int64(random.below(60))]
      let store = try #require(coordinator().persistentStores.first).identifier
      try coordinator().deleteHistory(of: [store: Set(named.map(UInt64.init))])
      for number in named where number != newest { model[number] = nil }
      let left = try container.history()
      #expect(left.map(\.transactionNumber) == model.keys.sorted())
      #expect(left.allSatisfy { $0.author == model[$0.transactionNumber] && $0.changes?.count == 1 })
      #expect(try coordinator().verify().findings == [])
      if random.below(4) == 0 {
        try container.close()
        container = try PersistentContainer(name: "Companies", types: companyTypes, at: folder.store)
      }
    }
  }

  @Test func `a deletion that is restricted ends before the first transaction that it does not ask for`()
    throws
  {
    let container = try makeContainer()
    let all = try makeHistory(container, saves: 6)
    let context = container.newBackgroundContext()
    let first = try #require(all[0].author)
    let start = try #require(all.firstIndex { $0.author != first })
    let request = PersistentHistoryChangeRequest.deleteHistory(before: all[5].token)
    request.changePredicate = try FormatPredicate("entityName == 'Company'")
    let error = heartwoodError { _ = try context.execute(request) }
    #expect(error?.code == .persistentStoreUnsupportedRequestType)
    request.changePredicate = nil
    request.transactionPredicate = try FormatPredicate("author == 'none'")
    #expect(try context.execute(request).count == 0)
    request.transactionPredicate = try FormatPredicate("author == %@", first)
    #expect(try context.execute(request).count == start)
    let other = PersistentHistoryChangeRequest.deleteHistory(before: Date.distantFuture)
    other.author = all[start].author
    #expect(try context.execute(other).count == 1)
    #expect(
      try container.history().map(\.transactionNumber) == all[(start + 1)...].map(\.transactionNumber))
  }

  // HIS-14
  @Test func `history is deleted before a transaction or a date, and all of it`() throws {
    let container = try makeContainer()
    let all = try makeHistory(container, saves: 6)
    let context = container.newBackgroundContext()
    #expect(try context.execute(.deleteHistory(before: all[1])).count == 1)
    #expect(try context.execute(.deleteHistory(before: all[3].timestamp)).count <= 2)
    #expect(try context.execute(.deleteHistory(before: .distantFuture)).count >= 3)
    #expect(try container.history().isEmpty)
    #expect(try container.persistentStoreCoordinator.verify().findings.isEmpty)
    let token = try #require(container.currentHistoryToken)
    _ = context.makePerson("Bea")
    try context.save()
    #expect(try container.history(after: token).count == 1)
    #expect(try container.persistentStoreCoordinator.verify().findings.isEmpty)
  }

  // HIS-14: using-it 19
  @Test func `deleted history stays deleted after reopening, and its space is reclaimed`() throws {
    let folder = try TemporaryFolder()
    let open = { try PersistentContainer(name: "Companies", types: companyTypes, at: folder.store) }
    var container = try open()
    let token = try #require(try makeHistory(container, saves: 2500).last).token
    let before = try container.persistentStoreCoordinator.reclaim().bytesAfter
    #expect(try container.newBackgroundContext().execute(.deleteHistory(before: token)).count == 2499)
    let after = try container.persistentStoreCoordinator.reclaim().bytesAfter
    #expect(after < before)
    try container.close()
    container = try open()
    #expect(try container.history().count == 1)
    #expect(try container.persistentStoreCoordinator.verify().findings.isEmpty)
    #expect(try container.newBackgroundContext().count(Company.self) == 833)
    try container.close()
  }

  // HIS-10
  @Test func `a request may choose transactions and changes by predicates`() throws {
    let container = try makeContainer()
    let all = try makeHistory(container, saves: 9)
    let context = container.newBackgroundContext()
    let request = PersistentHistoryChangeRequest.fetchHistory(after: nil as PersistentHistoryToken?)
    request.transactionPredicate = try FormatPredicate(
      "author == 'even' AND transactionNumber > %@", all[1].transactionNumber)
    #expect(
      try context.execute(request).transactions.map(\.transactionNumber)
        == [3, 5, 7].map { all[$0].transactionNumber })
    request.transactionPredicate = try FormatPredicate(
      "timestamp >= %@ AND contextName BEGINSWITH 'con'", all[0].timestamp)
    #expect(try context.execute(request).count == 9)
    request.changePredicate = try FormatPredicate("entityName == 'Company' AND changeType == 0")
    let found = try context.execute(request)
    #expect(found.transactions.map(\.transactionNumber) == [2, 5, 8].map { all[$0].transactionNumber })
    #expect(found.changes.allSatisfy { $0.changedObjectID.entity.name == "Company" })
    request.transactionPredicate = try FormatPredicate("unknown == 1")
    #expect(heartwoodError { _ = try context.execute(request) }?.code == .invalidPredicate)
    // HIS-17
    let whole = PersistentHistoryChangeRequest.fetchHistory(after: nil as PersistentHistoryToken?)
    let deletion = PersistentHistoryChangeRequest.deleteHistory(before: Date.distantFuture)
    for request in [whole, deletion] {
      request.affectedStores = []
      #expect(
        heartwoodError { _ = try context.execute(request) }?.code == .persistentStoreUnsupportedRequestType)
    }
    whole.affectedStores = container.persistentStoreCoordinator.persistentStores
    #expect(try context.execute(whole).count == 9)
  }

  @Test func `changes of objects and entities are those that a reader of all changes would choose`() throws {
    let container = try makeContainer()
    let context = container.newBackgroundContext()
    var people = (0..<6).map { context.makePerson("P\($0)") }
    try context.save()
    for number in 0..<20 {
      people[number % people.count].age += 1
      if number % 4 == 0 { _ = context.makeCompany("C\(number)") }
      if number % 7 == 6 { context.delete(people.removeLast()) }
      try context.save()
    }
    let all = try container.history().flatMap { $0.changes ?? [] }
    let uris = Array(Set(all.map { "\($0.changedObjectID)" })).sorted()
    struct Choice {
      let format: String
      let arguments: [any PredicateArgument]
      let isChosen: (PersistentHistoryChange) -> Bool
      init(
        _ format: String, _ arguments: [any PredicateArgument] = [],
        _ isChosen: @escaping (PersistentHistoryChange) -> Bool
      ) { (self.format, self.arguments, self.isChosen) = (format, arguments, isChosen) }
    }
    func uri(_ change: PersistentHistoryChange) -> String { "\(change.changedObjectID)" }
    func isCompany(_ change: PersistentHistoryChange) -> Bool {
      change.changedObjectID.entity.name == "Company"
    }
    var choices = uris.map { wanted in Choice("changedObjectURI == %@", [wanted]) { uri($0) == wanted } }
    let (first, some) = (uris[0], Set(uris.prefix(3)))
    choices.append(Choice("entityName == 'Company'", [], isCompany))
    choices.append(Choice("entityName IN {'Company', 'Person', 'Unknown'}") { _ in true })
    choices.append(Choice("entityName == 'Unknown'") { _ in false })
    choices.append(Choice("changedObjectURI == 'none'") { _ in false })
    choices.append(Choice("changedObjectURI IN %@", [Array(some)]) { some.contains(uri($0)) })
    choices.append(
      Choice("changedObjectURI == %@ AND entityName == 'Company'", [first]) {
        uri($0) == first && isCompany($0)
      })
    choices.append(
      Choice("changedObjectURI == %@ OR changeType == 2", [first]) {
        uri($0) == first || $0.changeType == .delete
      })
    choices.append(Choice("NOT (changedObjectURI == %@)", [first]) { uri($0) != first })
    func text(_ change: PersistentHistoryChange) -> String {
      let names = change.updatedProperties?.map(\.name).sorted() ?? []
      return "\(change.transaction.transactionNumber) \(change.changeID) \(change.changeType) "
        + "\(change.changedObjectID) \(names)"
    }
    for choice in choices {
      let request = PersistentHistoryChangeRequest.fetchHistory(after: nil as PersistentHistoryToken?)
      request.changePredicate = try FormatPredicate(choice.format, argumentArray: choice.arguments)
      let expected = all.filter(choice.isChosen).map(text)
      let found = try context.execute(request)
      #expect(found.changes.map(text) == expected, "\(choice.format)")
      #expect(found.transactions.allSatisfy { $0.changes?.isEmpty == false })
      request.resultType = .count
      #expect(try context.execute(request).count == found.transactions.count, "\(choice.format)")
    }
  }

  // HIS-16
  @Test func `a transaction becomes a notification that a context merges`() throws {
    let container = try makeContainer()
    let (here, there) = (container.newBackgroundContext(), container.newBackgroundContext())
    let theirs = there.makePerson("Ada", age: 1)
    try there.save()
    let mine = try #require(here.object(with: theirs.objectID) as? Person)
    #expect(mine.age == 1)
    let token = container.currentHistoryToken
    theirs.age = 2
    try there.save()
    for transaction in try container.history(after: token) {
      here.mergeChanges(fromContextDidSave: transaction.objectIDNotification())
    }
    #expect(mine.age == 2)
  }
}
