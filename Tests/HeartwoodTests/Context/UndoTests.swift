import Foundation
import GraphTestSupport
import HeartwoodFaults
import Testing

@testable import Heartwood

private final class Branch: ManagedObject {
  @Attribute var name = ""
  @Relationship(inverse: { $0.branches }) var parent: Branch?
  @Relationship(inverse: { $0.parent }) var branches: Set<Branch>
}

@Suite struct `Undo and redo` {
  private func makeContext() throws -> (ManagedObjectContext, UndoStack) {
    let context = try makeContainer().newBackgroundContext()
    let stack = UndoStack()
    context.undoManager = stack
    return (context, stack)
  }

  // UND-01
  @Test func `nothing is registered without an undo manager`() throws {
    let context = try makeContainer().newBackgroundContext()
    #expect(context.undoManager == nil)
    let person = context.makePerson("Ada")
    context.undo()
    #expect(person.isInserted)
  }

  // UND-02
  @Test func `edits of one event are undone and redone together`() throws {
    let (context, _) = try makeContext()
    let (left, right) = (context.makeCompany("A"), context.makeCompany("B"))
    let person = context.makePerson("Ada", age: 1, in: left)
    try context.save()
    person.age = 2
    person.name = "Bea"
    person.company = right
    context.processPendingChanges()
    person.age = 3
    context.undo()
    #expect(person.age == 2 && person.name == "Bea")
    context.undo()
    #expect(person.age == 1 && person.name == "Ada" && person.company === left)
    #expect(left.people == [person] && right.people.isEmpty)
    #expect(!person.hasPersistentChangedValues)
    context.redo()
    #expect(person.age == 2 && person.company === right && right.people == [person] && left.people.isEmpty)
    context.redo()
    #expect(person.age == 3)
    try context.save()
    #expect(try context.count(Person.self, where: { $0.company.code == "B" }) == 1)
  }

  // UND-02
  @Test func `undoing a delete keeps what another context has related to the object meanwhile`() throws {
    let container = try makeContainer()
    let (here, there) = (container.newBackgroundContext(), container.newBackgroundContext())
    here.undoManager = UndoStack()
    let company = there.makeCompany("A")
    let (known, new) = (there.makePerson("Ada"), there.makePerson("Bea"))
    known.ranked = company
    try there.save()
    let mine = try #require(here.fetch(Company.self).first)
    let myNew = try #require(here.object(with: new.objectID) as? Person)
    #expect(mine.ranking.map(\.name) == ["Ada"] && myNew.ranked == nil && mine.houses.isEmpty)
    here.delete(mine)
    here.processPendingChanges()
    let house = House(context: there)
    house.owner = company
    new.ranked = company
    try there.save()
    ManagedObjectContext.mergeChanges(
      fromRemoteContextSave: [
        ManagedObjectContext.NotificationKey.updatedObjectIDs.rawValue: [company.objectID, new.objectID],
        ManagedObjectContext.NotificationKey.insertedObjectIDs.rawValue: [house.objectID],
      ], into: [here])
    here.undo()
    #expect(myNew.ranked === mine && Set(mine.ranking.map(\.name)) == ["Ada", "Bea"])
    #expect(mine.houses.count == 1)
    try here.save()
    #expect(Set(mine.ranking.map(\.name)) == ["Ada", "Bea"])
    #expect(try container.persistentStoreCoordinator.verify().findings == [])
  }

  // UND-02
  @Test func `an insertion is undone and redone with its values and relationships`() throws {
    let (context, stack) = try makeContext()
    let company = context.makeCompany("A")
    try context.save()
    let person = context.makePerson("Ada", age: 1, in: company)
    context.undo()
    #expect(company.people.isEmpty && context.insertedObjects.isEmpty && !stack.canUndo == false)
    context.redo()
    #expect(company.people == [person] && person.age == 1 && person.isInserted)
    try context.save()
    #expect(try context.fetch(Person.self) == [person])
  }

  // UND-03
  @Test func `a delete is undone with its cascade, values and relationships`() throws {
    let (context, _) = try makeContext()
    let (company, partner) = (context.makeCompany("A"), context.makeCompany("B"))
    company.partners = [partner]
    let people = (0..<3).map { context.makePerson("\($0)", age: Int64($0), in: company) }
    company.ranking = [people[2], people[0]]
    try context.save()
    let identifiers = people.map(\.objectID)
    context.delete(company)
    context.processPendingChanges()
    #expect(people.allSatisfy(\.isDeleted) && partner.partners.isEmpty)
    context.undo()
    #expect(people.allSatisfy { !$0.isDeleted && $0.company === company })
    #expect(partner.partners == [company] && company.ranking == [people[2], people[0]])
    try context.save()
    #expect(people.map(\.objectID) == identifiers)
    context.redo()
    try context.save()
    #expect(try context.count(Person.self) == 0 && context.count(Company.self) == 1)
  }

