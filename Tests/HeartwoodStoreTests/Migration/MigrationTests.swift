import Foundation
import GraphTestSupport
import Heartwood
import HeartwoodFiles
import TestSupport
import Testing

/// Stores that are opened with another model than that they were written with.
@Suite struct MigrationTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  /// A model of persons and pets; `edit` changes it by the names of its entities.
  private func model(_ edit: (EntityDescription, EntityDescription) -> Void = { _, _ in })
    -> ManagedObjectModel
  {
    let name = AttributeDescription(name: "name", type: .string)
    let age = AttributeDescription(name: "age", type: .integer16)
    let person = EntityDescription(name: "Person", properties: [name, age])
    let pet = EntityDescription(
      name: "Pet", properties: [AttributeDescription(name: "name", type: .string, isOptional: true)])
    person.indexes = [
      FetchIndexDescription(name: "byName", elements: [FetchIndexElementDescription(property: name)])
    ]
    let pets = RelationshipDescription(name: "pets", destination: pet, isToMany: true)
    let owner = RelationshipDescription(name: "owner", destination: person, isToMany: false)
    (pets.inverseRelationship, owner.inverseRelationship) = (owner, pets)
    person.ownProperties.append(pets)
    pet.ownProperties.append(owner)
    edit(person, pet)
    return ManagedObjectModel(entities: [person, pet])
  }

  private func open(
    _ model: ManagedObjectModel, _ edit: (PersistentStoreDescription) -> Void = { _ in }
  ) throws -> ManagedObjectContext {
    let coordinator = try PersistentStoreCoordinator(checking: model)
    let description = PersistentStoreDescription(url: folder.store)
    edit(description)
    try coordinator.addPersistentStore(with: description)
    return ManagedObjectContext(.privateQueue, coordinator: coordinator)
  }

  private func close(_ context: ManagedObjectContext) throws {
    try context.persistentStoreCoordinator?.close()
  }

  private func insert(_ entity: String, _ values: [String: Any?], in context: ManagedObjectContext) throws
    -> ManagedObject
  {
    let model = try #require(context.persistentStoreCoordinator?.managedObjectModel)
    let object = ManagedObject(entity: try #require(model.entitiesByName[entity]), insertInto: context)
    for (name, value) in values { object.setValue(value, forKey: name) }
    return object
  }

  private func all(_ entity: String, in context: ManagedObjectContext) throws -> [ManagedObject] {
    try context.fetch(FetchRequest<ManagedObject>(entityName: entity))
  }

  /// Ada and Bob, and Ada's cat.
  private func fill() throws {
    let context = try open(model())
    let ada = try insert("Person", ["name": "Ada", "age": 36], in: context)
    _ = try insert("Person", ["name": "Bob", "age": nil], in: context)
    _ = try insert("Pet", ["name": "Cat", "owner": ada], in: context)
    try context.save()
    try close(context)
  }

  private func checkUnchanged() throws {
    let context = try open(model()) { $0.shouldMigrateStoreAutomatically = false }
    #expect(
      Set(try all("Person", in: context).map { $0.value(forKey: "name") as? String }) == ["Ada", "Bob"])
    #expect(try context.persistentStoreCoordinator?.verify().findings == [])
    try close(context)
  }

  // MIG-01, STO-10, CON-10, CON-14
  @Test func `a store is migrated only if its description or its options allow it`() throws {
    try fill()
    let newer = model { person, _ in
      person.ownProperties.append(AttributeDescription(name: "nick", type: .string))
    }
    let refused = heartwoodError { _ = try open(newer) { $0.shouldMigrateStoreAutomatically = false } }
    #expect(refused?.code == .persistentStoreIncompatibleVersionHash)
    let unmapped = heartwoodError { _ = try open(newer) { $0.shouldInferMappingModelAutomatically = false } }
    #expect(unmapped?.code == .migrationMissingMappingModel)
    let readOnly = heartwoodError { _ = try open(newer) { $0.isReadOnly = true } }
    #expect(readOnly?.code == .persistentStoreIncompatibleVersionHash)
    #expect(readOnly?.message.contains("read-only") == true)
    let coordinator = PersistentStoreCoordinator(managedObjectModel: newer)
    let bare = heartwoodError { try coordinator.addPersistentStore(at: folder.store) }
    #expect(bare?.code == .persistentStoreIncompatibleVersionHash)
    try checkUnchanged()
    try coordinator.addPersistentStore(
      at: folder.store,
      options: [.migratePersistentStoresAutomatically: true, .inferMappingModelAutomatically: true])
    try coordinator.close()
  }

  // PSC-11
  @Test(arguments: [false, true])
  func `a copy that a migration of the store comes into is refused, and removed`(isNew: Bool) throws {
    try fill()
    let place = folder.url.appending(path: "Copy.heartwood")
    let newer = model { person, _ in
      person.ownProperties.append(AttributeDescription(name: "email", type: .string, isOptional: true))
    }
    if !isNew {
      // What a killed copy has left.
      try FileManager.default.createDirectory(at: place, withIntermediateDirectories: true)
      for name in ["anchor.new", "processes"] { try Data().write(to: place.appending(path: name)) }
    }
    let description = PersistentStoreDescription(url: folder.store)
    let files = MeetingFileSystem(place.path)
    (description.fileSystem, description.isReadOnly) = (files, true)
    let coordinator = try PersistentStoreCoordinator(checking: model())
    let store = try coordinator.addPersistentStore(with: description)
    files.meet { try close(open(newer)) }
    let error = heartwoodError { try coordinator.migratePersistentStore(store, to: place) }
    #expect(files.hasMet)
    #expect(error?.code == .persistentStoreIncompatibleVersionHash)
    #expect(error?.message.contains("another program has migrated it meanwhile") == true)
    // It cannot be open with its former model any more.
    #expect(coordinator.persistentStores == [])
    #expect(!FileManager.default.fileExists(atPath: place.path + "/anchor"))
    try coordinator.close()

    let migrated = try PersistentStoreCoordinator(checking: newer)
    try migrated.migratePersistentStore(
      migrated.addPersistentStore(with: PersistentStoreDescription(url: folder.store)), to: place)
    let context = ManagedObjectContext(.privateQueue, coordinator: migrated)
    #expect(try all("Person", in: context).isEmpty == false)
    try migrated.close()
  }

  // MOD-14, MIG-29, MOD-05
  @Test func `metadata tells whether a model opens a store, before and after its migration`() throws {
    try fill()
    let (former, newer) = (
      model(),
      model { person, _ in
        person.ownProperties.removeLast(); person.versionHashModifier = "2"
      }
    )
    newer.entitiesByName["Pet"]?.ownProperties.removeLast()
    newer.versionIdentifiers = ["two"]
    typealias Key = PersistentStore.MetadataKey
    let before = try PersistentStoreCoordinator.metadataForPersistentStore(at: folder.store)
    #expect(former.isConfiguration(withName: nil, compatibleWithStoreMetadata: before))
    #expect(!former.isConfiguration(withName: "Other", compatibleWithStoreMetadata: before))
    #expect(!newer.isConfiguration(withName: nil, compatibleWithStoreMetadata: before))
    #expect(ManagedObjectModel.mergedModel(from: [newer, former], forStoreMetadata: before) === former)
    try close(try open(newer))
    let after = try PersistentStoreCoordinator.metadataForPersistentStore(at: folder.store)
    #expect(newer.isConfiguration(withName: nil, compatibleWithStoreMetadata: after))
    #expect(!former.isConfiguration(withName: nil, compatibleWithStoreMetadata: after))
    #expect(after[Key.storeUUID] as? String == before[Key.storeUUID] as? String)
    #expect(after[Key.modelVersionChecksum] as? String == newer.versionChecksum)
    #expect(after[Key.modelVersionIdentifiers] as? [String] == ["two"])
    let stored = try PersistentStoreCoordinator.managedObjectModel(ofStoreAt: folder.store)
    #expect(stored.versionChecksum == newer.versionChecksum)
  }

  // MIG-17
  @Test func `objects without a value in a new mandatory attribute are named, and the store stays as it was`()
    throws
  {
    try fill()
    let newer = model { person, _ in
      person.ownProperties.append(AttributeDescription(name: "mail", type: .string, isOptional: false))
    }
    let error = heartwoodError { _ = try open(newer) }
    #expect(error?.code == .migration && error?.property == "mail" && error?.objectIDs.count == 2)
    #expect(error?.message.contains("Person.mail, which is mandatory and has no constant default") == true)
    try checkUnchanged()
    let missing = heartwoodError {
      _ = try open(model { person, _ in person.ownProperties.first { $0.name == "age" }?.isOptional = false })
    }
    #expect(missing?.code == .migration && missing?.property == "age" && missing?.objectIDs.count == 1)
    try checkUnchanged()
  }

  // MIG-18, MIG-17
  @Test func `a constraint over equal values is refused with their objects, and the store stays as it was`()
    throws
  {
    let context = try open(model())
    for name in ["Ada", "Bob", "Ada", "Eve", "Ada"] { _ = try insert("Person", ["name": name], in: context) }
    try context.save()
    try close(context)
    let unique = model { person, _ in person.uniquenessConstraints = [["name"]] }
    let error = heartwoodError { _ = try open(unique) }
    #expect(error?.code == .migrationConstraintViolation && error?.property == "name")
    #expect(error?.objectIDs.map(\.key) == [1, 3, 5])
    #expect(error?.message.contains("name of Person must be unique") == true)
    try checkUnchanged2()
    let ages = try open(model { person, _ in person.uniquenessConstraints = [["age"]] })
    #expect(try ages.persistentStoreCoordinator?.verify().findings == [])
    _ = try insert("Person", ["age": 1], in: ages)
    _ = try insert("Person", ["age": 1], in: ages)
    #expect(heartwoodError { try ages.save() }?.code == .managedObjectConstraintMerge)
    try close(ages)
  }

  private func checkUnchanged2() throws {
    let context = try open(model()) { $0.shouldMigrateStoreAutomatically = false }
    #expect(try all("Person", in: context).count == 5)
    try close(context)
  }

  // MIG-04, MIG-05, MIG-06
  @Test func `what cannot be inferred is refused with all its reasons, and nothing is changed`() throws {
    try fill()
    let newer = model { person, pet in
      person.ownProperties.removeAll { $0.name == "name" }
      person.ownProperties.append(AttributeDescription(name: "name", type: .integer64))
      person.indexes = []
      (pet.ownProperties.last as? RelationshipDescription)?.maxCount = 1
      (person.ownProperties.first { $0.name == "pets" } as? RelationshipDescription)?.maxCount = 1
    }
    let error = heartwoodError { _ = try open(newer) }
    #expect(error?.code == .inferredMappingModel)
    #expect(
      error?.message.contains(
        "Person.name is of type integer64, and Person.name of the source is of type string") == true)
    #expect(
      error?.message.contains("Person.pets is to-one, and Person.pets of the source is to-many") == true)
    try checkUnchanged()
  }

  // MIG-06
  @Test func `two hierarchies without a common parent are not joined`() throws {
    try fill()
    let (person, pet) = (EntityDescription(name: "Person"), EntityDescription(name: "Pet"))
    let living = EntityDescription(name: "Living")
    living.subentities = [person, pet]
    let error = heartwoodError { _ = try open(ManagedObjectModel(entities: [living, person, pet])) }
    #expect(error?.code == .inferredMappingModel)
    #expect(error?.message.contains("hierarchies of Person and Pet") == true)
    try checkUnchanged()
  }

  // MIG-19, STO-13, PSC-17
  @Test func `rows of the former model are read and saved at once, and written again when that is wanted`()
    throws
  {
    try fill()
    let newer = model { person, _ in
      person.ownProperties.append(AttributeDescription(name: "alias", type: .string, defaultValue: "none"))
    }
    typealias Key = PersistentStore.MetadataKey
    let context = try open(newer)
    let store = try #require(context.persistentStoreCoordinator?.persistentStores.first)
    #expect(try store.metadata[Key.hasDeferredLightweightMigration] as? Bool == true)
    #expect(try all("Person", in: context).map { $0.value(forKey: "alias") as? String } == ["none", "none"])
    let ada = try #require(try all("Person", in: context).first)
    ada.setValue("Countess", forKey: "alias")
    try context.save()
    try context.persistentStoreCoordinator?.finishDeferredLightweightMigration()
    #expect(try context.persistentStoreCoordinator?.finishDeferredLightweightMigrationTask() == false)
    #expect(try store.metadata[Key.hasDeferredLightweightMigration] == nil)
    context.reset()
    #expect(
      try all("Person", in: context).map { $0.value(forKey: "alias") as? String } == ["Countess", "none"])
    #expect(try context.persistentStoreCoordinator?.verify().findings == [])
    try close(context)
    let newest = model { person, _ in
      person.ownProperties.append(AttributeDescription(name: "alias", type: .string, defaultValue: "none"))
      person.ownProperties.append(AttributeDescription(name: "zip", type: .integer32))
    }
    let eager = try open(newest) { $0.defersLightweightMigration = false }
    #expect(
      try eager.persistentStoreCoordinator?.persistentStores.first?.metadata[
        Key.hasDeferredLightweightMigration] == nil)
    #expect(
      try all("Person", in: eager).map { $0.value(forKey: "alias") as? String } == ["Countess", "none"])
    try close(eager)
  }

  // MIG-27, OID-06, HIS-21
  @Test func `identifiers, tokens and the history stay valid over a migration with renamings`() throws {
    let context = try open(model())
    let ada = try insert("Person", ["name": "Ada"], in: context)
    try context.save()
    let token = try #require(context.persistentStoreCoordinator?.currentPersistentHistoryToken())
    ada.setValue("Ada L.", forKey: "name")
    ada.setValue(36, forKey: "age")
    let id = ada.objectID
    try context.save()
    try close(context)
    let newer = model { person, _ in
      person.name = "Author"
      person.renamingIdentifier = "Person"
      person.ownProperties.removeAll { $0.name == "age" }
      person.ownProperties[0].name = "title"
      person.ownProperties[0].renamingIdentifier = "name"
    }
    let migrated = try open(newer)
    let found = try #require(try all("Author", in: migrated).first)
    #expect(found.objectID.key == id.key && found.value(forKey: "title") as? String == "Ada L.")
    let changes = try migrated.execute(PersistentHistoryChangeRequest.fetchHistory(after: token)).transactions
    let updated = try #require(changes.first?.changes?.first)
    #expect(updated.changedObjectID.entity.name == "Author")
    #expect(updated.updatedProperties?.map(\.name) == ["title"])
    try close(migrated)
  }

  // MIG-27, OID-06
  @Test func `URIs that have the former name of an entity lead to its objects, version after version`()
    throws
  {
    func version(_ name: String, _ former: String?, _ other: String? = nil) -> ManagedObjectModel {
      let entity = EntityDescription(
        name: name, properties: [AttributeDescription(name: "name", type: .string)])
      entity.renamingIdentifier = former
      let others = other.map {
        EntityDescription(name: $0, properties: [AttributeDescription(name: "name", type: .string)])
      }
      return ManagedObjectModel(entities: [entity] + (others.map { [$0] } ?? []))
    }
    let first = try open(version("Person", nil))
    let ada = try insert("Person", ["name": "Ada"], in: first)
    try first.save()
    let uri = ada.objectID.uriRepresentation()
    let encoded = try JSONEncoder().encode([ada.objectID])
    try close(first)
    for (model, finds) in [
      (version("Human", "Person"), true), (version("Author", "Human"), true), (version("Author", nil), true),
      // The name is that of others now.
      (version("Author", nil, "Person"), false), (version("Writer", "Author"), false),
    ] {
      let context = try open(model)
      let coordinator = try #require(context.persistentStoreCoordinator)
      let id = coordinator.managedObjectID(forURIRepresentation: uri)
      let object = id.flatMap { try? context.existingObject(with: $0) }
      #expect((object?.value(forKey: "name") as? String == "Ada") == finds, "\(String(describing: id))")
      let decoded = try? JSONDecoder().decode([ManagedObjectID].self, from: encoded)
      #expect(decoded?.first == id)
      // What the program sets keeps the names.
      try coordinator.setMetadata(["mine": "x"], for: try #require(coordinator.persistentStores.first))
      #expect(coordinator.managedObjectID(forURIRepresentation: uri) == id)
      try close(context)
    }
  }

  // MIG-06, MOD-23
  @Test func `a renaming identifier is followed through several versions, and from the first to the last`()
    throws
  {
    for direct in [false, true] {
      let folder = try TemporaryFolder()
      func pass(_ name: String, _ identifier: String?) throws -> [String] {
        let title = AttributeDescription(name: "title\(name)", type: .string)
        title.renamingIdentifier = identifier.map { "title\($0)" }
        let entity = EntityDescription(name: name, properties: [title])
        entity.renamingIdentifier = identifier
        let coordinator = PersistentStoreCoordinator(
          managedObjectModel: ManagedObjectModel(entities: [entity]))
        try coordinator.addPersistentStore(with: PersistentStoreDescription(url: folder.store))
        let context = ManagedObjectContext(.privateQueue, coordinator: coordinator)
        defer { try? coordinator.close() }
        if identifier == nil {
          ManagedObject(entity: entity, insertInto: context).setValue("x", forKey: "title\(name)")
          try context.save()
        }
        return try all(name, in: context).compactMap { $0.value(forKey: "title\(name)") as? String }
      }
      #expect(try pass("A", nil) == ["x"])
      if !direct { #expect(try pass("B", "A") == ["x"]) }
      #expect(try pass("C", "A") == ["x"])
      #expect(try pass("D", "C") == ["x"])
    }
  }

  // MIG-04
  @Test func `data outside its row stays with its attribute when that moves to the parent of its entity`()
    throws
  {
    func model(moved: Bool) -> ManagedObjectModel {
      let photo = AttributeDescription(name: "photo", type: .binaryData)
      photo.allowsExternalBinaryDataStorage = true
      let other = AttributeDescription(name: "photo", type: .binaryData)
      other.allowsExternalBinaryDataStorage = true
      let (one, two) = (EntityDescription(name: "One"), EntityDescription(name: "Two"))
      let parent = EntityDescription(name: "Parent")
      if moved {
        parent.ownProperties = [photo]
      } else {
        one.ownProperties = [photo]
        two.ownProperties = [other]
      }
      parent.subentities = [one, two]
      return ManagedObjectModel(entities: [parent, one, two])
    }
    let context = try open(model(moved: false))
    for (name, byte) in [("One", UInt8(1)), ("Two", 2)] {
      _ = try insert(name, ["photo": Data(repeating: byte, count: 100_000)], in: context)
    }
    try context.save()
    try close(context)
    let moved = try open(model(moved: true))
    for (name, byte) in [("One", UInt8(1)), ("Two", 2)] {
      let photo = try all(name, in: moved).first?.value(forKey: "photo") as? Data
      #expect(photo == Data(repeating: byte, count: 100_000))
    }
    #expect(try moved.persistentStoreCoordinator?.verify().findings == [])
    try close(moved)
  }

  // MIG-05
  @Test func `links to objects of an entity that is gone are removed, in rows and in orders`() throws {
    let context = try open(homesModel(withCats: true))
    let (pet, cat) = (try insert("Pet", [:], in: context), try insert("Cat", [:], in: context))
    _ = try insert("Home", ["favourite": cat, "list": [cat, pet]], in: context)
    _ = try insert("Home", ["favourite": pet, "list": [pet, cat]], in: context)
    try context.save()
    try close(context)
    let newer = try open(homesModel(withCats: false))
    let homes = try all("Home", in: newer)
    #expect(homes.map { $0.value(forKey: "favourite") == nil } == [true, false])
    #expect(homes.map { ($0.value(forKey: "list") as? [ManagedObject])?.count } == [1, 1])
    #expect(try all("Pet", in: newer).count == 1)
    #expect(try newer.persistentStoreCoordinator?.verify().findings == [])
    try close(newer)
  }

  // MIG-05
  @Test func `a relationship that gets an inverse fills it`() throws {
    func model(inverse: Bool) -> ManagedObjectModel {
      let (item, box) = (EntityDescription(name: "Item"), EntityDescription(name: "Box"))
      let boxOf = RelationshipDescription(name: "box", destination: box, isToMany: false)
      let items = RelationshipDescription(name: "items", destination: item, isToMany: true)
      item.ownProperties = [boxOf]
      if inverse {
        box.ownProperties = [items]
        (boxOf.inverseRelationship, items.inverseRelationship) = (items, boxOf)
      }
      return ManagedObjectModel(entities: [item, box])
    }
    let context = try open(model(inverse: false))
    let box = try insert("Box", [:], in: context)
    for _ in 0..<3 { _ = try insert("Item", ["box": box], in: context) }
    try context.save()
    try close(context)
    let newer = try open(model(inverse: true))
    #expect((try all("Box", in: newer).first?.value(forKey: "items") as? Set<ManagedObject>)?.count == 3)
    #expect(try newer.persistentStoreCoordinator?.verify().findings == [])
    try close(newer)
  }

  // MIG-26
  @Test func `a generation of the former model is refused with the reason`() throws {
    try fill()
    let newer = try open(
      model { person, _ in person.ownProperties.append(AttributeDescription(name: "x", type: .date)) })
    let coordinator = try #require(newer.persistentStoreCoordinator)
    let first = try #require(try coordinator.generations().dropFirst().first).generation
    let token = try coordinator.queryGenerationToken(forGeneration: first.rawValue)
    let error = heartwoodError { try newer.setQueryGenerationFrom(token) }
    #expect(error?.code == .persistentStoreIncompatibleVersionHash)
    try newer.setQueryGenerationFrom(nil)
    #expect(try all("Person", in: newer).count == 2)
    try close(newer)
  }

  // MIG-07, MIG-08
  @Test func `an inferred mapping model explains what becomes of each entity`() throws {
    let newer = model { person, pet in
      person.name = "Author"
      person.renamingIdentifier = "Person"
      person.ownProperties.removeAll { $0.name == "age" }
      person.ownProperties.append(
        AttributeDescription(name: "mail", type: .string, isOptional: false, defaultValue: "none"))
      (pet.ownProperties.last as? RelationshipDescription)?.maxCount = 0
      pet.ownProperties[0].isOptional = false
    }
    let mapping = try MappingModel.inferredMappingModel(forSourceModel: model(), destinationModel: newer)
    #expect(mapping.entityMappingsByName["Person->Author"]?.mappingType == .transform)
    #expect(
      mapping.entityMappingsByName["Person->Author"]?.attributeMappings.map {
        "\($0.name) \($0.sourceName ?? "-")"
      } == [
        "mail -", "name name",
      ])
    #expect(
      mapping.description.split(separator: "\n") == [
        "Person is renamed to Author", "Author.mail is new, and none in objects that exist",
        "Person.age is removed, with its values", "Pet.name becomes mandatory",
        "Pet.owner becomes a to-many relationship from a to-one relationship",
      ])
    let same = try MappingModel.inferredMappingModel(forSourceModel: model(), destinationModel: model())
    #expect(same.entityMappings.map(\.mappingType) == [.copy, .copy] && same.changes.isEmpty)
    let refused = model { person, _ in
      person.ownProperties[1] = AttributeDescription(name: "age", type: .date)
    }
    let error = heartwoodError {
      _ = try MappingModel.inferredMappingModel(forSourceModel: model(), destinationModel: refused)
    }
    #expect(error?.code == .inferredMappingModel && error?.property == "age")
    let text = try MappingModel.differences(from: model(), to: refused).last
    #expect(
      text?.contains("Person.age is of type date, and Person.age of the source is of type integer16") == true)
  }

  // MIG-07
  @Test
  func `what moves in a hierarchy is not called new or removed, and what an entity loses is said`()
    throws
  {
    func attribute(_ name: String) -> AttributeDescription { AttributeDescription(name: name, type: .string) }
    func model(new: Bool) -> ManagedObjectModel {
      let item = EntityDescription(name: "Item", properties: [attribute("title")])
      let names = ["Book", "Disc", "Card"]
      let (book, disc, card) = (
        EntityDescription(name: names[0]), EntityDescription(name: names[1]),
        EntityDescription(name: names[2])
      )
      // The cover moves up, the shelf down, and cards leave.
      (new ? item : book).ownProperties.append(attribute("cover"))
      (new ? disc : item).ownProperties.append(attribute("shelf"))
      item.subentities = new ? [book, disc] : [book, disc, card]
      let image = EntityDescription(name: "Image")
      let images = RelationshipDescription(name: "image", destination: image, isToMany: false)
      book.ownProperties.append(images)
      let word = AttributeDescription(
        name: "word", type: .string, isOptional: !new, defaultValue: new ? "" : nil)
      image.ownProperties.append(word)
      let base = EntityDescription(name: "Base", properties: new ? [attribute("code")] : [])
      base.uniquenessConstraints = new ? [["code"]] : []
      let part = EntityDescription(name: "Part", properties: new ? [] : [attribute("code")])
      part.uniquenessConstraints = new ? [] : [["code"]]
      if new {
        base.subentities = [part]
        let books = RelationshipDescription(name: "books", destination: book, isToMany: true)
        (books.inverseRelationship, images.inverseRelationship) = (images, books)
        image.ownProperties.append(books)
      }
      return ManagedObjectModel(entities: [item, book, disc, card, image, part] + (new ? [base] : []))
    }
    let sentences = try MappingModel.differences(from: model(new: false), to: model(new: true))
    #expect(
      sentences == [
        "Base is new", "Book.image gets the inverse Image.books", "Card inherits from nothing",
        "Card.shelf is removed, with its values", "Card.title is removed, with its values",
        "Disc.shelf moves here from Item",
        "Image.books is new, a to-many relationship, the inverse of Book.image",
        "Image.word becomes mandatory, with an empty text where there is no value",
        "Item.cover moves here from Book", "Part inherits from Base",
      ])
  }

  // MIG-17
  @Test func `a model with none of the store's entities deletes nothing`() throws {
    try fill()
    let error = heartwoodError {
      _ = try open(ManagedObjectModel(entities: [EntityDescription(name: "Other")]))
    }
    #expect(error?.code == .inferredMappingModel && error?.message.contains("Person, Pet") == true)
    try checkUnchanged()
  }

  // MIG-26
  @Test func `an earlier version of a program does not undo the migration of a later one, unless it says so`()
    throws
  {
    try fill()
    let newer = model { person, _ in
      person.ownProperties.append(AttributeDescription(name: "nick", type: .string, defaultValue: "none"))
    }
    try close(try open(newer))
    let error = heartwoodError { _ = try open(model()) }
    #expect(error?.code == .stagedMigrationBackwardMigration)
    let migrated = try open(newer)
    #expect(try all("Person", in: migrated).map { $0.value(forKey: "nick") as? String } == ["none", "none"])
    let store = try #require(migrated.persistentStoreCoordinator?.persistentStores.first)
    let former = try store.metadata[PersistentStore.MetadataKey.formerModelVersionChecksums] as? [String]
    #expect(former == [model().versionChecksum])
    // What programs note does not replace it.
    let coordinator = try #require(migrated.persistentStoreCoordinator)
    try coordinator.setMetadata(["note": "mine"], for: store)
    try migrated.save()
    try close(migrated)
    try PersistentStoreCoordinator.setMetadata(["note": "yours"], at: folder.store)
    #expect(heartwoodError { _ = try open(model()) }?.code == .stagedMigrationBackwardMigration)
    try close(try open(model()) { $0.allowsMigrationToFormerModel = true })
    try checkUnchanged()
    try close(try open(newer))
  }
}

