import Foundation
import GraphTestSupport
import Heartwood
import TestSupport
import Testing

/// Objects, identifiers and links of a store over its migration.
@Suite struct MigratedContentTests: PetStoreTests {
  let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

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
      // Metadata that the program sets keeps the names.
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
}
