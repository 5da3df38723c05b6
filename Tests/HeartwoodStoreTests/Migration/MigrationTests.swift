import Foundation
import GraphTestSupport
import Heartwood
import HeartwoodFiles
import TestSupport
import Testing

/// Stores that are opened with another model than that they were written with: what is migrated, and what is refused.
@Suite struct MigrationTests: PetStoreTests {
  let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

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
      // The remains of a killed copy.
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
    // Notes of programs do not replace it.
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