/// Homes with a favourite pet and a list of pets; cats are pets, if there are any.
func homesModel(withCats: Bool) -> ManagedObjectModel {
  let (pet, cat) = (EntityDescription(name: "Pet"), EntityDescription(name: "Cat"))
  if withCats { pet.subentities = [cat] }
  let home = EntityDescription(name: "Home")
  home.ownProperties = [
    RelationshipDescription(name: "favourite", destination: pet, isToMany: false),
    RelationshipDescription(name: "list", destination: pet, isToMany: true, isOrdered: true),
  ]
  return ManagedObjectModel(entities: withCats ? [pet, cat, home] : [pet, home])
}

/// The machine's file system, which runs an action just before a folder that has a store is opened.
private final class MeetingFileSystem: FileSystem, @unchecked Sendable {
  private let base = PosixFileSystem()
  private let place: String
  private var action: (() throws -> Void)?

  /// - Parameter place: The folder.
  init(_ place: String) { self.place = place }

  var hasMet: Bool { action == nil }

  /// Runs an action, once.
  func meet(_ action: @escaping () throws -> Void) { self.action = action }

  func openDirectory(_ path: String) throws(FileSystemError) -> any Directory {
    if path == place, let action, FileManager.default.fileExists(atPath: place + "/anchor") {
      self.action = nil
      #expect(throws: Never.self) { try action() }
    }
    return try base.openDirectory(path)
  }

  func createDirectory(_ path: String) throws(FileSystemError) { try base.createDirectory(path) }

  func exchangeDirectories(_ path: String, _ other: String) throws(FileSystemError) {
    try base.exchangeDirectories(path, other)
  }
}
