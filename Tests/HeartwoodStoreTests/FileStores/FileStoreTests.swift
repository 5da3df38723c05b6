import Foundation
import GraphTestSupport
import HeartwoodFiles
import TestSupport
import Testing

@testable import Heartwood

@Suite struct `Stores in one file` {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private func code(_ body: () throws -> Void) -> HeartwoodError.Code? { heartwoodError(body)?.code }

  private func fill(_ kind: StoreKind) throws -> [URL] {
    let container = try kind.open(companyTypes, at: folder.store)
    defer { try? container.close() }
    let context = container.newBackgroundContext()
    let company = context.makeCompany("A")
    let people = ["x", "y", "z"].map { context.makePerson($0, age: 3, in: company) }
    people[0].nick = "one\r\ntwo <&>\"\u{1}\u{FFFE}\\ \u{1F600}"
    company.ranking = [people[2], people[0]]
    company.partners = [company, context.makeCompany("B")]
    let club = Club(context: context)
    club.title = ""
    club.members = Set(people)
    try context.save()
    return people.map { $0.objectID.uriRepresentation() }
  }

  @Test(arguments: StoreKind.files)
  func `threads that save to one file wait for each other, and all that they saved is there`(kind: StoreKind)
    async throws
  {
    try await expectSavesOfThreadsAreKept { try kind.open(companyTypes, at: folder.store) }
  }

  // STO-04
  @Test func `members and versions of a JSON file that no object can have are named`() throws {
    let kind = try #require(StoreKind.files.first { $0.type == .json })
    _ = try fill(kind)
    let text = try String(contentsOf: folder.store, encoding: .utf8)
    for (old, new, what) in [
      ("\"attributes\":", "\"atributes\":", "atributes"),
      ("\"relationships\":", "\"relations\":", "relations"),
      ("\"version\": 1,", "\"version\": 4294967295,", "version"),
    ] {
      let place = try #require(text.range(of: old))
      let changed = text.replacingCharacters(in: place, with: new)
      try Data(changed.utf8).write(to: folder.store)
      let error = heartwoodError { try kind.open(companyTypes, at: folder.store).close() }
      #expect(error?.message.contains(what) == true, "\(String(describing: error))")
      #expect(try Data(contentsOf: folder.store) == Data(changed.utf8))
    }
  }

