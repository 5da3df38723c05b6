import Foundation
import GraphTestSupport
import Heartwood
import TestSupport
import Testing

/// An issue of a feed: unique by number and by its address, with labels that others have too, and comments of its own.
private final class Ticket: ManagedObject {
  @Attribute(.unique) var number: Int64?
  @Attribute(.unique) var address: String?
  @Attribute var title = ""
  @Attribute var note: String?
  @Attribute var made = UUID()
  @Relationship(inverse: { $0.tickets }) var labels: Set<TicketLabel>
  @Relationship(inverse: { $0.ticket }, deleteRule: .cascade) var comments: [TicketComment]
  @Relationship(inverse: { $0.tickets }) var board: TicketBoard?
  @Relationship(inverse: { $0.pinned }) var pinnedTo: TicketBoard?
}

private final class TicketLabel: ManagedObject {
  @Attribute(.unique) var name = ""
  @Relationship(inverse: { $0.labels }) var tickets: Set<Ticket>
}

private final class TicketComment: ManagedObject {
  @Attribute var text = ""
  @Relationship(inverse: { $0.comments }, count: .required) var ticket: Ticket?
}

private final class TicketBoard: ManagedObject {
  @Attribute(.unique) var name = ""
  @Relationship(inverse: { $0.board }) var tickets: Set<Ticket>
  @Relationship(inverse: { $0.pinnedTo }) var pinned: [Ticket]
}

@Suite struct `Upserts` {
  private let container: PersistentContainer

  init() throws {
    container = try PersistentContainer(
      name: "Tickets", types: [Ticket.self, TicketLabel.self, TicketComment.self, TicketBoard.self],
      at: URL(filePath: "/dev/null"))
  }

  private func context(_ policy: MergePolicy = .error) -> ManagedObjectContext {
    let context = container.newBackgroundContext()
    context.mergePolicy = policy
    return context
  }

  @discardableResult
  private func makeTicket(
    _ number: Int64, labels: [String] = [], comments: [String] = [], _ context: ManagedObjectContext
  ) throws -> Ticket {
    let ticket = Ticket(context: context)
    ticket.number = number
    ticket.title = "ticket \(number)"
    ticket.labels = Set(
      labels.map { name in
        let label = TicketLabel(context: context)
        label.name = name
        return label
      })
    for text in comments {
      let comment = TicketComment(context: context)
      comment.text = text
      ticket.$comments.insert(comment)
    }
    return ticket
  }

  private func stored() throws -> [String] {
    let context = context()
    return try context.fetch(Ticket.self, sort: [.ascending(\.number)]).map { ticket in
      "\(ticket.number ?? 0) \(ticket.labels.map(\.name).sorted()) \(ticket.comments.map(\.text))"
    }
  }

  private func pinned() throws -> [Int64?]? {
    let context = context()
    return try context.fetch(TicketBoard.self).first?.pinned.map(\.number)
  }

  private func sound() throws -> Bool {
    let context = context()
    return try container.persistentStoreCoordinator.verify().findings.isEmpty
      && context.fetch(TicketComment.self).allSatisfy { $0.ticket != nil }
  }

  // MARK: Children

  // MRG-17, CTX-42
  @Test(arguments: [0, 1, 2])
  func `values that were never set stay as they are stored, also through children`(levels: Int) throws {
    let first = context()
    let stored = try makeTicket(1, first)
    (stored.title, stored.note, stored.made) = ("stored", "note", UUID())
    try first.save()
    let root = context(.mergeByPropertyObjectTrump)
    var contexts = [root]
    for _ in 0..<levels {
      contexts.append(ManagedObjectContext(.privateQueue, parent: contexts[contexts.count - 1]))
    }
    let new = Ticket(context: contexts[levels])
    new.number = 1
    for context in contexts.reversed() { try context.save() }
    first.refreshAllObjects()
    #expect(stored.title == "stored" && stored.note == "note")
    #expect(try first.count(Ticket.self) == 1)
    #expect(new.objectID == stored.objectID)
    #expect(new.title == "stored")
    #expect(new.made == stored.made)
    // A property that is set to the value that it has is set.
    let again = Ticket(context: contexts[levels])
    again.number = 1
    for context in contexts.dropFirst().reversed() { try context.save() }
    again.note = nil
    for context in contexts.reversed() { try context.save() }
    first.refreshAllObjects()
    #expect(stored.title == "stored" && stored.note == nil)
  }

