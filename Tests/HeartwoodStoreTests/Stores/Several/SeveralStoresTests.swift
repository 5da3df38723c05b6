import Foundation
import GraphTestSupport
import HeartwoodFaults
import HeartwoodFiles
import TestSupport
import Testing

@testable import Heartwood

@Suite struct `Several stores` {
  private let world: SeveralStoresWorld

  init() throws { world = try SeveralStoresWorld() }

  // PSC-01, PSC-02, PSC-05, CON-11, MOD-06
  @Test func `stores are listed in the order of adding, with their configurations`() throws {
    let archive = try world.add("Archive")
    let library = try world.add("Library")
    let local = try world.add("Local", type: .inMemory)
    #expect(world.coordinator.persistentStores == [archive, library, local])
    #expect(
      world.coordinator.persistentStores.map(\.configurationName) == ["Archive", "Library", "Local"])
    #expect(world.coordinator.persistentStore(for: world.url("Library")) === library)
    let hashes = try #require(
      library.metadata[PersistentStore.MetadataKey.modelVersionHashes] as? [String: Data])
    #expect(Set(hashes.keys) == ["Writer", "Book"])
    try world.coordinator.remove(archive)
    #expect(world.coordinator.persistentStores == [library, local])
    try world.coordinator.close()
    #expect(world.coordinator.persistentStores == [])
  }

  // CON-16
  @Test func `a coordinator refuses a store that it has open, and a copy of one`() throws {
    let library = try world.add("Library")
    let twice = heartwoodError { try world.add("Library") }
    #expect(twice?.code == .persistentStoreOpen)
    #expect(twice?.message.contains("open in this coordinator already") == true)
    try world.coordinator.backup(to: world.url("Copy"))
    let copy = heartwoodError { try world.add("Archive", "Copy") }
    #expect(copy?.code == .persistentStoreOpen)
    #expect(copy?.message.contains("one is a copy of the other") == true)
    #expect(world.coordinator.persistentStores == [library])
    #expect(try world.context().numbers("Writer") == [])
  }

  @Test func `an unknown configuration is refused with the names of those that exist`() throws {
    let error = heartwoodError { try world.add("Libary") }
    #expect(
      error?.message.contains("no configuration called Libary; those are Archive, Library, Local") == true)
    #expect(world.coordinator.persistentStores == [])
    #expect(!FileManager.default.fileExists(atPath: world.url("Libary").path))
  }

  @Test func `a relationship between entities that no configuration has together is named`() throws {
    let book = EntityDescription(name: "Book")
    let shelf = EntityDescription(name: "Shelf")
    shelf.properties = [RelationshipDescription(name: "books", destination: book, isToMany: true)]
    let model = ManagedObjectModel(entities: [book, shelf])
    model.setEntities([book], forConfigurationName: "A")
    model.setEntities([shelf], forConfigurationName: "B")
    let coordinator = PersistentStoreCoordinator(managedObjectModel: model)
    try coordinator.addPersistentStore(type: .inMemory, configuration: "A", at: nil)
    let error = heartwoodError {
      try coordinator.addPersistentStore(type: .inMemory, configuration: "B", at: nil)
    }
    #expect(error?.message.contains("Shelf.books leads from Shelf to Book") == true)
  }

  // CON-03, CON-04
  @Test func `a container loads the stores of all its descriptions`() throws {
    let container = PersistentContainer(name: "World", managedObjectModel: SeveralStoresWorld.model())
    container.persistentStoreDescriptions = ["Library", "Local", nil].map { configuration in
      let description = PersistentStoreDescription()
      description.configuration = configuration
      description.type = configuration == "Library" ? .log : .inMemory
      description.url = world.url(configuration ?? "All")
      return description
    }
    try container.loadPersistentStores()
    let stores = container.persistentStoreCoordinator.persistentStores
    #expect(stores.map(\.configurationName) == ["Library", "Local", nil])
    try container.loadPersistentStores()
    #expect(container.persistentStoreCoordinator.persistentStores == stores)
    try container.close()
  }

  // MARK: The store of new objects

  // PSC-20, CTX-30
  @Test(arguments: StoreMix.allCases)
  func `a new object goes to the first store that has its entity, or to the assigned one`(mix: StoreMix)
    throws
  {
    let world = try SeveralStoresWorld(mix)
    let library = try world.add("Library")
    let archive = try world.add("Archive")
    let local = try world.add("Local")
    let context = world.context()
    let note = world.make("Note", 1, in: context)
    let writer = world.make("Writer", 2, in: context)
    let other = world.make("Writer", 3, in: context)
    context.assign(other, to: archive)
    try context.save()
    #expect(note.objectID.persistentStore === local)
    #expect(writer.objectID.persistentStore === library)
    #expect(other.objectID.persistentStore === archive)
    // A child's object too.
    let child = ManagedObjectContext(.privateQueue)
    child.parent = context
    let third = world.make("Writer", 4, in: child)
    child.assign(third, to: archive)
    try child.save()
    try context.save()
    #expect(try context.numbers("Writer", in: [archive]).sorted() == [3, 4])
    #expect(try context.numbers("Writer", in: [library]) == [2])
  }

  // PSC-20
  @Test(arguments: StoreMix.allCases)
  func `a new object goes to the store of those that it is related to`(mix: StoreMix) throws {
    let world = try SeveralStoresWorld(mix)
    let library = try world.add("Library")
    let archive = try world.add("Archive")
    let context = world.context()
    let writer = world.make("Writer", 1, in: context)
    context.assign(writer, to: archive)
    let book = world.make("Book", 2, in: context, ["writer": writer])
    try context.save()
    #expect(book.objectID.persistentStore === archive)
    let late = world.make("Book", 3, in: context, ["writer": writer])
    let reader = world.make("Writer", 4, in: context)
    late.setValue(Set([reader]), forKey: "likedBy")
    let alone = world.make("Writer", 5, in: context)
    try context.obtainPermanentIDs(for: [reader])
    #expect(reader.objectID.persistentStore === archive)
    try context.save()
    #expect(late.objectID.persistentStore === archive)
    #expect(alone.objectID.persistentStore === library)
    #expect(try context.numbers("Book", "writer.number == 1").sorted() == [2, 3])
    #expect(try world.context().numbers("Writer", "ANY books.number == 3") == [1])
  }

  // CTX-30
  @Test(arguments: StoreMix.allCases)
  func `a store that cannot have an object makes the save fail, and it can be assigned again`(mix: StoreMix)
    throws
  {
    let world = try SeveralStoresWorld(mix)
    let library = try world.add("Library")
    let local = try world.add("Local")
    let context = world.context()
    let note = world.make("Note", 1, in: context)
    context.assign(note, to: library)
    let error = heartwoodError { try context.save() }
    #expect(error?.code == .persistentStoreIncompatibleSchema)
    #expect(error?.message.contains("the configuration Library, without that entity") == true)
    context.assign(note, to: local)
    try context.save()
    #expect(note.objectID.persistentStore === local)
    try world.coordinator.remove(local)
    _ = world.make("Note", 2, in: context)
    let none = heartwoodError { try context.save() }
    #expect(none?.code == .persistentStoreIncompatibleSchema)
    #expect(none?.message.contains("no store of the coordinator") == true)
  }

  @Test(arguments: StoreMix.allCases)
  func `a read-only store gets no new objects, and refuses changes`(mix: StoreMix) throws {
    let world = try SeveralStoresWorld(mix)
    try world.add("Library")
    let context = world.context()
    _ = world.make("Writer", 1, in: context)
    try context.save()
    try world.coordinator.close()
    try world.add("Library", options: [.readOnly: true])
    let archive = try world.add("Archive")
    let again = world.context()
    let new = world.make("Writer", 2, in: again)
    try again.save()
    #expect(new.objectID.persistentStore === archive)
    let old = try #require(try again.fetch("Writer", "number == 1").first)
    old.setValue("X", forKey: "name")
    #expect(heartwoodError { try again.save() }?.code == .persistentStoreSave)
  }

  // PSC-22, REL-20
  @Test(arguments: StoreMix.allCases)
  func `a relationship to an object of another store makes the save fail, naming both`(mix: StoreMix) throws {
    let world = try SeveralStoresWorld(mix)
    let library = try world.add("Library")
    let archive = try world.add("Archive")
    let context = world.context()
    let writer = world.make("Writer", 1, in: context)
    let book = world.make("Book", 2, in: context)
    context.assign(writer, to: library)
    context.assign(book, to: archive)
    try context.save()
    book.setValue(writer, forKey: "writer")
    let error = heartwoodError { try context.save() }
    #expect(error?.code == .managedObjectExternalRelationship)
    #expect(error?.objectIDs.contains(writer.objectID) == true)
    #expect(error?.objectIDs.contains(book.objectID) == true)
    context.rollback()
    writer.setValue(Set([book]), forKey: "likes")
    #expect(heartwoodError { try context.save() }?.code == .managedObjectExternalRelationship)
    context.rollback()
    let new = world.make("Book", 3, in: context, ["writer": writer])
    context.assign(new, to: archive)
    let third = heartwoodError { try context.save() }
    #expect(third?.code == .managedObjectExternalRelationship)
    context.assign(new, to: library)
    try context.save()
    #expect(try context.numbers("Book", "writer != nil") == [3])
  }

  // MARK: Identifiers

  // PSC-14
  @Test(arguments: StoreMix.allCases)
  func `identifiers name their own store, and mean the same in other coordinators`(mix: StoreMix) throws {
    let world = try SeveralStoresWorld(mix)
    let library = try world.add("Library")
    let archive = try world.add("Archive")
    let context = world.context()
    let writer = world.make("Writer", 1, in: context, ["name": "Ann"])
    let book = world.make("Book", 2, in: context, ["writer": writer])
    context.assign(writer, to: archive)
    try context.save()
    let text = "\(writer.objectID)"
    #expect(text == "x-coredata://\(archive.identifier)/Writer/p1")
    #expect(world.coordinator.managedObjectID(for: text) == writer.objectID)
    let parsed = try #require(world.coordinator.managedObjectID(for: "\(book.objectID)"))
    #expect(context.registeredObject(for: parsed) === book)
    let fresh = world.context()
    let author = try fresh.existingObject(with: parsed).value(forKey: "writer") as? ManagedObject
    #expect(author?.value(forKey: "name") as? String == "Ann")
    let other = world.context()
    #expect(other.object(with: parsed).ownNumber == 2)
    let coded = try JSONDecoder().decode(
      ManagedObjectID.self, from: JSONEncoder().encode(writer.objectID))
    #expect(coded == writer.objectID && coded.hashValue == writer.objectID.hashValue)
    try world.coordinator.remove(library)
    #expect(world.coordinator.managedObjectID(for: text) == writer.objectID)
    try world.coordinator.close()
    #expect(world.coordinator.managedObjectID(for: text) == nil)
    // Alone, and as the first store.
    let alone = try SeveralStoresWorld(folder: world.folder, mix)
    try alone.add("Archive")
    let single = alone.context()
    let found = try #require(try single.fetch("Writer").first)
    #expect(found.objectID == writer.objectID)
    #expect("\(found.objectID)" == text)
    try alone.add("Library")
    let several = alone.context()
    let again = several.object(with: writer.objectID)
    #expect(again.value(forKey: "name") as? String == "Ann")
    try alone.coordinator.close()
  }

  @Test(arguments: StoreMix.allCases)
  func `objects of a context stay when another store is added`(mix: StoreMix) throws {
    let world = try SeveralStoresWorld(mix)
    try world.add("Library")
    let context = world.context()
    let writer = world.make("Writer", 1, in: context, ["name": "Ann"])
    try context.save()
    writer.setValue("Bea", forKey: "name")
    try world.add("Local")
    _ = world.make("Note", 2, in: context)
    try context.save()
    #expect(try world.context().numbers("Writer", "name == 'Bea'") == [1])
    #expect(try world.context().numbers("Note") == [2])
    #expect(try context.fetch("Writer").first === writer)
  }

  // PSC-04
  @Test(arguments: StoreMix.allCases)
  func `objects of a removed store cannot be read or saved, and are there again with it`(mix: StoreMix) throws
  {
    let world = try SeveralStoresWorld(mix)
    try world.add("Library")
    let local = try world.add("Local")
    let context = world.context()
    let writer = world.make("Writer", 1, in: context)
    let note = world.make("Note", 2, in: context, ["text": "a"])
    try context.save()
    try world.coordinator.remove(local)
    note.setValue("b", forKey: "text")
    writer.setValue("Ann", forKey: "name")
    let error = heartwoodError { try context.save() }
    #expect(error?.code == .persistentStoreOperation)
    #expect(error?.objectIDs == [note.objectID])
    #expect(try context.numbers("Writer") == [1])
    #expect(try world.context().numbers("Note") == [])
    try world.add("Local")
    try context.save()
    #expect(try world.context().numbers("Note", "text == 'b'") == [2])
  }

  // MARK: Partial failure

  // PSC-23
  @Test func `a save that one store cannot commit says so, and the rest is saved by the next one`() throws {
    let faulty = FaultInjectingFileSystem(base: PosixFileSystem())
    let library = try world.add("Library", fileSystem: faulty)
    let archive = try world.add("Archive", fileSystem: faulty)
    let context = world.context()
    var writers: [ManagedObject] = []
    for (number, store) in [library, archive].enumerated() {
      let writer = world.make("Writer", number, in: context)
      context.assign(writer, to: store)
      writers.append(writer)
    }
    try context.save()
    // The store that is locked first commits last.
    let (last, first) = library.identifier < archive.identifier ? (0, 1) : (1, 0)
    let failing = [library, archive][last]
    for writer in writers { writer.setValue("new", forKey: "name") }
    let added = world.make("Writer", 10, in: context)
    context.assign(added, to: [library, archive][first])
    let lost = world.make("Writer", 11, in: context)
    context.assign(lost, to: failing)
    let name = failing.url.lastPathComponent
    faulty.use([.fail(.write, file: "*/\(name)/*.log", .forever)])
    let error = heartwoodError { try context.save() }
    #expect(error?.code == .persistentStoreIncompleteSave)
    #expect(error?.code.rawValue == 134040)
    #expect(error?.affectedStoreIDs == [failing.identifier])
    #expect(Set(error?.objectIDs ?? []) == [writers[last].objectID, lost.objectID])
    #expect(!added.objectID.isTemporaryID && lost.objectID.isTemporaryID)
    #expect(context.updatedObjects == [writers[last]])
    #expect(context.insertedObjects == [lost])
    faulty.use([])
    #expect(try world.context().numbers("Writer", "name == 'new'") == [first])
    try context.save()
    #expect(!context.hasChanges)
    #expect(try world.context().numbers("Writer", "name == 'new'").sorted() == [0, 1])
    #expect(try world.context().numbers("Writer", sort: ["number"]) == [0, 1, 10, 11])
  }

  // PSC-23
  @Test(arguments: [PersistentStore.StoreType.json, .binary])
  func `a file that others have changed makes the save fail in all stores`(type: PersistentStore.StoreType)
    throws
  {
    let world = try SeveralStoresWorld()
    let stores = try ["Library", "Archive"].map { try world.add($0, type: type) }
    let context = world.context()
    var writers: [ManagedObject] = []
    for (number, store) in stores.enumerated() {
      writers.append(world.make("Writer", number, in: context))
      context.assign(writers[number], to: store)
    }
    try context.save()
    for changed in stores {
      var bytes = try Data(contentsOf: changed.url)
      bytes.append(UInt8(ascii: "\n"))
      let before = try stores.map { try Data(contentsOf: $0.url) }
      try bytes.write(to: changed.url)
      for writer in writers { writer.setValue("new", forKey: "name") }
      let error = heartwoodError { try context.save() }
      #expect(error?.code == .persistentStoreSaveConflicts)
      #expect(context.updatedObjects == Set(writers))
      for (store, data) in zip(stores, before) where store !== changed {
        #expect(try Data(contentsOf: store.url) == data)
      }
      try before[stores.firstIndex { $0 === changed } ?? 0].write(to: changed.url)
    }
    try context.save()
    #expect(try world.context().numbers("Writer", "name == 'new'").sorted() == [0, 1])
  }

  @Test(arguments: StoreMix.allCases)
  func `a value that must be unique in one store makes the save fail in all`(mix: StoreMix) throws {
    let world = try SeveralStoresWorld(mix)
    let library = try world.add("Library")
    let archive = try world.add("Archive")
    let context = world.context()
    for (number, store) in [(1, library), (2, archive)] {
      context.assign(world.make("Book", number, in: context, ["code": "a"]), to: store)
    }
    try context.save()
    context.assign(world.make("Book", 3, in: context, ["code": "a"]), to: archive)
    context.assign(world.make("Book", 4, in: context, ["code": "b"]), to: library)
    let error = heartwoodError { try context.save() }
    #expect(error?.code == .managedObjectConstraintMerge)
    #expect(try world.context().numbers("Book", sort: ["number"]) == [1, 2])
    context.mergePolicy = .mergeByPropertyObjectTrump
    try context.save()
    #expect(try world.context().numbers("Book", sort: ["number"]) == [1, 3, 4])
  }

  // MARK: Models

  // MOD-14
  @Test func `a change of an entity concerns only the stores that have it`() throws {
    try world.add("Library")
    try world.add("Local")
    let context = world.context()
    _ = world.make("Writer", 1, in: context, ["name": "Ann"])
    _ = world.make("Note", 2, in: context, ["text": "a"])
    try context.save()
    try world.coordinator.close()
    let later = try SeveralStoresWorld(folder: world.folder, noteHasDate: true)
    for (name, isSame) in [("Library", true), ("Local", false)] {
      let metadata = try PersistentStoreCoordinator.metadataForPersistentStore(at: world.url(name))
      #expect(
        later.model.isConfiguration(withName: name, compatibleWithStoreMetadata: metadata) == isSame)
      #expect(!later.model.isConfiguration(withName: nil, compatibleWithStoreMetadata: metadata))
    }
    try later.add("Library", options: [:])
    let error = heartwoodError { try later.add("Local", options: [:]) }
    #expect(error?.code == .persistentStoreIncompatibleVersionHash)
    try later.add("Local")
    let again = later.context()
    let note = try #require(try again.fetch("Note", "text == 'a'").first)
    note.setValue(Date(timeIntervalSince1970: 5), forKey: "date")
    #expect(try again.numbers("Writer", "name == 'Ann'") == [1])
    try again.save()
    try later.coordinator.close()
    let alone = try SeveralStoresWorld(folder: world.folder, noteHasDate: true)
    try alone.add("Local")
    #expect(try alone.context().numbers("Note", "date != nil") == [2])
    #expect(try alone.coordinator.verify().findings == [])
    // The store itself is one of the entities of its configuration.
    let model = try PersistentStoreCoordinator.managedObjectModel(ofStoreAt: world.url("Library"))
    #expect(Set(model.entities.compactMap(\.name)) == ["Writer", "Book"])
    let plain = PersistentContainer(name: "Plain", managedObjectModel: model)
    plain.persistentStoreDescriptions = [PersistentStoreDescription(url: world.url("Library"))]
    try plain.loadPersistentStores()
    #expect(try plain.newBackgroundContext().numbers("Writer") == [1])
    try plain.close()
  }

  @Test func `rows of a former model are read in all stores before they are written again`() throws {
    try world.add("Library")
    try world.add("Archive")
    let context = world.context()
    for (number, store) in world.coordinator.persistentStores.enumerated() {
      let writer = world.make("Writer", number, in: context, ["name": "w\(number)"])
      context.assign(writer, to: store)
      for place in 0..<5 { _ = world.make("Book", number * 10 + place, in: context, ["writer": writer]) }
    }
    try context.save()
    try world.coordinator.close()
    let later = try SeveralStoresWorld(folder: world.folder, bookHasMark: true)
    for name in ["Archive", "Library"] {
      let description = PersistentStoreDescription(url: world.url(name))
      description.configuration = name
      description.defersLightweightMigration = true
      let store = try later.coordinator.addPersistentStore(with: description)
      let key = PersistentStore.MetadataKey.hasDeferredLightweightMigration
      #expect(try store.metadata[key] as? Bool == true)
    }
    let again = later.context()
    func check() throws {
      let books = try again.fetch("Book", "writer.name BEGINSWITH 'w'", sort: ["-number"])
      #expect(books.map(\.ownNumber) == [14, 13, 12, 11, 10, 4, 3, 2, 1, 0])
      #expect(
        books.allSatisfy { ($0.value(forKey: "writer") as? ManagedObject)?.ownNumber == $0.ownNumber / 10 })
      #expect(try again.numbers("Book", "writer.number == 0 AND mark == nil").sorted() == [0, 1, 2, 4])
    }
    for book in try again.fetch("Book", "number IN {3, 12}") { book.setValue("x", forKey: "mark") }
    try again.save()
    try check()
    again.reset()
    try check()
    try later.coordinator.finishDeferredLightweightMigration()
    again.reset()
    try check()
    for store in later.coordinator.persistentStores {
      #expect(try later.coordinator.verify(store).findings == [])
      let key = PersistentStore.MetadataKey.hasDeferredLightweightMigration
      #expect(try store.metadata[key] == nil)
    }
    #expect(heartwoodError { _ = try later.coordinator.verify() }?.message.contains("has 2 stores") == true)
    try later.coordinator.close()
  }

  // PSC-11
  @Test func `one of several stores is moved, and contexts go on`() throws {
    let library = try world.add("Library")
    let local = try world.add("Local")
    let context = world.context()
    let writer = world.make("Writer", 1, in: context)
    let note = world.make("Note", 2, in: context, ["text": "a"])
    try context.save()
    let moved = try world.coordinator.migratePersistentStore(local, to: world.url("Moved"))
    #expect(world.coordinator.persistentStores == [library, moved])
    #expect(moved.configurationName == "Local")
    note.setValue("b", forKey: "text")
    writer.setValue("Ann", forKey: "name")
    try context.save()
    #expect(note.objectID.persistentStore === moved)
    #expect(try world.context().numbers("Note", "text == 'b'") == [2])
  }

  @Test func `stores of several kinds work together`() throws {
    try world.add("Library")
    try world.add("Archive", type: .binary)
    try world.add("Local", type: .json)
    let context = world.context()
    let stores = world.coordinator.persistentStores
    for number in 1...6 { context.assign(world.make("Writer", number, in: context), to: stores[number % 2]) }
    _ = world.make("Note", 7, in: context, ["text": "a"])
    try context.save()
    #expect(try context.execute(.fetchHistory(after: nil as PersistentHistoryToken?)).transactions.count == 1)
    #expect(
      heartwoodError { try context.setQueryGenerationFrom(.current) }?.code
        == .persistentStoreUnsupportedRequestType)
    try world.coordinator.close()
    let again = try SeveralStoresWorld(folder: world.folder)
    try again.add("Local", type: .json)
    try again.add("Archive", type: .binary)
    try again.add("Library")
    let reader = again.context()
    #expect(try reader.numbers("Writer", sort: ["-number"]) == [6, 5, 4, 3, 2, 1])
    #expect(try reader.numbers("Note", "text == 'a'") == [7])
    #expect(
      try reader.numbers("Writer", sort: ["number"], in: [again.coordinator.persistentStores[1]]) == [
        1, 3, 5,
      ])
  }

  // PSC-07
  @Test func `each store has metadata of its own`() throws {
    let library = try world.add("Library")
    let local = try world.add("Local")
    try world.coordinator.setMetadata(["of": "library"], for: library)
    try world.coordinator.setMetadata(["of": "local"], for: local)
    try world.context().save()
    try world.coordinator.close()
    for name in ["Library", "Local"] {
      let metadata = try PersistentStoreCoordinator.metadataForPersistentStore(at: world.url(name))
      #expect(metadata["of"] as? String == name.lowercased())
    }
  }
}
