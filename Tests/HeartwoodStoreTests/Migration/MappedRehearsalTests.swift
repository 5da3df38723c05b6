import Foundation
import GraphTestSupport
import TestSupport
import Testing

@testable import Heartwood

/// Migrations by a mapping model that are tried.
@Suite struct MappedRehearsalTests {
  private let folder: TemporaryFolder
  private let scratch: URL

  init() throws {
    folder = try TemporaryFolder()
    scratch = folder.url.appending(path: "scratch")
    try FileManager.default.createDirectory(at: scratch, withIntermediateDirectories: false)
  }

  /// Persons with a full name and notes; then persons with a code, which is unique, a name and a rating, and no notes.
  private static func model(_ version: Int) -> ManagedObjectModel {
    let person = EntityDescription(name: "Person")
    let name = AttributeDescription(name: version == 1 ? "full" : "name", type: .string)
    let code = AttributeDescription(name: "code", type: .integer64)
    person.properties = [name, code]
    let friends = RelationshipDescription(name: "friends", destination: person, isToMany: true)
    friends.inverseRelationship = friends
    person.ownProperties.append(friends)
    guard version > 1 else {
      let note = EntityDescription(name: "Note")
      note.properties = [AttributeDescription(name: "text", type: .string)]
      return ManagedObjectModel(entities: [person, note])
    }
    name.isOptional = false
    name.validationRules = [.length(1...9)]
    person.uniquenessConstraints = [["code"]]
    return ManagedObjectModel(entities: [person])
  }

  private func open(
    _ version: Int, _ edit: (PersistentStoreDescription) -> Void = { _ in }
  ) throws -> ManagedObjectContext {
    let coordinator = try PersistentStoreCoordinator(checking: Self.model(version))
    let description = PersistentStoreDescription(url: folder.store)
    edit(description)
    try coordinator.addPersistentStore(with: description)
    return ManagedObjectContext(.privateQueue, coordinator: coordinator)
  }

