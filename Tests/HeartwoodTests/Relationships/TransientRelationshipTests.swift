import Foundation
import GraphTestSupport
import HeartwoodFaults
import TestSupport
import Testing

@testable import Heartwood

private final class Desk: ManagedObject {
  @Attribute var name = ""
  @Relationship(inverse: { $0.desk }, isTransient: true) var visitors: Set<Guest>
  @Relationship(inverse: { $0.queue }, isTransient: true) var waiting: [Guest]
  @Relationship(inverse: { $0.home }) var residents: Set<Guest>
}

private final class Guest: ManagedObject {
  @Attribute var name = ""
  @Relationship var desk: Desk?
  @Relationship var queue: Desk?
  @Relationship(inverse: { $0.friends }, isTransient: true) var friends: Set<Guest>
  @Relationship(isTransient: true) var last: Desk?
  @Relationship var home: Desk?
}

@Suite struct `Transient relationships` {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private func open(_ type: PersistentStore.StoreType = .log) throws -> ManagedObjectContext {
    let model = try ManagedObjectModel(types: [Desk.self, Guest.self])
    let coordinator = try PersistentStoreCoordinator(checking: model)
    let url = type == .inMemory ? URL(fileURLWithPath: "/dev/null") : folder.store
    try coordinator.addPersistentStore(with: PersistentStoreDescription(type: type, url: url, options: nil))
    return ManagedObjectContext(.privateQueue, coordinator: coordinator)
  }

  private func names(_ guests: some Sequence<Guest>) -> [String] { guests.map(\.name).sorted() }

  private func guest(_ name: String, _ context: ManagedObjectContext) -> Guest {
    let guest = Guest(context: context)
    guest.name = name
    return guest
  }

  // REL-01, MOD-34
  @Test(arguments: [PersistentStore.StoreType.log, .binary, .json, .xml, .inMemory])
  func `both sides agree before and after saves, and nothing is stored`(_ type: PersistentStore.StoreType)
    throws
  {
    let context = try open(type)
    let (one, two) = (Desk(context: context), Desk(context: context))
    let (ada, bob) = (guest("Ada", context), guest("Bob", context))
    one.visitors = [ada]
    bob.desk = one
    two.waiting = [bob, ada]
    ada.friends = [bob]
    ada.last = two
    #expect(names(one.visitors) == ["Ada", "Bob"] && two.waiting == [bob, ada] && bob.friends == [ada])
    try context.save()
    #expect(names(one.visitors) == ["Ada", "Bob"] && two.waiting == [bob, ada] && bob.queue === two)
    #expect(!context.hasChanges && ada.last === two && ada.desk === one)
    ada.desk = two
    two.waiting = [ada]
    #expect(one.visitors == [bob] && two.visitors == [ada] && bob.queue == nil)
    try context.save()
    #expect(one.visitors == [bob] && two.visitors == [ada] && two.waiting == [ada])
    guard type != .inMemory else { return }
    #expect(try context.persistentStoreCoordinator?.verify().findings == [])
    try context.persistentStoreCoordinator?.close()
    let again = try open(type)
    for desk in try again.fetch(FetchRequest<Desk>()) {
      #expect(desk.visitors.isEmpty && desk.waiting.isEmpty)
    }
    for guest in try again.fetch(FetchRequest<Guest>()) {
      #expect(guest.desk == nil && guest.friends.isEmpty)
    }
    try again.persistentStoreCoordinator?.close()
  }

  // REL-01
  @Test func `a change of them alone is nothing to save, and in no history`() throws {
    let context = try open()
    let desk = Desk(context: context)
    let ada = guest("Ada", context)
    try context.save()
    let token = context.persistentStoreCoordinator?.currentPersistentHistoryToken()
    desk.visitors = [ada]
    #expect(desk.hasChanges && !desk.hasPersistentChangedValues && !ada.hasPersistentChangedValues)
    #expect(ada.changedValues()["desk"] as? Desk === desk)
    try context.save()
    #expect(context.persistentStoreCoordinator?.currentPersistentHistoryToken() == token)
    #expect(!context.hasChanges && ada.desk === desk)
    // Beside a stored change, the history names that only.
    ada.name = "Eve"
    ada.desk = nil
    try context.save()
    let request = PersistentHistoryChangeRequest.fetchHistory(after: token)
    let changes = try context.execute(request).transactions.flatMap { $0.changes ?? [] }
    #expect(changes.count == 1 && changes[0].updatedProperties?.map(\.name) == ["name"])
  }

