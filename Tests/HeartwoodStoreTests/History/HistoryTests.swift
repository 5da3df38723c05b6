import Foundation
import GraphTestSupport
import Heartwood
import TestSupport
import Testing

@Suite struct `History` {
  private let container: PersistentContainer
  private let context: ManagedObjectContext

  init() throws {
    container = try PersistentContainer(
      name: "Companies", types: historyTypes, at: URL(fileURLWithPath: "/dev/null"))
    context = container.newBackgroundContext()
  }

  @Test func `each save is one transaction with its author, name and changes`() throws {
    context.name = "import"
    context.transactionAuthor = "Ada"
    let ship = Ship(context: context)
    ship.name = "Argo"
    try context.save()
    context.transactionAuthor = "Eve"
    ship.name = "Beagle"
    ship.sail = "white"
    try context.save()
    context.delete(ship)
    try context.save()

    let history = try container.history()
    #expect(history.map(\.author) == ["Ada", "Eve", "Eve"])
    #expect(history.allSatisfy { $0.contextName == "import" })
    #expect(history.map(\.transactionNumber) == history.map(\.transactionNumber).sorted())
    let changes = history.compactMap(\.changes?.first)
    #expect(changes.map(\.changeType) == [.insert, .update, .delete])
    #expect(Set(changes.map(\.changedObjectID)).count == 1)
  }

  @Test func `an update names its properties, and only a delete has a tombstone`() throws {
    let ship = Ship(context: context)
    ship.name = "Argo"
    ship.masts = 2
    try context.save()
    ship.sail = "white"
    try context.save()
    context.delete(ship)
    try context.save()
    let changes = try container.history().compactMap(\.changes?.first)
    #expect(changes.map { $0.updatedProperties.map { Set($0.map(\.name)) } } == [nil, ["sail"], nil])
    #expect(changes[0].tombstone == nil)
    #expect(changes[1].tombstone == nil)
    let tombstone = try #require(changes[2].tombstone)
    #expect(tombstone["name"] as? String == "Argo")
    #expect(tombstone["masts"] as? Int64 == 2)
    #expect(tombstone["sail"] == nil)
  }

  @Test func `a changed relationship is among the updated properties`() throws {
    let ship = Ship(context: context)
    let harbour = Harbour(context: context)
    try context.save()
    let token = container.currentHistoryToken
    ship.harbours.insert(harbour)
    try context.save()
    let changes = try container.history(after: token).flatMap { $0.changes ?? [] }
    #expect(Set(changes.flatMap { $0.updatedProperties ?? [] }.map(\.name)) == ["harbours", "ships"])
  }

  @Test func `a fetch after a token returns only later transactions`() throws {
    Ship(context: context).name = "Argo"
    try context.save()
    let token = try #require(container.currentHistoryToken)
    #expect(try container.history(after: token).isEmpty)
    try context.save()
    #expect(try container.history(after: token).isEmpty, "a save without changes makes no transaction")
    Ship(context: context).name = "Beagle"
    try context.save()
    let news = try container.history(after: token)
    #expect(news.count == 1)
    #expect(try container.history(after: news.last?.token).isEmpty)
    #expect(token < news[0].token)
  }

  @Test func `a request may start from a transaction or a date, and select its contents`() throws {
    for name in ["Argo", "Beagle", "Calypso"] {
      Ship(context: context).name = name
      context.transactionAuthor = name
      try context.save()
    }
    let first = try #require(try container.history().first)
    #expect(try context.execute(.fetchHistory(after: first)).transactions.count == 2)
    #expect(try context.execute(.fetchHistory(after: Date.distantPast)).count == 3)
    #expect(try context.execute(.fetchHistory(after: Date.distantFuture)).count == 0)

    let request = PersistentHistoryChangeRequest.fetchHistory(after: nil as PersistentHistoryToken?)
    request.resultType = .count
    #expect(try context.execute(request).result as? Int == 3)
    request.resultType = .transactionsOnly
    #expect(try context.execute(request).transactions.allSatisfy { $0.changes == nil })
    request.resultType = .changesOnly
    #expect(try context.execute(request).changes.count == 3)
    request.resultType = .objectIDs
    #expect(try context.execute(request).objectIDs.count == 3)
    request.author = "Beagle"
    #expect(try context.execute(request).objectIDs.count == 1)
  }

  @Test func `an object that is inserted and deleted between two saves leaves no trace`() throws {
    let ship = Ship(context: context)
    context.delete(ship)
    try context.save()
    #expect(try container.history().isEmpty)
  }

  @Test func `a token survives reopening`() throws {
    let folder = try TemporaryFolder()
    let open = { try PersistentContainer(name: "Ships", types: historyTypes, at: folder.store) }
    var container = try open()
    var context = container.newBackgroundContext()
    Ship(context: context).name = "Argo"
    try context.save()
    let data = try JSONEncoder().encode(try #require(container.currentHistoryToken))
    Ship(context: context).name = "Beagle"
    try context.save()
    try container.close()

    container = try open()
    let token = try JSONDecoder().decode(PersistentHistoryToken.self, from: data)
    #expect(try container.history(after: token).count == 1)
    context = container.newBackgroundContext()
    Ship(context: context).name = "Calypso"
    try context.save()
    #expect(try container.history(after: token).count == 2)
    #expect(try container.history().count == 3)
    try container.close()
  }

  @Test func `a token of another store is refused`() throws {
    let other = try PersistentContainer(
      name: "Other", types: historyTypes, at: URL(fileURLWithPath: "/dev/null"))
    let token = other.currentHistoryToken
    let error = #expect(throws: HeartwoodError.self) { try container.history(after: token) }
    #expect(error?.code == .persistentHistoryTokenExpired)
  }
}

final class Ship: ManagedObject {
  @Attribute(.preservesValueInHistoryOnDeletion) var name = ""
  @Attribute(.preservesValueInHistoryOnDeletion) var masts: Int64?
  @Attribute var sail: String?
  @Relationship(inverse: { $0.ships }) var harbours: Set<Harbour>
}

final class Harbour: ManagedObject {
  @Attribute var name = ""
  @Relationship(inverse: { $0.harbours }) var ships: Set<Ship>
}

private let historyTypes: [ManagedObject.Type] = [Ship.self, Harbour.self]
