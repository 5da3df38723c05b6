import Foundation
import GraphTestSupport
import Heartwood
import HeartwoodFaults
import Testing

/// A feed's item: unique by number, with a parent and labels.
final class Item: ManagedObject {
  @Attribute(.unique) var number: Int64 = 0
  @Attribute var title = ""
  @Attribute var note: String?
  @Relationship(inverse: { $0.items }) var group: ItemGroup?
  @Relationship(inverse: { $0.items }) var labels: Set<ItemLabel>
}

final class ItemGroup: ManagedObject {
  @Attribute(.unique) var name = ""
  @Relationship(inverse: { $0.group }) var items: Set<Item>
}

final class ItemLabel: ManagedObject {
  @Attribute(.unique) var name = ""
  @Relationship(inverse: { $0.labels }) var items: Set<Item>
}

private let policies: [MergePolicyType] = [
  .error, .mergeByPropertyStoreTrump, .mergeByPropertyObjectTrump, .overwrite, .rollback,
]

@Suite struct `Merge policies` {
  /// Two contexts that have read the same person, without merging.
  private struct Pair {
    let container: PersistentContainer
    let here: ManagedObjectContext
    let there: ManagedObjectContext
    let mine: Person
    let theirs: Person

    init(_ type: MergePolicyType) throws {
      container = try makeContainer()
      (here, there) = (container.newBackgroundContext(), container.newBackgroundContext())
      theirs = there.makePerson("Ada", age: 1)
      theirs.nick = "A"
      try there.save()
      mine = try #require(here.object(with: theirs.objectID) as? Person)
      #expect(mine.age == 1)
      here.mergePolicy = MergePolicy(merge: type)
    }

    var saved: [String] {
      get throws {
        try container.newBackgroundContext().fetch(Person.self, sort: [.ascending(\.name)])
          .map { "\($0.name) \($0.age) \($0.nick ?? "-")" }
      }
    }
  }