  /// Persons p0, p1, … with their numbers as codes, and notes.
  private func fill(_ count: Int = 1200, _ edit: (ManagedObject, Int) -> Void = { _, _ in }) throws {
    let context = try open(1)
    let entities = try #require(context.persistentStoreCoordinator?.managedObjectModel.entitiesByName)
    var last: ManagedObject?
    for number in 0..<count {
      let person = ManagedObject(entity: try #require(entities["Person"]), insertInto: context)
      person.setValue("p\(number)", forKey: "full")
      person.setValue(number, forKey: "code")
      if let last { person.setValue(Set([last]), forKey: "friends") }
      edit(person, number)
      last = person
    }
    for _ in 0..<7 { _ = ManagedObject(entity: try #require(entities["Note"]), insertInto: context) }
    try context.save()
    try context.persistentStoreCoordinator?.close()
  }

  private func mapping(_ edit: (EntityMapping) -> Void = { _ in }) -> MappingModel {
    let person = EntityMapping(from: "Person", to: "Person")
    person.attributeMappings = [
      PropertyMapping(name: "name", from: "full"), PropertyMapping(name: "code", from: "code"),
    ]
    person.relationshipMappings = [PropertyMapping(name: "friends", from: "friends")]
    edit(person)
    return MappingModel(entityMappings: [person])
  }

  private func rehearse(_ mapping: MappingModel) throws -> MigrationReport? {
    let description = PersistentStoreDescription(url: folder.store)
    description.mappingModel = mapping
    let before = try files()
    defer {
      #expect((try? files()) == before)
      #expect((try? FileManager.default.contentsOfDirectory(atPath: scratch.path)) == [])
    }
    return try PersistentStoreCoordinator.rehearseMigration(
      with: description, to: Self.model(2), scratchFolder: scratch)
  }

  private func files() throws -> [String: Data] {
    var files: [String: Data] = [:]
    for name in try FileManager.default.contentsOfDirectory(atPath: folder.store.path) {
      files[name] = try Data(contentsOf: folder.store.appending(path: name))
    }
    return files
  }

  @Test func `a mapping's rehearsal counts the links to objects that it leaves out`() throws {
    try fill(10)
    let some = mapping { $0.sourcePredicate = try? FormatPredicate("code != 4 AND code != 9") }
    let report = try #require(try rehearse(some))
    // 3, 5 and 8 stay without a friend: friends are those of both sides.
    #expect(report.lostLinks == ["Person.friends": 3])
    #expect(report.rewrittenObjects == ["Person": 8] && report.deletedObjects == ["Note": 7, "Person": 2])
    #expect(try rehearse(mapping())?.lostLinks == [:])
  }

  // MIG-10, MIG-11, MIG-17
  @Test func `a mapping with a policy is tried, and the store's files and folder are as before`() throws {
    try fill()
    let edited = mapping {
      $0.policy = ClosureMigrationPolicy { source, made, _ in
        made.setValue("\(source.value(forKey: "full") ?? "")!", forKey: "name")
      }
    }
    let report = try #require(try rehearse(edited))
    #expect(report.violations.isEmpty)
    #expect(report.rewrittenObjects == ["Person": 1200] && report.deletedObjects == ["Note": 7])
    #expect(report.changes.contains("Note is removed, with its objects"))
    #expect(
      report.changes.contains(
        "the mapping Person->Person makes Person of Person, by code of ClosureMigrationPolicy"))
    #expect(report.changes.contains("Person.name is Person.full"))
    #expect(
      (report.bytesWritten ?? 0) > 0 && (report.bytesBefore ?? 0) > 0 && report.bytesAfter != nil)
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.url.path).count == 2)
    let migrated = try open(2) { $0.mappingModel = edited }
    let request = FetchRequest<ManagedObject>(entityName: "Person")
    request.predicate = try FormatPredicate("name ENDSWITH '!'")
    #expect(try migrated.count(for: request) == 1200)
    try migrated.persistentStoreCoordinator?.close()
    #expect(try rehearse(edited) == nil)
  }

  // MIG-10, MIG-17, MIG-18
  @Test func `objects that a mapping cannot migrate are listed with their identifiers in the store`() throws {
    try fill { person, number in
      if number % 400 == 3 { person.setValue(nil, forKey: "full") }
      if number == 700 { person.setValue("much too long", forKey: "full") }
      if number == 900 { person.setValue("odd", forKey: "full") }
      // 10 to 19 twice, in parts of their own.
      if (610..<620).contains(number) { person.setValue(number - 600, forKey: "code") }
      // Within one part.
      if number == 1101 { person.setValue(1100, forKey: "code") }
    }
    struct Odd: Error {}
    let plan = mapping {
      $0.policy = ClosureMigrationPolicy { source, _, _ in
        if source.value(forKey: "full") as? String == "odd" {
          throw HeartwoodError(.migration, "it is odd")
        }
      }
    }
    let report = try #require(try rehearse(plan))
    let found = report.violations.map { violation in
      "\(violation.entity).\(violation.property ?? "-") \(violation.code.rawValue) \(violation.preventsMigration): "
        + violation.objectIDs.map { "\($0.key)" }.joined(separator: " ")
    }
    let duplicates = [1101, 1102] + (10..<20).flatMap { [$0 + 1, $0 + 601] }
    #expect(
      found.filter { !$0.contains("134111") }.sorted() == [
        "Person.- 134110 true: 901", "Person.name 1570 true: 4 404 804", "Person.name 1660 true: 701",
      ], "\(found)")
    let unique = try #require(report.violations.first { $0.code == .migrationConstraintViolation })
    #expect(Set(unique.objectIDs.map { Int($0.key) }) == Set(duplicates) && unique.count == 22)
    #expect(unique.preventsMigration && unique.message.contains("must be unique"))
    #expect(report.deletedObjects == ["Note": 7])
    #expect(heartwoodError { _ = try open(2) { $0.mappingModel = plan } } != nil)
  }

  // MIG-09, MIG-16
  @Test func `a mapping whose code fails names each object when it is tried`() throws {
    try fill(10)
    struct Broken: Error {}
    let broken = mapping { $0.policy = ClosureMigrationPolicy { _, _, _ in throw Broken() } }
    let violations = try #require(try rehearse(broken)).violations
    #expect(violations.map(\.count) == [10])
    #expect(violations[0].code == .entityMigrationPolicy && violations[0].preventsMigration)
    #expect(violations[0].message.contains("Broken"))
    let wrong = mapping { $0.attributeMappings[0] = PropertyMapping(name: "name", from: "nme") }
    #expect(heartwoodError { _ = try rehearse(wrong) }?.message.contains("nme") == true)
    let empty = heartwoodError { _ = try rehearse(MappingModel(entityMappings: [])) }
    #expect(empty?.code == .migrationMissingMappingModel)
  }

  @Test func `the next rehearsal removes what a killed one has left, and nothing of a running one`() throws {
    try fill(10)
    let scratch = folder.url.appending(path: "scratch")
    // No process has the first number, and this test has the second.
    let (abandoned, running) = (
      "heartwood-rehearsal-2147483647-A", "heartwood-rehearsal-\(ProcessInfo.processInfo.processIdentifier)-B"
    )
    for name in [abandoned, running, "other"] {
      try FileManager.default.createDirectory(
        at: scratch.appending(path: name), withIntermediateDirectories: true)
    }
    PrivateFolder.removeAbandoned(in: scratch)
    #expect(try Set(FileManager.default.contentsOfDirectory(atPath: scratch.path)) == [running, "other"])
  }

  // MIG-09
  @Test func `a property that is mapped twice is refused with the names of entity and property`() throws {
    try fill(10)
    for policy in [EntityMigrationPolicy(), ClosureMigrationPolicy { _, _, _ in }] {
      let twice = mapping {
        $0.policy = policy
        $0.attributeMappings.append(PropertyMapping(name: "code"))
      }
      let error = heartwoodError { _ = try open(2) { $0.mappingModel = twice } }
      #expect(error?.code == .migration && error?.property == "code")
      #expect(error?.message.contains("maps Person.code twice") == true, "\(String(describing: error))")
    }
    let links = mapping { $0.relationshipMappings.append(PropertyMapping(name: "friends", from: "friends")) }
    #expect(heartwoodError { _ = try rehearse(links) }?.property == "friends")
    let context = try open(1)
    #expect(try context.count(for: FetchRequest<ManagedObject>(entityName: "Person")) == 10)
    try context.persistentStoreCoordinator?.close()
  }
}