  // UND-03
  @Test func `an object that one event edits and deletes comes back as it was before the event`() throws {
    let (context, _) = try makeContext()
    let (left, right) = (context.makeCompany("A"), context.makeCompany("B"))
    let ada = context.makePerson("Ada", age: 1, in: left)
    let bea = context.makePerson("Bea", in: right)
    left.ranking = [ada, bea]
    try context.save()
    bea.nick = "B"
    context.processPendingChanges()
    (ada.age, ada.company) = (2, right)
    bea.nick = nil
    left.ranking = [bea, ada]
    context.delete(right)
    context.processPendingChanges()
    #expect(ada.isDeleted && bea.isDeleted)
    context.undo()
    #expect(ada.age == 1 && ada.company === left && left.people == [ada])
    #expect(bea.nick == "B" && bea.company === right && right.people == [bea])
    #expect(left.ranking == [ada, bea])
    try context.save()
    let coordinator = try #require(context.persistentStoreCoordinator)
    #expect(try coordinator.verify().findings.isEmpty)
    let fresh = ManagedObjectContext(.privateQueue, coordinator: coordinator)
    #expect(try fresh.fetch(Company.self, where: { $0.code == "A" }).first?.people.map(\.age) == [1])
  }

  // UND-03, UND-04
  @Test func `a delete that was saved is undone under the same identifiers, and needs a save`() throws {
    let (context, _) = try makeContext()
    let company = context.makeCompany("A")
    let partner = context.makeCompany("B")
    company.partners = [partner]
    let person = context.makePerson("Ada", age: 7, in: company)
    try context.save()
    let identifiers = [company.objectID, person.objectID]
    context.delete(company)
    try context.save()
    #expect(person.managedObjectContext == nil)
    context.undo()
    #expect(context.insertedObjects == [company, person])
    #expect(person.age == 7 && person.company === company && company.people == [person])
    try context.save()
    #expect([company.objectID, person.objectID] == identifiers)
    let fresh = try #require(
      context.persistentStoreCoordinator.map { ManagedObjectContext(.privateQueue, coordinator: $0) })
    let again = try #require(try fresh.fetch(Company.self, where: { $0.code == "A" }).first)
    #expect(again.people.map(\.age) == [7] && again.partners.map(\.code) == ["B"])
    #expect(try context.persistentStoreCoordinator?.verify().findings.isEmpty == true)
  }

  @Test func `undoing an insert keeps the destinations that others have given the object's partners`() throws
  {
    let container = try PersistentContainer(
      name: "Tree", types: [Branch.self], at: URL(fileURLWithPath: "/dev/null"))
    let here = container.newBackgroundContext()
    let root = Branch(context: here)
    try here.save()
    here.undoManager = UndoStack()
    let new = Branch(context: here)
    new.parent = root
    try here.save()
    let update = BatchUpdateRequest(entityName: "Branch")
    update.propertiesToUpdate = ["parent": root.objectID]
    try here.execute(update, mergingInto: [here])
    here.undo()
    try here.save()
    #expect(root.branches == [root] && root.parent === root)
    let fresh = container.newBackgroundContext()
    #expect(try fresh.fetch(Branch.self).map(\.branches.count) == [1])
  }

  @Test(arguments: [MergePolicy.error, .overwrite, .mergeByPropertyObjectTrump], [false, true])
  func `undoing the delete of an object whose row others have deleted saves no defaults`(
    policy: MergePolicy, isFault: Bool
  ) throws {
    let container = try makeContainer()
    let (here, there) = (container.newBackgroundContext(), container.newBackgroundContext())
    here.mergePolicy = policy
    let person = here.makePerson("Ada", age: 36)
    try here.save()
    here.undoManager = UndoStack()
    if isFault { here.refreshAllObjects() }
    there.delete(try there.existingObject(with: person.objectID))
    try there.save()
    here.delete(person)
    do { try here.save() } catch is HeartwoodError {}
    here.undo()
    try here.save()
    let stored = try container.newBackgroundContext().fetch(Person.self).map { "\($0.name) \($0.age)" }
    #expect(stored == (isFault ? [] : ["Ada 36"]))
  }

  @Test(arguments: [
    MergePolicyType.error, .overwrite, .mergeByPropertyObjectTrump, .mergeByPropertyStoreTrump, .rollback,
  ])
  func `two contexts that take back one delete conflict`(type: MergePolicyType) throws {
    let container = try makeContainer()
    let (here, there) = (container.newBackgroundContext(), container.newBackgroundContext())
    let company = here.makeCompany("A")
    let person = here.makePerson("Ada", age: 1, in: company)
    try here.save()
    let theirs = try #require(there.existingObject(with: person.objectID) as? Person)
    for context in [here, there] { context.undoManager = UndoStack() }
    here.mergePolicy = MergePolicy(merge: type)
    there.mergePolicy = .mergeByPropertyStoreTrump
    #expect(theirs.age == 1 && theirs.company?.code == "A")
    here.delete(person)
    there.delete(theirs)
    try here.save()
    try there.save()
    here.undo()
    there.undo()
    theirs.age = 2
    try there.save()
    let error = heartwoodError { try here.save() }
    if type == .error {
      #expect(error?.code == .managedObjectMerge)
      here.rollback()
    } else {
      #expect(error == nil && !here.hasChanges)
    }
    let fresh = container.newBackgroundContext()
    let isMine = type == .overwrite || type == .mergeByPropertyObjectTrump
    #expect(try fresh.fetch(Person.self).map { "\($0.name) \($0.age)" } == ["Ada \(isMine ? 1 : 2)"])
    #expect(try fresh.fetch(Company.self).map { $0.people.map(\.name) } == [["Ada"]])
    #expect(try container.persistentStoreCoordinator.verify().findings == [])
  }

  // UND-04
  @Test func `undoing after a save makes the former values unsaved changes`() throws {
    let (context, _) = try makeContext()
    let person = context.makePerson("Ada", age: 1)
    try context.save()
    person.age = 2
    try context.save()
    context.undo()
    #expect(person.age == 1 && person.isUpdated)
    try context.save()
    context.reset()
    #expect(try context.fetch(Person.self).map(\.age) == [1])
  }

  // UND-05
  @Test func `changes are not registered while registration is disabled`() throws {
    let (context, stack) = try makeContext()
    let person = context.makePerson("Ada", age: 1)
    context.processPendingChanges()
    stack.disableUndoRegistration()
    person.age = 2
    context.processPendingChanges()
    stack.enableUndoRegistration()
    person.nick = "A"
    context.undo()
    #expect(person.age == 2 && person.nick == nil)
  }

  // UND-06
  @Test func `rollback and reset clear the stack, and cannot be undone`() throws {
    let (context, stack) = try makeContext()
    _ = context.makePerson("Ada")
    context.processPendingChanges()
    #expect(stack.canUndo)
    context.rollback()
    #expect(!stack.canUndo)
    context.undo()
    #expect(context.insertedObjects.isEmpty)
    _ = context.makePerson("Bea")
    context.processPendingChanges()
    context.reset()
    #expect(!stack.canUndo && !stack.canRedo)
  }

  // UND-02
  @Test func `groups are undone together, and the oldest are dropped above the limit`() throws {
    let (context, stack) = try makeContext()
    let person = context.makePerson("Ada")
    context.processPendingChanges()
    stack.beginUndoGrouping()
    for age in 1...3 {
      person.age = Int64(age)
      context.processPendingChanges()
    }
    stack.endUndoGrouping()
    context.undo()
    #expect(person.age == 0)
    context.redo()
    #expect(person.age == 3)
    stack.levelsOfUndo = 2
    for age in 10...12 {
      person.age = Int64(age)
      context.processPendingChanges()
    }
    for _ in 0..<5 { context.undo() }
    #expect(person.age == 10)
  }

  // UND-07, OBJ-25
  @Test func `objects are told of undo and redo`() throws {
    let context = try PersistentContainer(
      name: "Tracked", types: [Tracked.self], at: URL(fileURLWithPath: "/dev/null")
    ).newBackgroundContext()
    let object = Tracked(context: context)
    try context.save()
    context.undoManager = UndoStack()
    object.calls = []
    object.title = "edited"
    context.undo()
    #expect(object.calls == ["snapshot 8"] && object.title == "new")
    context.delete(object)
    context.processPendingChanges()
    object.calls = []
    context.undo()
    #expect(object.calls == ["snapshot 4"])
  }

  @Test(arguments: [false, true])
  func `an event that relates one object to another registers that object, not all that were related`(
    isOrdered: Bool
  ) throws {
    let (context, _) = try makeContext()
    let company = context.makeCompany("A")
    let people = (0..<40).map { context.makePerson("P\($0)") }
    func relate(_ person: Person) {
      if isOrdered { person.ranked = company } else { person.company = company }
    }
    var related: Set<Person> { isOrdered ? Set(company.ranking) : company.people }
    people[..<20].forEach(relate)
    try context.save()
    for number in 20..<40 {
      relate(people[number])
      let record = ChangeRecord(context.event, in: context)
      let recorded = record.entries.flatMap(\.relationships).map(\.destinations)
      #expect(recorded.count == 1)
      for case .all in recorded { Issue.record("all destinations are recorded") }
      for case .changed(let lost, let gained) in recorded { #expect(lost.isEmpty && gained.count == 1) }
      context.processPendingChanges()
    }
    for number in (20..<40).reversed() {
      context.undo()
      #expect(related == Set(people[..<number]))
    }
    for number in 20..<40 {
      context.redo()
      #expect(related == Set(people[...number]))
    }
    #expect(!isOrdered || company.ranking == people)
  }

  @Test(arguments: [61, 62, 63, 64] as [UInt64])
  func `random events are undone and redone to the states they had, over saves`(seed: UInt64) throws {
    var random = SplitMix64(seed: seed)
    let (context, stack) = try makeContext()
    for number in 0..<3 { _ = context.makeCompany("C\(number)") }
    for number in 0..<4 { _ = context.makePerson("P\(number + 100)") }
    try context.save()
    stack.removeAllActions()
    var states = [try state(context)]
    var position = 0
    var nextNumber = 1000
    for step in 0..<250 {
      switch Int.random(in: 0..<12, using: &random) {
      case 0..<7:
        let before = stack.undoCount
        // A fetch ends the event.
        stack.beginUndoGrouping()
        for _ in 0..<Int.random(in: 1...3, using: &random) { try change(context, &random, &nextNumber) }
        context.processPendingChanges()
        stack.endUndoGrouping()
        guard stack.undoCount > before else { continue }
        states.removeSubrange((position + 1)...)
        states.append(try state(context))
        position += 1
      case 7, 8: if position > 0 { context.undo(); position -= 1 }
      case 9, 10: if position + 1 < states.count { context.redo(); position += 1 }
      default: try context.save()
      }
      let now = try state(context)
      try #require(now == states[position], "seed \(seed), step \(step)")
    }
    try context.save()
    let coordinator = try #require(context.persistentStoreCoordinator)
    let fresh = ManagedObjectContext(.privateQueue, coordinator: coordinator)
    #expect(try state(fresh) == states[position])
    #expect(try coordinator.verify().findings.isEmpty)
  }

  private func state(_ context: ManagedObjectContext) throws -> [String] {
    var lines: [String] = []
    for company in try context.fetch(Company.self, sort: [.ascending(\.code)]) {
      let partners = company.partners.map(\.code).sorted()
      lines.append(
        "\(company.code) \(company.size ?? -1) \(company.people.map(\.name).sorted()) \(partners) "
          + "\(company.ranking.map(\.name))")
    }
    for person in try context.fetch(Person.self, sort: [.ascending(\.name)]) {
      lines.append(
        "\(person.name) \(person.age) \(person.company?.code ?? "-") \(person.ranked?.code ?? "-")")
    }
    return lines
  }

  private func change(_ context: ManagedObjectContext, _ random: inout SplitMix64, _ nextNumber: inout Int)
    throws
  {
    let companies = try context.fetch(Company.self, sort: [.ascending(\.code)])
    let people = try context.fetch(Person.self, sort: [.ascending(\.name)])
    let (company, person) = (companies.randomElement(using: &random), people.randomElement(using: &random))
    nextNumber += 1
    switch Int.random(in: 0..<9, using: &random) {
    case 0: _ = context.makePerson("P\(nextNumber)", in: company)
    case 1: _ = context.makeCompany("C\(nextNumber)")
    case 2: person?.age += 1
    case 3: person?.company = company
    case 4: if let person { company?.ranking.append(person) }
    case 5: company?.ranking.shuffle(using: &random)
    case 6:
      if let other = companies.randomElement(using: &random), other !== company {
        company?.partners.insert(other)
      }
    case 7: person.map(context.delete)
    default: if companies.count > 2 { company.map(context.delete) }
    }
  }
}