  // STO-02, STO-04
  @Test(arguments: StoreKind.files)
  func `everything is in the file after a save, under the same identifiers`(kind: StoreKind) throws {
    let uris = try fill(kind)
    let first = try Data(contentsOf: folder.store)
    let container = try kind.open(companyTypes, at: folder.store)
    let coordinator = container.persistentStoreCoordinator
    let store = try #require(coordinator.persistentStores.first)
    #expect(store.type == kind.type && store.url == folder.store)
    let context = container.newBackgroundContext()
    let people = try uris.map { uri in
      let identifier = try #require(coordinator.managedObjectID(forURIRepresentation: uri))
      return try #require(try context.existingObject(with: identifier) as? Person)
    }
    #expect(people.map(\.name) == ["x", "y", "z"])
    #expect(people[0].nick == "one\r\ntwo <&>\"\u{1}\u{FFFE}\\ \u{1F600}")
    let company = try #require(people[0].company)
    #expect(company.ranking == [people[2], people[0]])
    #expect(Set(company.partners.map(\.code)) == ["A", "B"])
    #expect(company.people == Set(people))
    #expect(try context.fetch(Club.self).map(\.title) == [""])
    #expect(try context.fetch(Club.self).first?.members == Set(people))
    #expect(try coordinator.verify().findings == [])
    // Opening and reading writes nothing, and a save changes what it must.
    #expect(try Data(contentsOf: folder.store) == first)
    people[1].age = 4
    try context.save()
    #expect(try Data(contentsOf: folder.store) != first)
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.url.path) == ["Store.heartwood"])
    try container.close()
  }

  // STO-05
  @Test(arguments: StoreKind.files)
  func `a save that would overwrite what others have saved is a conflict, and loses nothing`(kind: StoreKind)
    throws
  {
    _ = try fill(kind)
    let (one, two) = (
      try kind.open(companyTypes, at: folder.store), try kind.open(companyTypes, at: folder.store)
    )
    let (first, second) = (one.newBackgroundContext(), two.newBackgroundContext())
    _ = first.makeCompany("first")
    _ = second.makeCompany("second")
    try first.save()
    let error = heartwoodError { try second.save() }
    #expect(error?.code == .persistentStoreSaveConflicts)
    #expect(error?.message.contains("open the store again") == true)
    #expect(second.hasChanges)
    _ = first.makeCompany("more")
    try first.save()
    try FileManager.default.removeItem(at: folder.store)
    _ = first.makeCompany("even more")
    #expect(code { try first.save() } == .persistentStoreSaveConflicts)
    try one.close()
    try two.close()
  }

  // STO-23
  @Test(arguments: StoreKind.files)
  func `a file without bytes becomes a store, and one of something else is refused`(kind: StoreKind) throws {
    try Data().write(to: folder.store)
    _ = try fill(kind)
    for text in ["", "hello", "{}", "{\"heartwood\": 1", "<heartwood", "<a></a>", "HwBinary", "\u{0}"] {
      let url = folder.url.appending(path: "other")
      try Data(text.utf8).write(to: url)
      let readOnly: PersistentStore.Options = [.readOnly: true]
      let error = heartwoodError {
        _ = try kind.open(companyTypes, at: url, options: text.isEmpty ? readOnly : nil)
      }
      #expect([.persistentStoreOpen, .persistentStoreDamaged].contains(error?.code), "\(text)")
      #expect(try Data(contentsOf: url) == Data(text.utf8))
    }
    #expect(code { _ = try kind.open(companyTypes, at: folder.url) } == .persistentStoreOpen)
    let missing = folder.url.appending(path: "missing")
    #expect(
      code { _ = try kind.open(companyTypes, at: missing, options: [.readOnly: true]) }
        == .persistentStoreOpen)
    #expect(!FileManager.default.fileExists(atPath: missing.path))
  }

  @Test(arguments: StoreKind.files)
  func `a read-only store is read and not written`(kind: StoreKind) throws {
    _ = try fill(kind)
    let before = try Data(contentsOf: folder.store)
    let container = try kind.open(companyTypes, at: folder.store, options: [.readOnly: true])
    let context = container.newBackgroundContext()
    #expect(try context.fetch(Person.self).count == 3)
    _ = context.makeCompany("new")
    #expect(code { try context.save() } == .persistentStoreSave)
    try container.close()
    #expect(try Data(contentsOf: folder.store) == before)
  }

  // PSC-07, PSC-08
  @Test(arguments: StoreKind.files)
  func `metadata are read and set with a stack and without`(kind: StoreKind) throws {
    _ = try fill(kind)
    let values: [String: Any] = [
      "text": "a", "number": 3, "half": 0.5, "list": [1, true],
      "date": Date(timeIntervalSinceReferenceDate: 1.25),
      "data": Data([1, 2]), "more": ["b": "c"],
    ]
    try PersistentStoreCoordinator.setMetadata(values, type: kind.type, at: folder.store)
    let container = try kind.open(companyTypes, at: folder.store)
    let coordinator = container.persistentStoreCoordinator
    let store = try #require(coordinator.persistentStores.first)
    var metadata = try coordinator.metadata(for: store)
    #expect(metadata["date"] as? Date == Date(timeIntervalSinceReferenceDate: 1.25))
    #expect(metadata["more"] as? [String: String] == ["b": "c"])
    metadata["text"] = "changed"
    try coordinator.setMetadata(metadata, for: store)
    try container.newBackgroundContext().save()
    try container.close()
    let found = try PersistentStoreCoordinator.metadataForPersistentStore(type: kind.type, at: folder.store)
    #expect(found["text"] as? String == "changed")
    #expect(found["half"] as? Double == 0.5)
    #expect(found[PersistentStore.MetadataKey.storeType] as? String == kind.rawValue)
    #expect(found[PersistentStore.MetadataKey.storeUUID] as? String == store.identifier)
    let model = try PersistentStoreCoordinator.managedObjectModel(
      ofStoreAt: folder.store)
    #expect(Set(model.entitiesByName.keys) == ["Company", "Person", "House", "Club"])
  }

  @Test func `two readable files of the same objects differ only in the lines of what differs`() throws {
    for kind in [StoreKind.json, .xml] {
      let url = folder.url.appending(path: kind.rawValue)
      let container = try kind.open(companyTypes, at: url)
      let context = container.newBackgroundContext()
      let people = (0..<30).map { context.makePerson("\($0)", age: 1) }
      try context.save()
      let before = try String(contentsOf: url, encoding: .utf8).split(separator: "\n")
      people[7].age = 2
      try context.save()
      let after = try String(contentsOf: url, encoding: .utf8).split(separator: "\n")
      #expect(before.count == after.count)
      let changed = zip(before, after).filter { $0 != $1 }
      // The number of saves, the object's version, and its age.
      #expect(changed.count <= 3, "\(kind): \(changed)")
      try container.close()
    }
  }

  @Test(arguments: StoreKind.files)
  func `large data is in the file`(kind: StoreKind) throws {
    let image = Data((0..<1_200_000).map { UInt8(truncatingIfNeeded: $0 &* 7 &+ $0 >> 9) })
    var container = try kind.open([Picture.self], at: folder.store)
    var context = container.newBackgroundContext()
    let picture = Picture(context: context)
    picture.image = image
    picture.preview = Data(repeating: 1, count: 40_000)
    try context.save()
    try container.close()
    container = try kind.open([Picture.self], at: folder.store)
    context = container.newBackgroundContext()
    let found = try #require(try context.fetch(Picture.self).first)
    #expect(found.image == image)
    found.title = "again"
    found.preview = Data(repeating: 2, count: 40_000)
    try context.save()
    try container.close()
    container = try kind.open([Picture.self], at: folder.store)
    context = container.newBackgroundContext()
    #expect(try context.fetch(Picture.self).map(\.preview) == [Data(repeating: 2, count: 40_000)])
    #expect(try container.persistentStoreCoordinator.verify().findings == [])
    try container.close()
  }
}

extension `Stores in one file` {
  @Test(arguments: StoreKind.files)
  func `what needs a log is refused with the code of an unsupported request`(kind: StoreKind) throws {
    let container = try kind.open(companyTypes, at: folder.store)
    let coordinator = container.persistentStoreCoordinator
    let context = container.newBackgroundContext()
    let unsupported = HeartwoodError.Code.persistentStoreUnsupportedRequestType
    #expect(
      code { _ = try context.execute(PersistentHistoryChangeRequest.fetchHistory(after: Date.distantPast)) }
        == unsupported)
    #expect(code { _ = try container.history() } == unsupported)
    #expect(code { try context.setQueryGenerationFrom(.current) } == unsupported)
    #expect(code { _ = try coordinator.newestQueryGenerationToken() } == unsupported)
    #expect(code { _ = try coordinator.generations() } == unsupported)
    #expect(code { _ = try coordinator.backup(to: folder.url.appending(path: "copy")) } == unsupported)
    #expect(coordinator.currentPersistentHistoryToken() == nil)
    try container.close()
  }
}
