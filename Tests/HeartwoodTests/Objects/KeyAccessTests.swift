import Foundation
import GraphTestSupport
import Heartwood
import HeartwoodFaults
import Observation
import Testing

/// A class with an accessor written by hand.
final class Handmade: ManagedObject {
  @Attribute var stored = "new"
  @Relationship(inverse: { $0.parent }) var parts: Set<Handmade>
  @Relationship(inverse: { $0.parts }) var parent: Handmade?

  var title: String {
    get {
      willAccessValue(forKey: "stored")
      defer { didAccessValue(forKey: "stored") }
      return primitiveValue(forKey: "stored") as? String ?? ""
    }
    set {
      willChangeValue(forKey: "stored")
      setPrimitiveValue(newValue, forKey: "stored")
      didChangeValue(forKey: "stored")
    }
  }

  func setParent(_ parent: Handmade?) {
    willChangeValue(forKey: "parent")
    setPrimitiveValue(parent, forKey: "parent")
    didChangeValue(forKey: "parent")
  }

  func setParts(_ parts: Set<Handmade>) {
    willChangeValue(forKey: "parts", withSetMutation: .set, using: parts)
    setPrimitiveValue(parts, forKey: "parts")
    didChangeValue(forKey: "parts", withSetMutation: .set, using: parts)
  }
}

final class Shed: ManagedObject {
  @Attribute var title = ""
  @Relationship var vehicle: Vehicle?
}

class Vehicle: ManagedObject {
  @Attribute var wheels: Int64 = 0
}

final class Cart: Vehicle {
  @Attribute var load: Int64 = 0
}

@Suite struct `Values by name` {
  private func makeHandmade() throws -> (PersistentContainer, ManagedObjectContext) {
    let container = try PersistentContainer(
      name: "Handmade", types: [Handmade.self], at: URL(fileURLWithPath: "/dev/null"))
    return (container, container.newBackgroundContext())
  }

  // OBJ-16
  @Test func `a subscript reads and sets any property`() throws {
    let context = try makeContainer().newBackgroundContext()
    let (company, person) = (context.makeCompany("A"), context.makePerson("Ada"))
    person["age"] = 36
    person["company"] = company
    #expect(person.age == 36 && person["age"] as? Int64 == 36)
    #expect(company["people"] as? Set<ManagedObject> == [person])
    person["nick"] = nil
    #expect(person["nick"] == nil)
  }

  // OBJ-17
  @Test func `a to-many relationship by name is a live collection`() throws {
    let context = try makeContainer().newBackgroundContext()
    let company = context.makeCompany("A")
    let people = (0..<3).map { context.makePerson("P\($0)") }
    let members = company.mutableSetValue(forKey: "people")
    members.insert(people[0])
    #expect(company.people == [people[0]] && people[0].company === company && members.count == 1)
    people[1].company = company
    #expect(members.contains(people[1]) && members.count == 2)
    members.remove(people[0])
    #expect(Array(members) == [people[1]])
    members.removeAll()
    #expect(members.isEmpty && people[1].company == nil)

    let ranking = company.mutableOrderedSetValue(forKey: "ranking")
    ranking.insert(contentsOf: people)
    ranking.insert(people[2], at: 0)
    #expect(company.ranking == [people[2], people[0], people[1]])
    #expect(ranking[1] === people[0] && ranking.firstIndex(of: people[1]) == 2)
    #expect(ranking.remove(at: 0) === people[2] && ranking.count == 2)
    try context.save()
    context.reset()
    let again = try #require(try context.fetch(Company.self).first)
    #expect(again.ranking.map(\.name) == ["P0", "P1"])
  }

  // OBJ-15, T11
  @Test func `a primitive value is not saved by itself, and changes no inverse`() throws {
    let (container, context) = try makeHandmade()
    let (parent, part) = (Handmade(context: context), Handmade(context: context))
    try context.save()
    part.setPrimitiveValue("raw", forKey: "stored")
    part.setPrimitiveValue(parent, forKey: "parent")
    #expect(part.stored == "raw" && part.parent === parent && parent.parts.isEmpty)
    #expect(!context.hasChanges && !part.isUpdated)
    try context.save()
    let other = container.newBackgroundContext()
    #expect(try other.count(Handmade.self, where: { $0.stored == "raw" || $0.parent != nil }) == 0)
  }

  // OBJ-15
  @Test func `reading a primitive value fires no fault and loads no relationship`() throws {
    let (_, context) = try makeHandmade()
    let object = Handmade(context: context)
    try context.save()
    context.refresh(object, mergeChanges: false)
    #expect(object.primitiveValue(forKey: "stored") == nil && object.primitiveValue(forKey: "parts") == nil)
    #expect(object.isFault)
    // OBJ-13
    object.willAccessValue(forKey: nil)
    #expect(!object.isFault && object.primitiveValue(forKey: "stored") as? String == "new")
    #expect(object.primitiveValue(forKey: "parts") == nil)
    object.willAccessValue(forKey: "parts")
    #expect(object.primitiveValue(forKey: "parts") as? Set<ManagedObject> == [])
  }