  // MRG-17, CTX-42
  @Test
  func `an object that a child knows twice is one after the root's upsert, with what was changed since`()
    throws
  {
    let first = context()
    try makeTicket(1, first)
    try first.save()
    let root = context(.mergeByPropertyObjectTrump)
    let child = ManagedObjectContext(.privateQueue, parent: root)
    let known = try #require(child.fetch(Ticket.self).first)
    let new = try makeTicket(1, labels: ["a"], child)
    try child.save()
    new.note = "since"
    try root.save()
    #expect(new.objectID == known.objectID)
    #expect(new.managedObjectContext == nil && child.registeredObject(for: new.objectID) === known)
    #expect(known.note == "since")
    try child.save()
    try root.save()
    let latest = context()
    #expect(try latest.fetch(Ticket.self).map(\.note) == ["since"])
    #expect(try child.fetch(TicketLabel.self).map(\.tickets) == [[known]])
  }

  // CTX-42, HIS-02
  @Test func `a transaction has the author of the children, if the root has none and they agree`() throws {
    let root = context()
    let child = ManagedObjectContext(.privateQueue, parent: root)
    let middle = ManagedObjectContext(.privateQueue, parent: root)
    let other = ManagedObjectContext(.privateQueue, parent: middle)
    func author(_ body: () throws -> Void) throws -> String? {
      try body()
      try root.save()
      return try root.execute(.fetchHistory(after: Date.distantPast)).transactions.last?.author
    }
    (child.transactionAuthor, other.transactionAuthor) = ("import", "sync")
    #expect(
      try author {
        try makeTicket(1, child); try child.save()
      } == "import")
    #expect(try author { try makeTicket(2, root) } == nil)
    let both = try author {
      try makeTicket(3, child)
      try child.save()
      try makeTicket(4, other)
      try other.save()
      try middle.save()
    }
    #expect(both == nil)
    root.transactionAuthor = "root"
    #expect(
      try author {
        try makeTicket(5, other); try other.save(); try middle.save()
      } == "root")
  }

  // MRG-02, CTX-42
  @Test(arguments: [0, 1, 2])
  func `a save of others between a child's read and the root's save is a conflict`(levels: Int) throws {
    let first = context()
    let stored = try makeTicket(1, first)
    try first.save()
    let root = context()
    var contexts = [root]
    for _ in 0..<levels {
      contexts.append(ManagedObjectContext(.privateQueue, parent: contexts[contexts.count - 1]))
    }
    let mine = try #require(contexts[levels].fetch(Ticket.self).first)
    #expect(mine.note == nil)
    stored.note = "theirs"
    try first.save()
    mine.note = "mine"
    let error = heartwoodError { for context in contexts.reversed() { try context.save() } }
    #expect(error?.code == .managedObjectMerge)
    root.mergePolicy = .mergeByPropertyStoreTrump
    try root.save()
    first.refreshAllObjects()
    #expect(stored.note == "theirs")
    // The root's own saves are none.
    contexts.forEach { $0.refreshAllObjects() }
    root.mergePolicy = .error
    for number in 0..<3 {
      mine.title = "title \(number)"
      for context in contexts.reversed() { try context.save() }
    }
    first.refreshAllObjects()
    #expect(stored.title == "title 2")
  }

  // OBJ-06, CTX-42
  @Test func `an object that must not have changed is watched through a child`() throws {
    let first = context()
    let stored = try makeTicket(1, first)
    try first.save()
    let root = context()
    let child = ManagedObjectContext(.privateQueue, parent: root)
    let mine = try #require(child.fetch(Ticket.self).first)
    child.detectConflicts(for: mine)
    stored.note = "theirs"
    try first.save()
    try makeTicket(2, child)
    try child.save()
    #expect(heartwoodError { try root.save() }?.code == .managedObjectMerge)
  }

  // MARK: Replacing

  // MRG-17
  @Test(arguments: [ToManyResolution.unite, .replace], [false, true])
  func `a second import unites destinations, or replaces them`(toMany: ToManyResolution, isKnown: Bool) throws
  {
    let policy = MergePolicy(rows: .error, unique: .objectTrump, toMany: toMany)
    let first = context(policy)
    try makeTicket(1, labels: ["a", "b"], comments: ["x", "y"], first)
    try first.save()
    #expect(try stored() == ["1 [\"a\", \"b\"] [\"x\", \"y\"]"])
    let second = context(policy)
    let held = isKnown ? try second.fetch(Ticket.self) : []
    try makeTicket(1, labels: ["b", "c"], comments: ["x", "z"], second)
    try second.save()
    let united = "1 [\"a\", \"b\", \"c\"] [\"x\", \"y\", \"x\", \"z\"]"
    let replaced = "1 [\"b\", \"c\"] [\"x\", \"z\"]"
    #expect(try stored() == [toMany == .unite ? united : replaced])
    #expect(try sound())
    #expect(try second.count(TicketComment.self) == (toMany == .unite ? 4 : 2))
    #expect(held.allSatisfy { $0.labels.count == (toMany == .unite ? 3 : 2) })
    // Empty destinations that are set replace, others do not.
    let third = context(policy)
    let bare = try makeTicket(1, third)
    bare.labels = []
    try third.save()
    #expect(try stored() == [toMany == .unite ? united : "1 [] [\"x\", \"z\"]"])
    #expect(try sound())
  }

  // MRG-17
  @Test func `an object that others are put into is not emptied`() throws {
    let policy = MergePolicy(rows: .objectTrump, unique: .objectTrump, toMany: .replace)
    let first = context(policy)
    let board = TicketBoard(context: first)
    board.name = "main"
    for number in 1...3 as ClosedRange<Int64> { try makeTicket(number, first).board = board }
    try first.save()
    let second = context(policy)
    let same = TicketBoard(context: second)
    same.name = "main"
    try makeTicket(4, second).board = same
    try second.save()
    first.refreshAllObjects()
    #expect(board.tickets.count == 4)
  }

  // BAT-05, MRG-17
  @Test(arguments: [ToManyResolution.unite, .replace])
  func `a batch insert unites destinations, or replaces them`(toMany: ToManyResolution) throws {
    let first = context(MergePolicy(rows: .error, unique: .objectTrump, toMany: toMany))
    try makeTicket(1, labels: ["a", "b"], comments: ["x"], first)
    let other = TicketLabel(context: first)
    other.name = "c"
    try first.save()
    let labels: [[String: Any]] = [["name": "b"], ["name": "c"]]
    try first.execute(
      BatchInsertRequest(entityName: "Ticket", objects: [["number": 1, "labels": labels, "comments": []]]))
    #expect(
      try stored() == [toMany == .unite ? "1 [\"a\", \"b\", \"c\"] [\"x\"]" : "1 [\"b\", \"c\"] []"])
    #expect(try sound())
  }

  // MRG-16
  @Test func `a policy may answer conflicts of rows and of unique values differently`() throws {
    let first = context()
    let stored = try makeTicket(1, first)
    try first.save()
    let second = context(MergePolicy(rows: .error, unique: .objectTrump))
    let mine = try #require(second.fetch(Ticket.self).first)
    #expect(mine.note == nil)
    stored.note = "theirs"
    try first.save()
    mine.note = "mine"
    #expect(heartwoodError { try second.save() }?.code == .managedObjectMerge)
    second.rollback()
    second.refreshAllObjects()
    try makeTicket(1, second).title = "new"
    try second.save()
    first.refreshAllObjects()
    #expect(stored.title == "new" && stored.note == "theirs")
    let third = context(MergePolicy(rows: .objectTrump, unique: .error))
    try makeTicket(1, third)
    #expect(heartwoodError { try third.save() }?.code == .managedObjectConstraintMerge)
  }

  // MARK: Two constraints

  // MRG-17
  @Test(arguments: [MergePolicyType.objectTrump, .overwrite, .storeTrump, .rollback], [false, true])
  func `an object that equals a stored one by two constraints becomes it`(
    type: MergePolicyType, isKnown: Bool
  ) throws {
    let first = context()
    let stored = try makeTicket(1, first)
    stored.address = "/1"
    try first.save()
    let second = context(MergePolicy(merge: type))
    let held = isKnown ? try second.fetch(Ticket.self) : []
    let new = try makeTicket(1, second)
    (new.address, new.title) = ("/1", "new")
    try second.save()
    first.refreshAllObjects()
    #expect(try first.count(Ticket.self) == 1)
    #expect(stored.title == (type == .objectTrump || type == .overwrite ? "new" : "ticket 1"))
    #expect(new.objectID == stored.objectID)
    withExtendedLifetime(held) {}
  }

  // MRG-17
  @Test(arguments: [MergePolicyType.objectTrump, .overwrite, .storeTrump, .rollback])
  func `an object that equals two stored ones is refused, and the error names both`(type: MergePolicyType)
    throws
  {
    let first = context()
    let (one, two) = (try makeTicket(1, first), try makeTicket(2, first))
    two.address = "/2"
    try first.save()
    let second = context(MergePolicy(merge: type))
    let new = try makeTicket(1, second)
    new.address = "/2"
    let error = try #require(heartwoodError { try second.save() })
    #expect(error.code == .managedObjectConstraintMerge && error.constraintConflicts.count == 2)
    #expect(error.message.contains("\(one.objectID) by number"))
    #expect(error.message.contains("\(two.objectID) by address"))
    #expect(new.isInserted)
    new.address = "/1"
    try second.save()
    #expect(try context().count(Ticket.self) == 2)
  }

  // MARK: Duplicates

  // MRG-15
  @Test func `a change of an object that has become one with another is refused by the next save`() throws {
    let context = context(.mergeByPropertyObjectTrump)
    let tickets = try (0..<3).map { _ in try makeTicket(1, context) }
    try context.save()
    let survivor = try #require(context.fetch(Ticket.self).first)
    #expect(tickets.allSatisfy { $0.objectID == survivor.objectID })
    let gone = try #require(tickets.first { $0 !== survivor })
    #expect(gone.managedObjectContext == nil && !context.hasChanges)
    gone.note = "lost"
    #expect(context.hasChanges)
    let error = heartwoodError { try context.save() }
    #expect(error?.message.contains("\(survivor.objectID)") == true)
    #expect(error?.objectIDs == [survivor.objectID])
    // It was told once.
    #expect(!context.hasChanges)
    try context.save()
    // As a destination it stands for the other.
    let board = TicketBoard(context: context)
    board.name = "main"
    board.tickets = [gone]
    board.pinned = [gone]
    #expect(survivor.board === board && board.pinned == [survivor])
    (context.object(with: gone.objectID) as? Ticket)?.note = "kept"
    try context.save()
    #expect(survivor.note == "kept")
    context.delete(gone)
    #expect(survivor.isDeleted)
  }

  // MRG-15
  @Test func `one of several duplicates keeps the places of all in ordered relationships`() throws {
    let first = context()
    try makeTicket(2, first)
    try first.save()
    let context = context(.mergeByPropertyObjectTrump)
    let board = TicketBoard(context: context)
    board.name = "main"
    let tickets = try [1, 2, 3].map { try makeTicket($0, context) }
    board.pinned = tickets
    let held = try context.fetch(Ticket.self)
    try context.save()
    #expect(board.pinned.map(\.number) == [1, 2, 3])
    #expect(try pinned() == [1, 2, 3])
    withExtendedLifetime(held) {}
  }

  // MARK: Orders

  // REL-11, CTX-42
  @Test(arguments: [0, 1, 2], [false, true])
  func `a member that leaves an ordered relationship by its own side and returns is at the end`(
    levels: Int, moves: Bool
  ) throws {
    let first = context()
    let board = TicketBoard(context: first)
    board.name = "main"
    board.pinned = try [1, 2, 3].map { try makeTicket($0, first) }
    try first.save()
    let root = context()
    var contexts = [root]
    for _ in 0..<levels {
      contexts.append(ManagedObjectContext(.privateQueue, parent: contexts[contexts.count - 1]))
    }
    let ticket = try #require(contexts[levels].fetch(Ticket.self, where: { $0.number == 2 }).first)
    let own = ticket.pinnedTo
    ticket.pinnedTo = nil
    if moves { for context in contexts.dropFirst().reversed() { try context.save() } }
    ticket.pinnedTo = own
    #expect(own?.pinned.map(\.number) == [1, 3, 2])
    for context in contexts.reversed() { try context.save() }
    #expect(try pinned() == [1, 3, 2])
  }
}
