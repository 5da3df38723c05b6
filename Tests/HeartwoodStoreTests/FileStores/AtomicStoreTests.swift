import Foundation
import GraphTestSupport
import LineStore
import TestSupport
import Testing

@testable import Heartwood

@Suite(.serialized) struct `Stores of a program's own kind` {
  private let folder: TemporaryFolder

  init() throws {
    folder = try TemporaryFolder()
    PersistentStoreCoordinator.registerStoreClass(LineStore.self, type: LineStore.kind)
  }

  private func open() throws -> PersistentContainer {
    let container = PersistentContainer(
      name: "Test", managedObjectModel: try ManagedObjectModel(types: companyTypes))
    try container.persistentStoreCoordinator.addPersistentStore(type: LineStore.kind, at: folder.store)
    return container
  }

  @Test func `a kind of store of the program has the entities of its configuration beside another store`()
    throws
  {
    func entity(_ name: String) -> EntityDescription {
      EntityDescription(
        name: name,
        properties: [
          AttributeDescription(name: "text", type: .string),
          DerivedAttributeDescription(name: "key", type: .string, derivationExpression: "canonical:(text)"),
        ])
    }
    let (note, label) = (entity("Note"), entity("Label"))
    let model = ManagedObjectModel(entities: [note, label])
    model.setEntities([note], forConfigurationName: "Notes")
    model.setEntities([label], forConfigurationName: "Labels")
    func open() throws -> PersistentContainer {
      let container = PersistentContainer(name: "Test", managedObjectModel: model)
      let coordinator = container.persistentStoreCoordinator
      try coordinator.addPersistentStore(
        type: .log, configuration: "Notes", at: folder.url.appendingPathComponent("notes"))
      try coordinator.addPersistentStore(
        type: LineStore.kind, configuration: "Labels", at: folder.url.appendingPathComponent("labels"))
      return container
    }
    let first = try open()
    let context = first.newBackgroundContext()
    for (name, text) in [("Note", "Ä"), ("Label", "Ö"), ("Label", "Ü")] {
      let object = ManagedObject(entity: try #require(model.entitiesByName[name]), insertInto: context)
      object.setValue(text, forKey: "text")
    }
    try context.save()
    let stores = first.persistentStoreCoordinator.persistentStores
    #expect(stores.map(\.configurationName) == ["Notes", "Labels"])
    try first.close()
    let second = try open()
    let reading = second.newBackgroundContext()
    let labels = try reading.fetch(FetchRequest<ManagedObject>(entityName: "Label"))
    #expect(Set(labels.map { $0.value(forKey: "key") as? String }) == ["o", "u"])
    let identifier = second.persistentStoreCoordinator.persistentStores[1].identifier
    #expect(labels.allSatisfy { $0.objectID.uriRepresentation().absoluteString.contains(identifier) })
    #expect(try reading.count(for: FetchRequest<ManagedObject>(entityName: "Note")) == 1)
    reading.delete(labels[0])
    labels[1].setValue("Å", forKey: "text")
    try reading.save()
    try second.close()
    let third = try open()
    let last = third.newBackgroundContext()
    let left = try last.fetch(FetchRequest<ManagedObject>(entityName: "Label"))
    #expect(
      left.map { $0.value(forKey: "key") as? String } == ["a"] && left.map(\.objectID) == [labels[1].objectID]
    )
  }

