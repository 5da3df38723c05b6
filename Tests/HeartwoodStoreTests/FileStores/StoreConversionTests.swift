import Foundation
import GraphTestSupport
import HeartwoodFiles
import LineStore
import TestSupport
import Testing

@testable import Heartwood

/// A store of the program that only counts how often it is written.
private final class CountedStore: AtomicStore, @unchecked Sendable {
  static let kind = PersistentStore.StoreType(rawValue: "Counted")
  static let saves = Guarded(0)

  override func load() throws {}
  override func save() throws { Self.saves.withLock { $0 += 1 } }
}

@Suite struct `Stores of one kind become others` {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private func place(_ kind: PersistentStore.StoreType) -> URL {
    if kind == DictionaryStore.kind { return DictionaryStore.newPlace() }
    return kind == .inMemory
      ? URL(fileURLWithPath: "/dev/null") : folder.url.appending(path: "\(kind.rawValue) \(UUID())")
  }

  // PSC-11
  @Test func `a store moves through all kinds, and its objects keep values and identifiers`() throws {
    let kinds: [PersistentStore.StoreType] = [.log, .binary, .json, .xml, .inMemory]
    let container = PersistentContainer(
      name: "Test", managedObjectModel: try ManagedObjectModel(types: companyTypes))
    let coordinator = container.persistentStoreCoordinator
    try coordinator.addPersistentStore(type: .log, at: place(.log))
    let context = container.newBackgroundContext()
    let company = context.makeCompany("A")
    let people = (0..<4).map { context.makePerson("\($0)", age: Int64($0), in: company) }
    company.ranking = [people[3], people[1]]
    try context.save()
    let uris = people.map { $0.objectID.uriRepresentation() }
    for from in kinds {
      for to in kinds {
        var store = try #require(coordinator.persistentStores.first)
        if store.type != from {
          store = try coordinator.migratePersistentStore(store, to: place(from), type: from)
        }
        let moved = try coordinator.migratePersistentStore(store, to: place(to), type: to)
        #expect(moved.type == to && moved.identifier == store.identifier)
        // The same context goes on, and another one reads everything.
        people[0].age += 1
        try context.save()
        let other = container.newBackgroundContext()
        let found = try uris.map { uri in
          let identifier = try #require(coordinator.managedObjectID(forURIRepresentation: uri))
          return try #require(try other.existingObject(with: identifier) as? Person)
        }
        #expect(found.map(\.age) == people.map(\.age), "\(from) to \(to)")
        #expect(found[0].company?.ranking.map(\.name) == ["3", "1"])
        #expect(try coordinator.verify().findings == [])
      }
    }
    #expect(people[0].age == 25)
    try container.close()
  }