  // REL-01, CTX-30
  @Test func `a rollback and an undo take them back on both sides`() throws {
    let context = try open()
    context.undoManager = UndoStack()
    let (one, two) = (Desk(context: context), Desk(context: context))
    let ada = guest("Ada", context)
    ada.desk = one
    try context.save()
    ada.desk = two
    one.waiting = [ada]
    context.rollback()
    #expect(ada.desk === one && one.visitors == [ada] && two.visitors.isEmpty && one.waiting.isEmpty)
    ada.desk = two
    context.processPendingChanges()
    context.undo()
    #expect(ada.desk === one && one.visitors == [ada] && two.visitors.isEmpty)
    context.redo()
    #expect(ada.desk === two && two.visitors == [ada] && one.visitors.isEmpty)
  }

  // REL-01, REL-20
  @Test func `an object that is deleted or becomes a fault leaves the other sides, and others are kept`()
    throws
  {
    let context = try open()
    let desk = Desk(context: context)
    // Nothing but the relationship holds the guests.
    for name in ["Ada", "Bob", "Cid"] {
      let guest = guest(name, context)
      guest.desk = desk
      guest.queue = desk
    }
    try context.save()
    #expect(names(desk.visitors) == ["Ada", "Bob", "Cid"])
    let ada = try #require(desk.visitors.first { $0.name == "Ada" })
    context.refresh(ada, mergeChanges: false)
    #expect(
      names(desk.visitors) == ["Bob", "Cid"] && names(desk.waiting) == ["Bob", "Cid"] && ada.desk == nil)
    #expect(!context.hasChanges)
    context.delete(try #require(desk.visitors.first { $0.name == "Bob" }))
    try context.save()
    #expect(names(desk.visitors) == ["Cid"] && names(desk.waiting) == ["Cid"])
    let cid = try #require(desk.visitors.first)
    context.refresh(desk, mergeChanges: false)
    #expect(desk.visitors.isEmpty && cid.desk == nil)
    context.reset()
    for desk in try context.fetch(FetchRequest<Desk>()) { #expect(desk.visitors.isEmpty) }
  }

  // REL-01, CTX-20
  @Test func `what others save does not change them, and a deletion by others leaves no trace`() throws {
    let context = try open()
    let desk = Desk(context: context)
    let guests = ["Ada", "Bob"].map { guest($0, context) }
    desk.visitors = Set(guests)
    desk.residents = Set(guests)
    try context.save()
    let other = ManagedObjectContext(
      .privateQueue, coordinator: try #require(context.persistentStoreCoordinator))
    let twin = try other.existingObject(with: guests[0].objectID)
    twin.setValue("Eve", forKey: "name")
    try other.save()
    context.merge(ObjectIDChanges(updatedObjectIDs: [twin.objectID]))
    #expect(names(desk.visitors) == ["Bob", "Eve"] && guests[0].desk === desk)
    other.delete(twin)
    try other.save()
    context.merge(ObjectIDChanges(deletedObjectIDs: [guests[0].objectID]))
    #expect(names(desk.visitors) == ["Bob"] && names(desk.residents) == ["Bob"])
  }

  // REL-01, FET-20
  @Test func `conditions, batches and constraints on them are refused with their names`() throws {
    let context = try open()
    for text in ["desk.name == 'x'", "ANY friends.name == 'x'", "friends.@count > 1"] {
      let request = FetchRequest<Guest>()
      request.predicate = try FormatPredicate(text)
      let error = heartwoodError { _ = try context.fetch(request) }
      #expect(
        error?.message.contains("is transient and not stored") == true,
        "\(text): \(String(describing: error))")
    }
    let insert = BatchInsertRequest(entityName: "Guest", objects: [["name": "x", "desk": NSNull()]])
    #expect(heartwoodError { _ = try context.execute(insert) }?.message.contains("transient") == true)
    func message(_ edit: (EntityDescription, RelationshipDescription, RelationshipDescription) -> Void)
      -> String
    {
      let entity = EntityDescription(name: "E")
      let (a, b) = (
        RelationshipDescription(name: "a", destination: entity, isToMany: false),
        RelationshipDescription(name: "b", destination: entity, isToMany: false)
      )
      (a.inverseRelationship, b.inverseRelationship, a.isTransient, b.isTransient) = (b, a, true, true)
      entity.properties = [a, b]
      edit(entity, a, b)
      return heartwoodMessage { try ManagedObjectModel(entities: [entity]).freeze() } ?? "no error"
    }
    #expect(
      message { entity, _, _ in entity.uniquenessConstraints = [["a"]] }.contains("transient and not stored"))
    #expect(
      message { entity, a, _ in
        entity.indexes = [
          FetchIndexDescription(name: "i", elements: [FetchIndexElementDescription(property: a)])
        ]
      }.contains("transient and not stored"))
    #expect(
      message { _, _, b in b.isTransient = false }.contains("E.a is transient, and its inverse E.b is not"))
    #expect(message { _, _, _ in } == "no error")
  }

  // MIG-04
  @Test
  func `a relationship that becomes transient loses its links, and one that is stored again begins without`()
    throws
  {
    func model(_ isTransient: Bool) -> ManagedObjectModel {
      let (desk, guest) = (EntityDescription(name: "D"), EntityDescription(name: "G"))
      let guests = RelationshipDescription(name: "guests", destination: guest, isToMany: true)
      let desk1 = RelationshipDescription(name: "desk", destination: desk, isToMany: false)
      (guests.inverseRelationship, desk1.inverseRelationship) = (desk1, guests)
      (guests.isTransient, desk1.isTransient) = (isTransient, isTransient)
      (desk.properties, guest.properties) = ([guests], [desk1])
      return ManagedObjectModel(entities: [desk, guest])
    }
    for isTransient in [false, true, false] {
      let coordinator = try PersistentStoreCoordinator(checking: model(isTransient))
      let description = PersistentStoreDescription(url: folder.store)
      description.allowsMigrationToFormerModel = true
      try coordinator.addPersistentStore(with: description)
      let context = ManagedObjectContext(.privateQueue, coordinator: coordinator)
      #expect(try coordinator.verify().findings == [])
      for desk in try context.fetch(FetchRequest<ManagedObject>(entityName: "D")) {
        #expect((desk.value(forKey: "guests") as? Set<ManagedObject>)?.isEmpty == true)
      }
      let desk = try ManagedObject(entity: context.entity("D"), insertInto: context)
      let guest = try ManagedObject(entity: context.entity("G"), insertInto: context)
      guest.setValue(desk, forKey: "desk")
      try context.save()
      #expect((desk.value(forKey: "guests") as? Set<ManagedObject>) == [guest])
      try coordinator.close()
    }
  }

  @Test
  func `random changes keep both sides the same as a model, over saves, rollbacks, deletions and faults`()
    throws
  {
    for seed in UInt64(1)...6 {
      var visits = try RandomVisits(seed: seed, open(.inMemory))
      try visits.run()
    }
  }
}

