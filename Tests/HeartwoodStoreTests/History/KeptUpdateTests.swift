import Foundation
import HeartwoodFaults
import TestSupport
import Testing

@testable import Heartwood

@Suite struct `Former values in the history` {
  private final class Ticket: ManagedObject {
    @Attribute(.preservesValueInHistoryOnUpdate) var status = "new"
    @Attribute([.preservesValueInHistoryOnUpdate, .preservesValueInHistoryOnDeletion]) var priority: Int64?
    @Attribute([.preservesValueInHistoryOnUpdate, .allowsExternalStorage]) var picture: Data?
    @Attribute var note: String?
  }

  private func open(_ url: URL) throws -> PersistentContainer {
    try PersistentContainer(name: "Tickets", types: [Ticket.self], at: url)
  }

  private func changes(_ container: PersistentContainer) throws -> [PersistentHistoryChange] {
    try container.history().flatMap { $0.changes ?? [] }
  }

  @Test func `an audit trail of a state is one fetch of the history`() throws {
    let folder = try TemporaryFolder()
    var container = try open(folder.store)
    let context = container.newBackgroundContext()
    let ticket = Ticket(context: context)
    try context.save()
    for state in ["review", "done", "review"] {
      ticket.status = state
      ticket.note = "unseen"
      try context.save()
    }
    try container.close()
    container = try open(folder.store)
    let request = PersistentHistoryChangeRequest.fetchHistory(after: nil as PersistentHistoryToken?)
    request.changePredicate = try FormatPredicate("updatedPropertyNames CONTAINS ',status,'")
    let found = try container.newBackgroundContext().execute(request).changes
    let steps = found.map { [$0.formerValues["status"] as? String, $0.newValues["status"] as? String] }
    #expect(steps == [["new", "review"], ["review", "done"], ["done", "review"]])
    #expect(found.allSatisfy { $0.formerValues["note"] == nil && $0.newValues.count == 1 })
    try container.close()
  }

  /// Random changes, also of nil and of data outside the row, beside the values that the tickets had.
  @Test(arguments: 1...4) func `each change has the values before and after it`(seed: UInt64) throws {
    var random = SplitMix64(seed: seed)
    let folder = try TemporaryFolder()
    let container = try open(folder.store)
    let context = container.newBackgroundContext()
    let tickets = (0..<5).map { _ in Ticket(context: context) }
    try context.save()
    var expected: [[String: [String]]] = []
    func text(_ value: Any?) -> String {
      value.map { "\(($0 as? Data)?.hashValue.description ?? "\($0)")" } ?? "nil"
    }
    let start = try #require(container.currentHistoryToken)
    for _ in 0..<40 {
      let ticket = tickets[random.below(5)]
      let before = [ticket.status, ticket.priority as Any?, ticket.picture as Any?].map(text)
      if random.below(2) == 0 { ticket.status = ["new", "review", "done"][random.below(3)] }
      if random.below(2) == 0 { ticket.priority = random.below(3) == 0 ? nil : Int64(random.below(9)) }
      if random.below(3) == 0 {
        ticket.picture =
          random.below(3) == 0
          ? nil : Data(repeating: UInt8(random.below(9)), count: [10, 50_000][random.below(2)])
      }
      if random.below(3) == 0 { ticket.note = "\(random.below(100))" }
      let after = [ticket.status, ticket.priority as Any?, ticket.picture as Any?].map(text)
      let newest = container.currentHistoryToken
      try context.save()
      guard container.currentHistoryToken != newest else { continue }
      var change: [String: [String]] = [:]
      for (place, name) in ["status", "priority", "picture"].enumerated() where before[place] != after[place]
      {
        change[name] = [before[place], after[place]]
      }
      expected.append(change)
    }
    let found = try container.history(after: start).flatMap { $0.changes ?? [] }
    let values = found.map { change in
      Dictionary(
        Set(change.formerValues.keys).union(change.newValues.keys).map {
          ($0, [text(change.formerValues[$0]), text(change.newValues[$0])])
        }, uniquingKeysWith: { $1 })
    }
    #expect(values == expected, "seed \(seed)")
    #expect(try container.persistentStoreCoordinator.verify().findings.isEmpty)
    try container.close()
  }

  @Test func `batch updates keep former values, and a record without them has the first format`() throws {
    let folder = try TemporaryFolder()
    let container = try open(folder.store)
    let context = container.newBackgroundContext()
    for number in 0..<3 { Ticket(context: context).priority = Int64(number) }
    try context.save()
    let update = BatchUpdateRequest(entityName: "Ticket")
    update.propertiesToUpdate = ["status": "done"]
    _ = try context.execute(update)
    let found = try changes(container).filter { $0.changeType == .update }
    #expect(found.count == 3)
    #expect(
      found.allSatisfy {
        $0.formerValues["status"] as? String == "new" && $0.newValues["status"] as? String == "done"
      })
    try context.performAndWait {
      for ticket in try context.fetch(FetchRequest<Ticket>()) { context.delete(ticket) }
      try context.save()
    }
    let deleted = try changes(container).filter { $0.changeType == .delete }
    #expect(deleted.allSatisfy { $0.tombstone?["priority"] != nil && $0.formerValues.isEmpty })
    try container.close()
  }
}