  // PSC-11, STO-26
  @Test func `a store moves to kinds of the program and back, object by object, with its metadata`() throws {
    PersistentStoreCoordinator.registerStoreClass(LineStore.self, type: LineStore.kind)
    PersistentStoreCoordinator.registerStoreClass(DictionaryStore.self, type: DictionaryStore.kind)
    let kinds = [.log, .json, .inMemory, LineStore.kind, DictionaryStore.kind] as [PersistentStore.StoreType]
    let container = PersistentContainer(
      name: "Test", managedObjectModel: try ManagedObjectModel(types: companyTypes))
    let coordinator = container.persistentStoreCoordinator
    try coordinator.addPersistentStore(type: .log, at: place(.log))
    let filling = container.newBackgroundContext()
    for code in ["A", "B"] {
      let company = filling.makeCompany(code)
      let people = (0..<600).map { filling.makePerson("\(code)\($0)", age: Int64($0), in: company) }
      company.ranking = [people[3], people[1], people[500]]
      people[0].idol = people[1]
    }
    try filling.save()
    func dump() throws -> Set<String> {
      let context = container.newBackgroundContext()
      let people = try context.fetch(Person.self).map {
        "\($0.name) \($0.age) \($0.idol?.name ?? "-") \($0.company?.code ?? "-")"
      }
      let companies = try context.fetch(Company.self).map {
        "\($0.code) \($0.people.count) \($0.ranking.map(\.name))"
      }
      return Set(people + companies)
    }
    let before = try dump()
    for from in kinds {
      for to in kinds
      where from == LineStore.kind || from == DictionaryStore.kind || to == LineStore.kind
        || to == DictionaryStore.kind
      {
        var store = try #require(coordinator.persistentStores.first)
        if store.type != from {
          let former = store.type
          store = try coordinator.migratePersistentStore(store, to: place(from), type: from)
          let lost = try dump().symmetricDifference(before)
          #expect(lost.count == 0, "\(former) to \(from): \(lost.count) \(lost.sorted().prefix(4))")
        }
        try coordinator.setMetadata(["note": "\(from)"], for: store)
        let steps = Guarded<[MigrationProgress]>([])
        let moved = try coordinator.migratePersistentStore(store, to: place(to), type: to) { progress in
          steps.withLock { $0.append(progress) }
        }
        #expect(moved.type == to && coordinator.persistentStores == [moved])
        let difference = try dump().symmetricDifference(before)
        #expect(
          difference.count == 0, "\(from) to \(to): \(difference.count) \(difference.sorted().prefix(4))")
        // The file of lines has no room for it.
        if from != LineStore.kind, to != LineStore.kind {
          #expect(try coordinator.metadata(for: moved)["note"] as? String == "\(from)")
        }
        // From an atomic store to kinds of ours all is copied at once.
        let isByObject = to == LineStore.kind || to == DictionaryStore.kind || from == DictionaryStore.kind
        #expect(steps.withLock { $0.contains { $0.rows == 1000 && $0.totalRows == 1200 } } == isByObject)
      }
    }
    // Objects are not added to a store that is there already.
    let store = try #require(coordinator.persistentStores.first)
    let taken = DictionaryStore.newPlace()
    let other = try DictionaryWorld(at: taken)
    _ = other.context().makeCompany("X")
    let busy = other.context()
    _ = busy.makeCompany("X")
    try busy.save()
    let refused = heartwoodError {
      _ = try coordinator.migratePersistentStore(store, to: taken, type: DictionaryStore.kind)
    }
    #expect(refused?.code == .persistentStoreOperation)
    #expect(try dump() == before)
    try container.close()
  }

  @Test func `a store of an atomic class is written once when another is copied to it`() throws {
    PersistentStoreCoordinator.registerStoreClass(CountedStore.self, type: CountedStore.kind)
    let container = try PersistentContainer(
      name: "Test", types: companyTypes, at: URL(fileURLWithPath: "/dev/null"))
    let context = container.newBackgroundContext()
    let company = context.makeCompany("A")
    for number in 0..<1100 { _ = context.makePerson("\(number)", in: company) }
    try context.save()
    let coordinator = container.persistentStoreCoordinator
    let store = try #require(coordinator.persistentStores.first)
    _ = try coordinator.migratePersistentStore(store, to: place(CountedStore.kind), type: CountedStore.kind)
    #expect(CountedStore.saves.withLock { $0 } == 1)
    try container.close()
  }

  @Test(arguments: [PersistentStore.StoreType.log, .binary, .json, .inMemory])
  func `the copy of an atomic store takes new objects, and is whole`(kind: PersistentStore.StoreType) throws {
    PersistentStoreCoordinator.registerStoreClass(LineStore.self, type: LineStore.kind)
    let house = EntityDescription(
      name: "House", properties: [AttributeDescription(name: "name", type: .string)])
    let coordinator = try PersistentStoreCoordinator(checking: ManagedObjectModel(entities: [house]))
    var store = try coordinator.addPersistentStore(type: LineStore.kind, at: place(LineStore.kind))
    for round in 0..<3 {
      let context = ManagedObjectContext(.privateQueue, coordinator: coordinator)
      for number in 0..<50 {
        ManagedObject(entity: house, insertInto: context).setValue("\(round) \(number)", forKey: "name")
      }
      try context.save()
      #expect(try coordinator.verify().findings == [])
      if round == 0 { store = try coordinator.migratePersistentStore(store, to: place(kind), type: kind) }
      #expect(try context.count(for: FetchRequest<ManagedObject>(entityName: "House")) == 50 * (round + 1))
    }
    try coordinator.close()
  }

  // PSC-12
  @Test func `an atomic store of the program is destroyed, and an incremental one refuses`() throws {
    PersistentStoreCoordinator.registerStoreClass(LineStore.self, type: LineStore.kind)
    PersistentStoreCoordinator.registerStoreClass(DictionaryStore.self, type: DictionaryStore.kind)
    let coordinator = PersistentStoreCoordinator(
      managedObjectModel: try ManagedObjectModel(types: companyTypes))
    let context = ManagedObjectContext(.privateQueue, coordinator: coordinator)
    try coordinator.addPersistentStore(type: LineStore.kind, at: folder.store)
    _ = context.makeCompany("A")
    try context.save()
    try coordinator.close()
    for _ in 0..<2 { try coordinator.destroyPersistentStore(at: folder.store, type: LineStore.kind) }
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.url.path) == [])
    for operation: () throws -> Void in [
      { try coordinator.destroyPersistentStore(at: DictionaryStore.newPlace(), type: DictionaryStore.kind) },
      {
        try coordinator.replacePersistentStore(
          at: folder.store, withPersistentStoreFrom: folder.store, type: LineStore.kind)
      },
    ] {
      #expect(heartwoodError(operation)?.code == .persistentStoreUnsupportedRequestType)
    }
  }

  @Test(arguments: StoreKind.files)
  func `a file is not moved over another one, and the store goes on`(kind: StoreKind) throws {
    let container = try kind.open(companyTypes, at: folder.store)
    let coordinator = container.persistentStoreCoordinator
    let other = folder.url.appending(path: "other")
    try Data("text".utf8).write(to: other)
    let store = try #require(coordinator.persistentStores.first)
    #expect(throws: HeartwoodError.self) {
      try coordinator.migratePersistentStore(store, to: other, type: kind.type)
    }
    #expect(try Data(contentsOf: other) == Data("text".utf8))
    let context = container.newBackgroundContext()
    _ = context.makeCompany("A")
    try context.save()
    try container.close()
  }

  // PSC-12, PSC-13
  @Test(arguments: StoreKind.files)
  func `a file is replaced by a copy of another, and destroyed`(kind: StoreKind) throws {
    let other = folder.url.appending(path: "other")
    for (url, code) in [(folder.store, "A"), (other, "B")] {
      let container = try kind.open(companyTypes, at: url)
      let context = container.newBackgroundContext()
      _ = context.makeCompany(code)
      try context.save()
      try container.close()
    }
    let coordinator = PersistentStoreCoordinator(
      managedObjectModel: try ManagedObjectModel(types: companyTypes))
    try coordinator.replacePersistentStore(at: folder.store, withPersistentStoreFrom: other, type: kind.type)
    let container = try kind.open(companyTypes, at: folder.store)
    #expect(try container.newBackgroundContext().fetch(Company.self).count == 1)
    #expect(
      try container.newBackgroundContext().count(for: FetchRequest<Company>(where: { $0.code == "B" })) == 1)
    try container.close()
    try coordinator.destroyPersistentStore(at: folder.store, type: kind.type)
    try coordinator.destroyPersistentStore(at: folder.store, type: kind.type)
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.url.path) == ["other"])
    try Data("text".utf8).write(to: folder.store)
    #expect(throws: HeartwoodError.self) {
      try coordinator.destroyPersistentStore(at: folder.store, type: kind.type)
    }
    #expect(try Data(contentsOf: folder.store) == Data("text".utf8))
  }

  @Test(arguments: StoreKind.files)
  func `a store of another model is migrated as a whole, or left as it was`(kind: StoreKind) throws {
    func model(_ property: String, renamed: String? = nil) -> ManagedObjectModel {
      let attribute = AttributeDescription(name: property, type: .string)
      attribute.renamingIdentifier = renamed
      return ManagedObjectModel(entities: [
        EntityDescription(
          name: "Note", properties: [attribute, AttributeDescription(name: "size", type: .integer64)])
      ])
    }
    func open(_ model: ManagedObjectModel, migrates: Bool = true) throws -> ManagedObjectContext {
      let coordinator = PersistentStoreCoordinator(managedObjectModel: model)
      let description = PersistentStoreDescription(url: folder.store)
      description.type = kind.type
      description.shouldMigrateStoreAutomatically = migrates
      try coordinator.addPersistentStore(with: description)
      return ManagedObjectContext(.privateQueue, coordinator: coordinator)
    }
    let first = model("text")
    var context = try open(first)
    let note = ManagedObject(entity: try #require(first.entitiesByName["Note"]), insertInto: context)
    note.setValue("hello", forKey: "text")
    try context.save()
    let uri = note.objectID.uriRepresentation()
    try context.persistentStoreCoordinator?.close()
    let before = try Data(contentsOf: folder.store)
    let error = heartwoodError { _ = try open(model("body", renamed: "text"), migrates: false) }
    #expect(error?.code == .persistentStoreIncompatibleVersionHash)
    #expect(try Data(contentsOf: folder.store) == before)
    for _ in 0..<2 {
      context = try open(model("body", renamed: "text"))
      let coordinator = try #require(context.persistentStoreCoordinator)
      let identifier = try #require(coordinator.managedObjectID(forURIRepresentation: uri))
      let found = try context.existingObject(with: identifier)
      #expect(found.value(forKey: "body") as? String == "hello")
      found.setValue(3, forKey: "size")
      try context.save()
      #expect(try coordinator.verify().findings == [])
      try coordinator.close()
    }
  }
}