  // EXT-01, EXT-02, EXT-03, EXT-04, STO-05
  @Test
  func `objects of a kind of store of the program are saved as nodes, and loaded under the same identifiers`()
    throws
  {
    var container = try open()
    var context = container.newBackgroundContext()
    let company = context.makeCompany("A")
    let people = (0..<5).map { context.makePerson("\($0)", age: Int64($0), in: company) }
    company.ranking = [people[4], people[2]]
    people[0].idol = people[1]
    let club = Club(context: context)
    club.members = [people[1], people[3]]
    try context.save()
    context.delete(people[3])
    people[2].age = 20
    people[2].nick = "nick"
    try context.save()
    let uris = people.map { $0.objectID.uriRepresentation() }
    #expect(!people[0].objectID.isTemporaryID)
    try container.close()

    container = try open()
    let coordinator = container.persistentStoreCoordinator
    context = container.newBackgroundContext()
    let found = try uris.map { uri -> Person? in
      let identifier = try #require(coordinator.managedObjectID(forURIRepresentation: uri))
      return try? context.existingObject(with: identifier) as? Person
    }
    #expect(found.map { $0?.name } == ["0", "1", "2", nil, "4"])
    #expect(found.map { $0?.age } == [0, 1, 20, nil, 4])
    #expect(found[2]?.nick == "nick")
    #expect(found[0]?.idol?.name == "1")
    #expect(found[0]?.company?.ranking.map(\.name) == ["4", "2"])
    #expect(found[0]?.company?.people.count == 4)
    #expect(try context.fetch(Club.self).map { $0.members.map(\.name) } == [["1"]])
    #expect(try context.fetch(Person.self, where: { $0.age > 3 }).count == 2)
    #expect(try coordinator.verify().findings == [])
    let store = try #require(coordinator.persistentStores.first as? LineStore)
    #expect(store.cacheNodes().count == 6)
    #expect(store.persistentStoreCoordinator === coordinator)
    try container.close()
  }

  @Test func `saves of several threads, and refused ones between them, are all in the file`() async throws {
    try await expectSavesOfThreadsAreKept { try open() }
  }

  @Test func `a save that the store's class refuses fails, and the next one saves everything`() throws {
    var container = try open()
    var context = container.newBackgroundContext()
    let person = context.makePerson("a", age: 1)
    try context.save()
    let before = try Data(contentsOf: folder.store)
    // Without its folder the file can't be written.
    let elsewhere = folder.url.appendingPathExtension("elsewhere")
    try FileManager.default.moveItem(at: folder.url, to: elsewhere)
    person.age = 2
    let second = context.makePerson("b", age: 3)
    #expect(heartwoodError { try context.save() }?.code == .persistentStoreSave)
    try FileManager.default.moveItem(at: elsewhere, to: folder.url)
    #expect(try Data(contentsOf: folder.store) == before)
    let store = try #require(container.persistentStoreCoordinator.persistentStores.first as? LineStore)
    #expect(store.cacheNodes().compactMap { $0.value(forKey: "age") as? Int64 } == [1])
    second.age = 4
    try context.save()
    try container.close()
    container = try open()
    context = container.newBackgroundContext()
    #expect(Set(try context.fetch(Person.self).map(\.age)) == [2, 4])
    try container.close()
  }

  /// Authors of books; later with a renamed attribute, a wider one, a new one with a default, and an ordered list.
  private func libraryModel(isLater: Bool, isRatingMandatory: Bool = false) -> ManagedObjectModel {
    let name = AttributeDescription(name: isLater ? "fullName" : "name", type: .string)
    if isLater { name.renamingIdentifier = "name" }
    let author = EntityDescription(
      name: "Author",
      properties: [name, AttributeDescription(name: "born", type: isLater ? .integer64 : .integer16)])
    let book = EntityDescription(
      name: "Book", properties: [AttributeDescription(name: "title", type: .string)])
    if isLater {
      let rating = AttributeDescription(name: "rating", type: .double)
      rating.isOptional = !isRatingMandatory
      rating.defaultValue = isRatingMandatory ? nil : 0.5
      book.properties.append(rating)
    }
    let books = RelationshipDescription(
      name: "books", destination: book, isToMany: true, isOrdered: isLater)
    let by = RelationshipDescription(name: "author", destination: author, isToMany: false)
    (books.inverseRelationship, by.inverseRelationship) = (by, books)
    author.ownProperties.append(books)
    book.ownProperties.append(by)
    return ManagedObjectModel(entities: [author, book])
  }