  // OBJ-13, OBJ-14
  @Test func `accessors written by hand fire faults, mark changes, maintain inverses, and are undone`() throws
  {
    let (_, context) = try makeHandmade()
    let (parent, part) = (Handmade(context: context), Handmade(context: context))
    try context.save()
    context.undoManager = UndoStack()
    context.isObservable = true
    context.refresh(part, mergeChanges: false)
    #expect(part.title == "new" && !part.isFault)
    nonisolated(unsafe) var isSeen = false
    withObservationTracking {
      _ = part.title
    } onChange: {
      isSeen = true
    }
    part.title = "changed"
    #expect(isSeen && part.isUpdated && part.changedValues()["stored"] as? String == "changed")
    part.setParent(parent)
    #expect(parent.parts == [part])
    context.processPendingChanges()
    context.undo()
    #expect(part.title == "new" && part.parent == nil && parent.parts.isEmpty)
    parent.setParts([part])
    #expect(part.parent === parent && part.isUpdated)
    parent.setParts([])
    #expect(part.parent == nil)
    part.title = "saved"
    try context.save()
    context.reset()
    #expect(try context.count(Handmade.self, where: { $0.stored == "saved" }) == 1)
  }

  // OBJ-09, OID-02
  @Test func `identifiers from a relationship have the entity of the object`() throws {
    let container = try makeLibrary()
    let context = container.newBackgroundContext()
    let author = context.makeAuthor("A")
    let comic = Comic(context: context)
    comic.author = author
    context.makeBook("1", "B", by: author)
    try context.save()
    let other = container.newBackgroundContext()
    let same = try #require(try other.fetch(Author.self).first)
    let names = same.objectIDs(forRelationshipNamed: "books").map { $0.entity.name }
    #expect(names == ["Comic", "Book"])
    #expect(
      same.$books.objectIDs.map { $0.uriRepresentation().absoluteString.contains("/Comic/") } == [
        true, false,
      ])
    #expect(other.registeredObjects.count == 1)
    let committed = same.committedValues(forKeys: ["books"])["books"] as? [ManagedObjectID]
    #expect(committed?.first?.entity.name == "Comic")
  }

  // MRG-03, MRG-15
  @Test func `identifiers in the snapshots of a conflict have the entity of the object`() throws {
    let container = try PersistentContainer(
      name: "Sheds", types: [Shed.self, Vehicle.self, Cart.self], at: URL(fileURLWithPath: "/dev/null"))
    let context = container.newBackgroundContext()
    let shed = Shed(context: context)
    let cart = Cart(context: context)
    shed.vehicle = cart
    try context.save()
    let other = container.newBackgroundContext()
    let mine = try #require(other.fetch(Shed.self).first)
    mine.title = "mine"
    shed.title = "theirs"
    try context.save()
    let conflict = try #require(heartwoodError { try other.save() }?.mergeConflicts.first)
    for snapshot in [conflict.objectSnapshot, conflict.persistedSnapshot] {
      let vehicle = try #require(snapshot?["vehicle"] as? ManagedObjectID)
      #expect(vehicle == cart.objectID && vehicle.entity.name == "Cart")
      #expect(vehicle.uriRepresentation() == cart.objectID.uriRepresentation())
    }
  }

  // OBJ-02
  @Test func `a class has a request for its objects`() throws {
    let context = try makeLibrary().newBackgroundContext()
    context.makeBook("1", "B")
    let request: FetchRequest<Book> = Book.fetchRequest()
    #expect(try context.fetch(request).map(\.isbn) == ["1"])
    #expect(Book.entity().name == "Book")
  }

  // OID-09
  @Test func `identifiers have an order, and are encoded as URIs`() throws {
    let container = try makeContainer()
    let context = container.newBackgroundContext()
    let people = (0..<3).map { context.makePerson("P\($0)") }
    let temporary = people[0].objectID
    try context.save()
    let ids = people.map(\.objectID)
    #expect(ids.reversed().sorted() == ids && ids[2] < temporary && !(ids[0] < ids[0]))
    let data = try JSONEncoder().encode(ids)
    #expect(try JSONDecoder().decode([String].self, from: data) == ids.map(\.description))
    #expect(try JSONDecoder().decode([ManagedObjectID].self, from: data) == ids)
    #expect(throws: EncodingError.self) { try JSONEncoder().encode([temporary]) }
    #expect(throws: DecodingError.self) {
      try JSONDecoder().decode([ManagedObjectID].self, from: Data("[\"x-coredata:///Person/t1\"]".utf8))
    }
    let coordinator = container.persistentStoreCoordinator
    try coordinator.remove(try #require(coordinator.persistentStores.first))
    #expect(throws: DecodingError.self) { try JSONDecoder().decode([ManagedObjectID].self, from: data) }
  }

  @Test func `the changed values have a to-many relationship that was not loaded`() throws {
    let container = try makeContainer()
    let first = container.newBackgroundContext()
    _ = first.makePerson("Ada", in: first.makeCompany("Acme"))
    _ = first.makePerson("Bob")
    try first.save()
    let context = container.newBackgroundContext()
    let acme = try #require(try context.fetch(Company.self).first)
    let bob = try #require(try context.fetch(Person.self, where: { $0.name == "Bob" }).first)
    bob.company = acme
    #expect(Set(acme.changedValuesForCurrentEvent().keys) == ["people"])
    context.processPendingChanges()
    #expect(Array(acme.changedValues().keys) == ["people"])
    #expect((acme.changedValues()["people"] as? Set<ManagedObject>)?.count == 2)
    try context.save()
    #expect(acme.changedValues().isEmpty)
  }

  // OID-02
  @Test func `an identifier knows its open store`() throws {
    let container = try makeContainer()
    let context = container.newBackgroundContext()
    let person = context.makePerson("Ada")
    #expect(person.objectID.isTemporaryID && person.objectID.persistentStore == nil)
    try context.save()
    let coordinator = container.persistentStoreCoordinator
    let store = try #require(coordinator.persistentStores.first)
    #expect(person.objectID.persistentStore === store)
    try coordinator.remove(store)
    #expect(person.objectID.persistentStore == nil)
  }
}