  // MRG-04..MRG-09, T50
  @Test(arguments: policies)
  func `edits of different properties are both kept by the trumps`(type: MergePolicyType) throws {
    let pair = try Pair(type)
    pair.theirs.age = 2
    try pair.there.save()
    pair.mine.nick = "mine"
    let error = heartwoodError { try pair.here.save() }
    switch type {
    case .error:
      #expect(error?.code == .managedObjectMerge)
      #expect(try pair.saved == ["Ada 2 A"])
      #expect(pair.mine.nick == "mine" && pair.here.hasChanges)
    case .mergeByPropertyStoreTrump, .mergeByPropertyObjectTrump:
      #expect(try pair.saved == ["Ada 2 mine"])
    case .overwrite: #expect(try pair.saved == ["Ada 1 mine"])
    case .rollback: #expect(try pair.saved == ["Ada 2 A"])
    }
    if type != .error { #expect(error == nil && !pair.here.hasChanges) }
  }

  // MRG-05..MRG-09, T51
  @Test(arguments: policies)
  func `of a property that both have changed one value wins`(type: MergePolicyType) throws {
    let pair = try Pair(type)
    pair.theirs.age = 2
    pair.theirs.nick = "theirs"
    try pair.there.save()
    pair.mine.age = 3
    _ = heartwoodError { try pair.here.save() }
    switch type {
    case .error, .mergeByPropertyStoreTrump, .rollback: #expect(try pair.saved == ["Ada 2 theirs"])
    case .mergeByPropertyObjectTrump: #expect(try pair.saved == ["Ada 3 theirs"])
    case .overwrite: #expect(try pair.saved == ["Ada 3 A"])
    }
    if type != .error { #expect(try pair.saved == ["Ada \(pair.mine.age) \(pair.mine.nick ?? "-")"]) }
  }

  // MRG-11, T53
  @Test(arguments: policies)
  func `an object that was edited here and deleted elsewhere is deleted, or inserted again`(
    type: MergePolicyType
  ) throws {
    let pair = try Pair(type)
    pair.there.delete(pair.theirs)
    try pair.there.save()
    pair.mine.age = 3
    let identifier = pair.mine.objectID
    let error = heartwoodError { try pair.here.save() }
    switch type {
    case .error:
      #expect(error?.mergeConflicts.map(\.newVersionNumber) == [0])
      #expect(pair.mine.isUpdated)
    case .mergeByPropertyStoreTrump, .rollback:
      #expect(try pair.saved.isEmpty)
      #expect(pair.mine.managedObjectContext == nil)
    case .mergeByPropertyObjectTrump, .overwrite:
      #expect(try pair.saved == ["Ada 3 A"])
      #expect(pair.mine.objectID == identifier && !pair.mine.isInserted)
    }
  }

  // MRG-12
  @Test(arguments: policies)
  func `an object that was deleted here and edited elsewhere is kept, or deleted`(type: MergePolicyType)
    throws
  {
    let pair = try Pair(type)
    pair.theirs.age = 2
    try pair.there.save()
    pair.here.delete(pair.mine)
    let error = heartwoodError { try pair.here.save() }
    switch type {
    case .error:
      #expect(error?.code == .managedObjectMerge)
      #expect(pair.mine.isDeleted)
    case .mergeByPropertyStoreTrump, .rollback:
      #expect(try pair.saved == ["Ada 2 A"])
      #expect(!pair.mine.isDeleted && pair.mine.age == 2)
    case .mergeByPropertyObjectTrump, .overwrite: #expect(try pair.saved.isEmpty)
    }
  }

  // MRG-13
  @Test(arguments: policies)
  func `an object that was deleted on both sides is no conflict`(type: MergePolicyType) throws {
    let pair = try Pair(type)
    pair.there.delete(pair.theirs)
    try pair.there.save()
    pair.here.delete(pair.mine)
    try pair.here.save()
    #expect(try pair.saved.isEmpty)
  }

  // MRG-14
  @Test(arguments: policies)
  func `orders that both have changed are merged`(type: MergePolicyType) throws {
    let container = try makeContainer()
    let (here, there) = (container.newBackgroundContext(), container.newBackgroundContext())
    let theirs = there.makeCompany("A")
    let people = ["Ada", "Bea", "Cid"].map { there.makePerson($0) }
    theirs.ranking = people
    try there.save()
    let mine = try #require(here.object(with: theirs.objectID) as? Company)
    #expect(mine.ranking.map(\.name) == ["Ada", "Bea", "Cid"])
    theirs.ranking = [people[2], people[0], there.makePerson("Dan")]
    try there.save()
    mine.ranking = mine.ranking.reversed() + [here.makePerson("Eve")]
    here.mergePolicy = MergePolicy(merge: type)
    let error = heartwoodError { try here.save() }
    let fresh = container.newBackgroundContext()
    let saved = try #require(fresh.fetch(Company.self).first).ranking.map(\.name)
    switch type {
    case .error:
      #expect(error?.code == .managedObjectMerge)
      #expect(saved == ["Cid", "Ada", "Dan"])
    case .mergeByPropertyStoreTrump, .rollback: #expect(saved == ["Cid", "Ada", "Dan", "Eve"])
    case .mergeByPropertyObjectTrump, .overwrite: #expect(saved == ["Cid", "Ada", "Eve", "Dan"])
    }
    #expect(mine.ranking.map(\.name) == saved || type == .error)
  }

  // Findings: a reference into a deleted object passes where the to-many is ordered
  @Test(arguments: [MergePolicyType.error, .mergeByPropertyObjectTrump])
  func `no save leaves a reference into a deleted object, in ordered relationships neither`(
    type: MergePolicyType
  ) throws {
    let container = try makeContainer()
    let (here, there) = (container.newBackgroundContext(), container.newBackgroundContext())
    let theirs = there.makeCompany("A")
    let person = there.makePerson("Ada")
    try there.save()
    let mine = try #require(here.object(with: theirs.objectID) as? Company)
    #expect(mine.ranking.isEmpty)
    person.ranked = theirs
    try there.save()
    here.delete(mine)
    here.mergePolicy = MergePolicy(merge: type)
    let error = heartwoodError { try here.save() }
    #expect((error?.code == .managedObjectMerge) == (type == .error))
    let fresh = container.newBackgroundContext()
    let saved = try #require(fresh.fetch(Person.self).first)
    #expect((saved.ranked == nil) == (type != .error))
    #expect(try container.persistentStoreCoordinator.verify().findings.isEmpty)
  }

  @Test(arguments: policies)
  func `a reference to an object that was deleted elsewhere is dropped, or the object is inserted again`(
    type: MergePolicyType
  ) throws {
    let container = try makeContainer()
    let (here, there) = (container.newBackgroundContext(), container.newBackgroundContext())
    let theirs = there.makeCompany("A")
    try there.save()
    let mine = try #require(here.object(with: theirs.objectID) as? Company)
    #expect(mine.name == "A")
    there.delete(theirs)
    try there.save()
    let person = here.makePerson("Ada", in: mine)
    here.mergePolicy = MergePolicy(merge: type)
    let error = heartwoodError { try here.save() }
    switch type {
    case .error: #expect(error?.message.contains("was deleted") == true)
    case .mergeByPropertyStoreTrump, .rollback:
      #expect(person.company == nil && mine.managedObjectContext == nil)
    case .mergeByPropertyObjectTrump, .overwrite:
      #expect(person.company === mine && mine.people == [person])
      #expect(try container.newBackgroundContext().fetchIdentifiers(Company.self) == [mine.objectID])
    }
    #expect(try container.persistentStoreCoordinator.verify().findings.isEmpty)
  }

  @Test(arguments: policies)
  func `a reference without an inverse to what others deleted stays, to an inaccessible fault`(
    type: MergePolicyType
  ) throws {
    let (note, thing) = (EntityDescription(name: "Note"), EntityDescription(name: "Thing"))
    thing.properties = [AttributeDescription(name: "name", type: .string, isOptional: true)]
    note.properties = [RelationshipDescription(name: "about", destination: thing, isToMany: false)]
    let container = PersistentContainer(
      name: "Notes", managedObjectModel: ManagedObjectModel(entities: [note, thing]))
    container.persistentStoreDescriptions = [
      PersistentStoreDescription(url: URL(filePath: "/dev/null"))
    ]
    try container.loadPersistentStores()
    let (here, there) = (container.newBackgroundContext(), container.newBackgroundContext())
    let theirs = ManagedObject(entity: thing, insertInto: there)
    try there.save()
    let mine = here.object(with: theirs.objectID)
    there.delete(theirs)
    try there.save()
    let object = ManagedObject(entity: note, insertInto: here)
    object.setValue(mine, forKey: "about")
    here.mergePolicy = MergePolicy(merge: type)
    try here.save()
    let reader = container.newBackgroundContext()
    let read = try #require(reader.fetch(FetchRequest<ManagedObject>(entityName: "Note")).first)
    #expect((read.value(forKey: "about") as? ManagedObject)?.objectID == theirs.objectID)
    #expect((read.value(forKey: "about") as? ManagedObject)?.value(forKey: "name") == nil)
  }

  @Test(arguments: policies)
  func `a reference to what others deleted is dropped if its values were never read`(type: MergePolicyType)
    throws
  {
    let container = try makeContainer()
    let (here, there) = (container.newBackgroundContext(), container.newBackgroundContext())
    let theirs = there.makeCompany("A")
    try there.save()
    let mine = try #require(here.object(with: theirs.objectID) as? Company)
    there.delete(theirs)
    try there.save()
    let person = here.makePerson("Ada", in: mine)
    here.mergePolicy = MergePolicy(merge: type)
    let error = heartwoodError { try here.save() }
    guard type != .error else {
      #expect(error?.message.contains("was deleted") == true)
      return
    }
    #expect(error == nil && person.company == nil, "\(error as Any)")
    #expect(try container.persistentStoreCoordinator.verify().findings.isEmpty)
  }

  // MRG-18, T55
  @Test func `a custom policy sees row conflicts before constraint conflicts, and decides`() throws {
    final class Custom: MergePolicy, @unchecked Sendable {
      var calls: [String] = []
      override func resolve(optimisticLockingConflicts list: [MergeConflict]) throws {
        calls.append("rows \(list.count)")
        try super.resolve(optimisticLockingConflicts: list)
        for conflict in list { (conflict.sourceObject as? Person)?.nick = "resolved" }
      }
      override func resolve(constraintConflicts list: [ConstraintConflict]) throws {
        calls.append("constraints \(list.count)")
        for object in list[0].conflictingObjects { object.setValue("B", forKey: "code") }
      }
    }
    let pair = try Pair(.error)
    _ = pair.there.makeCompany("A")
    pair.theirs.age = 2
    try pair.there.save()
    pair.mine.age = 3
    let company = pair.here.makeCompany("A")
    let policy = Custom(merge: .mergeByPropertyObjectTrump)
    pair.here.mergePolicy = policy
    try pair.here.save()
    #expect(policy.calls == ["rows 1", "constraints 1"])
    #expect(pair.mine.nick == "resolved" && pair.mine.age == 3 && company.code == "B")
    #expect(try pair.saved == ["Ada 3 resolved"])
  }
}

@Suite struct `Uniqueness under merge policies` {
  // MRG-05, MRG-09
  @Test(arguments: [MergePolicyType.mergeByPropertyStoreTrump, .rollback])
  func `an edited object that another context has deleted leaves its group, and no changes remain`(
    type: MergePolicyType
  ) throws {
    let container = try makeContainer()
    let (here, there) = (container.newBackgroundContext(), container.newBackgroundContext())
    here.mergePolicy = MergePolicy(merge: type)
    let group = ItemGroup(context: there)
    let item = Item(context: there)
    item.group = group
    try there.save()
    let (mine, myGroup) = (
      here.object(with: item.objectID) as? Item, here.object(with: group.objectID) as? ItemGroup
    )
    #expect(myGroup?.items.count == 1 && mine?.title == "")
    there.delete(item)
    try there.save()
    mine?.title = "edited"
    try here.save()
    #expect(!here.hasChanges)
    #expect(myGroup?.items.isEmpty == true)
    #expect(myGroup?.$items.count == 0)
  }

  @Test(arguments: [MergePolicyType.mergeByPropertyStoreTrump, .rollback])
  func `an object that is kept although it was deleted is in its group`(type: MergePolicyType) throws {
    let container = try makeContainer()
    let (here, there) = (container.newBackgroundContext(), container.newBackgroundContext())
    here.mergePolicy = MergePolicy(merge: type)
    let group = ItemGroup(context: there)
    let item = Item(context: there)
    item.group = group
    try there.save()
    let mine = try #require(here.object(with: item.objectID) as? Item)
    let myGroup = try #require(here.object(with: group.objectID) as? ItemGroup)
    #expect(myGroup.items == [mine] && mine.title.isEmpty)
    item.title = "edited"
    try there.save()
    here.delete(mine)
    try here.save()
    #expect(mine.group === myGroup)
    #expect(myGroup.items == [mine])
    #expect(!here.hasChanges)
  }

  private func makeContainer() throws -> PersistentContainer {
    try PersistentContainer(
      name: "Items", types: [Item.self, ItemGroup.self, ItemLabel.self], at: URL(fileURLWithPath: "/dev/null")
    )
  }

  /// Imports a feed: every item with its group and labels, as new objects.
  private func importFeed(_ range: Range<Int>, _ version: String, into context: ManagedObjectContext) throws {
    var groups: [String: ItemGroup] = [:]
    var labels: [String: ItemLabel] = [:]
    for number in range {
      let item = Item(context: context)
      item.number = Int64(number)
      item.title = "\(version) \(number)"
      let group = groups["\(number % 10)"] ?? ItemGroup(context: context)
      group.name = "\(number % 10)"
      groups[group.name] = group
      item.group = group
      let label = labels["\(number % 7)"] ?? ItemLabel(context: context)
      label.name = "\(number % 7)"
      labels[label.name] = label
      item.labels = [label]
    }
    try context.save()
  }

  // MRG-17: upsert
  @Test func `a feed that is imported twice gives the same objects with new values, relationships included`()
    throws
  {
    let container = try makeContainer()
    let first = container.newBackgroundContext()
    try importFeed(0..<2000, "first", into: first)
    let identifiers = try first.fetch(Item.self, sort: [.ascending(\.number)]).map(\.objectID)
    try first.fetch(Item.self).forEach { $0.note = "kept" }
    try first.save()
    let second = container.newBackgroundContext()
    second.mergePolicy = .mergeByPropertyObjectTrump
    try importFeed(0..<3000, "second", into: second)
    let context = container.newBackgroundContext()
    let items = try context.fetch(Item.self, sort: [.ascending(\.number)])
    #expect(items.count == 3000)
    #expect(items.prefix(2000).map(\.objectID) == identifiers)
    #expect(items.allSatisfy { $0.title == "second \($0.number)" })
    #expect(items.prefix(2000).allSatisfy { $0.note == "kept" })
    #expect(items.allSatisfy { $0.group?.name == "\($0.number % 10)" })
    #expect(items.allSatisfy { $0.labels.map(\.name) == ["\($0.number % 7)"] })
    #expect(try context.count(ItemGroup.self) == 10 && context.count(ItemLabel.self) == 7)
    #expect(try context.fetch(ItemGroup.self).allSatisfy { $0.items.count == 300 })
    #expect(try container.persistentStoreCoordinator.verify().findings.isEmpty)
  }

  // MRG-17
  @Test(arguments: policies)
  func `a new object with a stored object's value gives way, or becomes that object`(type: MergePolicyType)
    throws
  {
    let container = try makeContainer()
    let other = container.newBackgroundContext()
    let stored = Item(context: other)
    (stored.number, stored.title, stored.note) = (1, "stored", "note")
    try other.save()
    let context = container.newBackgroundContext()
    context.mergePolicy = MergePolicy(merge: type)
    let new = Item(context: context)
    (new.number, new.title) = (1, "new")
    let group = ItemGroup(context: context)
    group.name = "G"
    group.items = [new]
    let error = heartwoodError { try context.save() }
    let fresh = container.newBackgroundContext()
    let items = try fresh.fetch(Item.self)
    let item = try #require(items.first)
    #expect(items.count == 1 && item.objectID == stored.objectID)
    switch type {
    case .error:
      let conflict = try #require(error?.constraintConflicts.first)
      #expect(conflict.databaseObject?.objectID == stored.objectID)
      #expect(conflict.databaseSnapshot?["title"] as? String == "stored")
      #expect(conflict.conflictingSnapshots.map(\.isEmpty) == [true])
      #expect(new.isInserted)
    case .mergeByPropertyStoreTrump, .rollback:
      #expect(item.title == "stored" && item.group == nil)
      #expect(new.managedObjectContext == nil)
    case .mergeByPropertyObjectTrump:
      #expect(item.title == "new" && item.note == "note" && item.group?.name == "G")
      #expect(new.objectID == stored.objectID && !new.hasChanges)
    case .overwrite:
      #expect(item.title == "new" && item.note == nil && item.group?.name == "G")
      #expect(new.objectID == stored.objectID)
    }
    #expect(try container.persistentStoreCoordinator.verify().findings.isEmpty)
  }

  @Test(arguments: [MergePolicyType.mergeByPropertyObjectTrump, .mergeByPropertyStoreTrump])
  func `where the stored object is in use, it takes the new one's values and references`(
    type: MergePolicyType
  ) throws {
    let container = try makeContainer()
    let context = container.newBackgroundContext()
    context.mergePolicy = MergePolicy(merge: type)
    let stored = Item(context: context)
    (stored.number, stored.title) = (1, "stored")
    try context.save()
    let new = Item(context: context)
    (new.number, new.title) = (1, "new")
    let label = ItemLabel(context: context)
    label.name = "L"
    label.items = [new]
    try context.save()
    #expect(new.managedObjectContext == nil)
    #expect(stored.title == (type == .mergeByPropertyObjectTrump ? "new" : "stored"))
    #expect(label.items == [stored] && stored.labels == [label])
    #expect(try context.fetch(Item.self) == [stored])
    #expect(try container.persistentStoreCoordinator.verify().findings.isEmpty)
  }

  // MRG-15, T54
  @Test(arguments: policies)
  func `unsaved objects of one context with one value become one`(type: MergePolicyType) throws {
    let context = try makeContainer().newBackgroundContext()
    context.mergePolicy = MergePolicy(merge: type)
    let items = (0..<3).map { number -> Item in
      let item = Item(context: context)
      (item.number, item.title) = (1, "\(number)")
      return item
    }
    let error = heartwoodError { try context.save() }
    switch type {
    case .error:
      #expect(error?.constraintConflicts.first?.databaseObject == nil)
      #expect(Set(error?.constraintConflicts.first?.conflictingObjects ?? []) == Set<ManagedObject>(items))
    case .mergeByPropertyStoreTrump, .rollback: #expect(try context.fetch(Item.self).map(\.title) == ["0"])
    case .mergeByPropertyObjectTrump, .overwrite: #expect(try context.fetch(Item.self).map(\.title) == ["2"])
    }
  }

  @Test
  func
    `a stored object that is edited to another's value keeps its own under store trump, and is refused under object trump`()
    throws
  {
    let context = try makeContainer().newBackgroundContext()
    let items = (0..<2).map { number -> Item in
      let item = Item(context: context)
      item.number = Int64(number)
      return item
    }
    try context.save()
    items[1].number = 0
    items[1].title = "edited"
    context.mergePolicy = .mergeByPropertyObjectTrump
    #expect(heartwoodError { try context.save() }?.code == .managedObjectConstraintMerge)
    context.mergePolicy = .mergeByPropertyStoreTrump
    try context.save()
    #expect(items.map(\.number) == [0, 1] && items[1].title == "edited")
  }
}