  private func open(_ model: ManagedObjectModel, migrates: Bool = true) throws -> ManagedObjectContext {
    let coordinator = PersistentStoreCoordinator(managedObjectModel: model)
    let description = PersistentStoreDescription(url: folder.store)
    description.type = LineStore.kind
    description.shouldMigrateStoreAutomatically = migrates
    try coordinator.addPersistentStore(with: description)
    return ManagedObjectContext(.privateQueue, coordinator: coordinator)
  }

  // MIG-01
  @Test func `a store of the program is opened with a later model, and not with the former one again`() throws
  {
    let context = try open(libraryModel(isLater: false))
    let entities = try #require(context.persistentStoreCoordinator?.managedObjectModel.entitiesByName)
    let author = ManagedObject(entity: try #require(entities["Author"]), insertInto: context)
    author.setValue("Ada", forKey: "name")
    author.setValue(1815, forKey: "born")
    for title in ["a", "b", "c"] {
      let book = ManagedObject(entity: try #require(entities["Book"]), insertInto: context)
      book.setValue(title, forKey: "title")
      book.setValue(author, forKey: "author")
    }
    try context.save()
    let identifier = author.objectID.uriRepresentation()
    try context.persistentStoreCoordinator?.close()
    let before = try Data(contentsOf: folder.store)

    let refused = heartwoodError { _ = try open(libraryModel(isLater: true), migrates: false) }
    #expect(refused?.code == .persistentStoreIncompatibleVersionHash)
    let impossible = heartwoodError {
      _ = try open(libraryModel(isLater: true, isRatingMandatory: true))
    }
    #expect(impossible?.message.contains("rating") == true, "\(String(describing: impossible))")
    #expect(try Data(contentsOf: folder.store) == before)

    for _ in 0..<2 {
      let context = try open(libraryModel(isLater: true))
      let coordinator = try #require(context.persistentStoreCoordinator)
      let found = try context.existingObject(
        with: try #require(coordinator.managedObjectID(forURIRepresentation: identifier)))
      #expect(
        found.value(forKey: "fullName") as? String == "Ada" && found.value(forKey: "born") as? Int64 == 1815)
      let books = found.objectIDs(forRelationshipNamed: "books").map(context.object(with:))
      #expect(Set(books.map { $0.value(forKey: "title") as? String }) == ["a", "b", "c"])
      #expect(books.allSatisfy { $0.value(forKey: "rating") as? Double == 0.5 })
      #expect(try coordinator.verify().findings == [])
      books[0].setValue(0.5, forKey: "rating")
      try context.save()
      try coordinator.close()
    }
    let behind = heartwoodError { _ = try open(libraryModel(isLater: false)) }
    #expect(behind?.code == .stagedMigrationBackwardMigration)
  }

  // PSC-10, STO-22, STO-26
  @Test func `a kind of store is known while its class is registered`() throws {
    let kind = PersistentStore.StoreType(rawValue: "Other lines")
    PersistentStoreCoordinator.registerStoreClass(LineStore.self, type: kind)
    #expect(PersistentStoreCoordinator.registeredStoreTypes[kind] == LineStore.self)
    #expect(PersistentStoreCoordinator.registeredStoreTypes[.binary] != nil)
    let coordinator = PersistentStoreCoordinator(
      managedObjectModel: try ManagedObjectModel(types: companyTypes))
    let store = try coordinator.addPersistentStore(type: kind, at: folder.store)
    #expect(store.type == kind)
    try coordinator.close()
    PersistentStoreCoordinator.registerStoreClass(nil, type: kind)
    #expect(PersistentStoreCoordinator.registeredStoreTypes[kind] == nil)
    #expect(
      heartwoodError { _ = try coordinator.addPersistentStore(type: kind, at: folder.store) }?.code
        == .persistentStoreInvalidType)
  }
}