/// Visits against a dictionary of them.
private struct RandomVisits {
  private var random: SplitMix64
  private let context: ManagedObjectContext
  private var desks: [Desk] = []
  private var guests: [Guest] = []
  private var now: [Int: Int] = [:]
  private var saved: [Int: Int] = [:]
  private let seed: UInt64

  init(seed: UInt64, _ context: ManagedObjectContext) throws {
    (random, self.seed, self.context) = (SplitMix64(seed: seed), seed, context)
    desks = (0..<3).map { _ in Desk(context: context) }
    guests = (0..<8).map { _ in Guest(context: context) }
    try context.save()
  }

  mutating func run() throws {
    for step in 0..<120 {
      let (guest, desk) = (random.below(8), random.below(3))
      guard !guests[guest].isDeleted, guests[guest].managedObjectContext != nil else { continue }
      switch random.below(10) {
      case 0...2:
        guests[guest].desk = desks[desk]
        now[guest] = desk
      case 3:
        guests[guest].desk = nil
        now[guest] = nil
      case 4...5:
        desks[desk].visitors.insert(guests[guest])
        now[guest] = desk
      case 6:
        guests[guest].name = "\(step)"
      case 7:
        try context.save()
        saved = now
      case 8:
        context.rollback()
        now = saved
      default:
        try context.save()
        context.refresh(guests[guest], mergeChanges: false)
        now[guest] = nil
        saved = now
      }
      for (number, desk) in desks.enumerated() {
        let wanted = Set(now.filter { $0.value == number }.keys)
        let found = Set(guests.indices.filter { desk.visitors.contains(guests[$0]) })
        #expect(found == wanted && desk.visitors.count == wanted.count, "seed \(seed), step \(step)")
      }
      for (number, guest) in guests.enumerated() {
        #expect(guest.desk === now[number].map { desks[$0] }, "seed \(seed), step \(step)")
      }
    }
  }
}
