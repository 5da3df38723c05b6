import Foundation
import GraphTestSupport
import Heartwood
import HeartwoodFiles
import Testing

final class Memo: ManagedObject {
  @Attribute(.unique) var number = 0
  @Attribute var title = ""
}

actor Memos: ModelActor {
  let modelExecutor: ContextExecutor
  init(_ container: PersistentContainer) { modelExecutor = ContextExecutor(container.newBackgroundContext()) }

  func rename(_ id: ManagedObjectID, to title: String) throws {
    self[id, as: Memo.self]?.title = title
    try modelContext.save()
  }
}

final class Team: ManagedObject {
  @Relationship(inverse: { $0.team }) var members: Set<Member>
}

final class Member: ManagedObject {
  @Attribute(.unique, validated: .length(3...20), .pattern("[a-z0-9]+")) var login = ""
  @Attribute(validated: .range(0...150)) var age: Int?
  @Attribute var joined: Date?
  @Attribute(validated: .number(atLeast: 0.5, atMost: 4.9)) var share: Float = 1
  @Attribute(validated: .number(atLeast: 0)) var price: Decimal = 0
  @Attribute(validated: .condition("left == NIL OR left >= joined").orElse("left before joining"))
  var left: Date?
  @Relationship(inverse: { $0.members }, count: .required) var team: Team?
  @Attribute var country = ""
  @Attribute var number = 0

  override class var uniquenessConstraints: [[String]] { [["country", "number"]] }

  override func validateValue(_ value: inout Any?, forKey key: String) throws {
    if key == "login", let login = value as? String { value = login.lowercased() }
  }
}

/// `ExampleTests` checks that each line of the articles' examples occurs in this folder.
@Suite struct `Examples of the articles on contexts and validation` {
  private func makeContainer(_ types: [ManagedObject.Type]) throws -> PersistentContainer {
    try PersistentContainer(name: "Memos", types: types, at: URL(fileURLWithPath: "/dev/null"))
  }

  @Test func `an actor renames what a block has made`() async throws {
    let container = try makeContainer([Memo.self])
    let background = container.newBackgroundContext()
    let id = try await background.perform {
      let memo = Memo(context: background)
      memo.title = "Shopping"
      try background.save()
      return memo.objectID
    }
    try await Memos(container).rename(id, to: "Groceries")
    #expect(
      try await background.perform { try background.count(Memo.self, where: { $0.title == "Groceries" }) }
        == 1)
  }

  @Test func `work is repeated after a conflict`() throws {
    let container = try makeContainer([Memo.self])
    let context = container.newBackgroundContext()
    let memo = Memo(context: context)
    try context.save()
    let isBlocked = Guarded(1)
    func renumber(_ context: ManagedObjectContext, attempts: Int = 5) throws {
      for attempt in 1...attempts {
        do {
          for memo in try context.fetch(Memo.self) { memo.number += 1 }
          if isBlocked.withLock({ $0 }) == attempt {
            let other = container.newBackgroundContext()
            try other.fetch(Memo.self).first?.title = "Meanwhile"
            try other.save()
          }
          return try context.save()
        } catch let error as HeartwoodError
          where error.code == .managedObjectMerge && attempt < attempts
        {
          context.rollback()
          context.refreshAllObjects()
        }
      }
    }
    try renumber(context)
    #expect(memo.number == 1 && memo.title == "Meanwhile" && !context.hasChanges)
  }

  @Test func `a draft, merging, a policy and undo do what the article says`() throws {
    let container = try makeContainer([Memo.self])
    let context = container.newBackgroundContext()
    let memo = Memo(context: context)
    try context.save()
    let (id, token) = (memo.objectID, container.currentHistoryToken)

    let draft = ManagedObjectContext(.mainQueue, parent: context)
    let copy = try draft.existingObject(with: id) as? Memo
    copy?.title = "Party"
    try draft.save()
    #expect(memo.title == "Party" && memo.hasChanges)
    context.rollback()

    let importing = container.newBackgroundContext()
    importing.mergePolicy = .mergeByPropertyObjectTrump
    let new = Memo(context: importing)
    new.title = "Imported"
    try importing.save()
    #expect(new.objectID == id)
    for transaction in try container.history(after: token) {
      context.mergeChanges(fromContextDidSave: transaction.objectIDNotification())
    }
    #expect(memo.title == "Imported")

    importing.mergePolicy = MergePolicy(rows: .error, unique: .objectTrump, toMany: .replace)

    context.undoManager = UndoStack()
    memo.title = "Groceries"
    context.undo()
    #expect(memo.title == "Imported")

    context.automaticallyMergesChangesFromParent = true
    context.automaticallyMergesRemoteChanges = true
    context.automaticallyMergesChangesFromParent = false
  }

  @Test func `the declared rules and the validator do what the article says`() throws {
    let context = try makeContainer([Team.self, Member.self]).newBackgroundContext()
    let member = Member(context: context)
    member.login = "carla"
    #expect(throws: HeartwoodError.self) { try context.save() }
    member.team = Team(context: context)
    (member.joined, member.left) = (Date(), .distantPast)
    #expect(throws: HeartwoodError.self) { try context.save() }
    member.left = nil
    try context.save()
    let accepted = try member.validate("carla", forKey: "login")
    #expect(accepted as? String == "carla")
  }

  @Test func `predicates on the value are set as the article says`() throws {
    let rank = AttributeDescription(name: "rank", type: .integer64)
    rank.setValidationPredicates(
      [try FormatPredicate("SELF IN {1, 2, 4}")], withValidationWarnings: ["a power of two, please"])
    #expect(rank.validationRules == [.value("SELF IN {1, 2, 4}").orElse("a power of two, please")])
  }
}
