import Foundation
import GraphTestSupport
import LineStore
import TestSupport
import Testing

@testable import Heartwood

/// Uniqueness constraints over relationships to one object.
@Suite struct `Constraints over relationships` {
  private let folder: TemporaryFolder

  init() throws {
    folder = try TemporaryFolder()
    PersistentStoreCoordinator.registerStoreClass(LineStore.self, type: LineStore.kind)
    PersistentStoreCoordinator.registerStoreClass(DictionaryStore.self, type: DictionaryStore.kind)
  }

  static let kinds: [PersistentStore.StoreType] = [
    .log, .binary, .json, .xml, .inMemory, LineStore.kind, DictionaryStore.kind,
  ]

  /// Projects with a unique code, and issues that are unique by project and number, or by the project's code and number.
  private static func model(derived: Bool = false) -> ManagedObjectModel {
    let project = EntityDescription(
      name: "Project",
      properties: [
        AttributeDescription(name: "code", type: .string), AttributeDescription(name: "title", type: .string),
      ])
    project.uniquenessConstraints = [["code"]]
    let issue = EntityDescription(
      name: "Issue",
      properties: [
        AttributeDescription(name: "number", type: .integer64),
        AttributeDescription(name: "text", type: .string),
      ])
    let issues = RelationshipDescription(name: "issues", destination: issue, isToMany: true)
    let own = RelationshipDescription(name: "project", destination: project, isToMany: false)
    (issues.inverseRelationship, own.inverseRelationship) = (own, issues)
    project.ownProperties.append(issues)
    issue.ownProperties.append(own)
    issue.uniquenessConstraints = [["project", "number"]]
    if derived {
      let key = DerivedAttributeDescription()
      (key.name, key.type, key.derivationExpression) = ("key", .string, "project.code")
      issue.ownProperties.append(key)
      issue.uniquenessConstraints = [["key", "number"]]
    }
    return ManagedObjectModel(entities: [project, issue])
  }

  private func open(
    _ kind: PersistentStore.StoreType = .log, _ model: ManagedObjectModel = Self.model(),
    _ policy: MergePolicy = .error
  ) throws -> ManagedObjectContext {
    let coordinator = try PersistentStoreCoordinator(checking: model)
    let place =
      kind == .inMemory
      ? URL(fileURLWithPath: "/dev/null")
      : kind == DictionaryStore.kind ? DictionaryStore.newPlace() : folder.store
    let description = PersistentStoreDescription(type: kind, url: place, options: nil)
    description.shouldMigrateStoreAutomatically = true
    description.shouldInferMappingModelAutomatically = true
    try coordinator.addPersistentStore(with: description)
    let context = ManagedObjectContext(.privateQueue, coordinator: coordinator)
    context.mergePolicy = policy
    return context
  }

  private func project(_ code: String, _ context: ManagedObjectContext) throws -> ManagedObject {
    let project = try ManagedObject(entity: context.entity("Project"), insertInto: context)
    project.setValue(code, forKey: "code")
    return project
  }

  @discardableResult
  private func issue(
    _ number: Int, of project: ManagedObject?, _ text: String, _ context: ManagedObjectContext
  ) throws -> ManagedObject {
    let issue = try ManagedObject(entity: context.entity("Issue"), insertInto: context)
    issue.setValue(number, forKey: "number")
    issue.setValue(project, forKey: "project")
    issue.setValue(text, forKey: "text")
    return issue
  }

  private func contents(_ context: ManagedObjectContext) throws -> [String] {
    try context.fetch(FetchRequest<ManagedObject>(entityName: "Issue")).map { issue in
      let project = (issue.value(forKey: "project") as? ManagedObject)?.value(forKey: "code") ?? "-"
      return "\(project) \(issue.value(forKey: "number") ?? "-") \(issue.value(forKey: "text") ?? "-")"
    }.sorted()
  }

  @Test(arguments: kinds)
  func `two new objects of a new one that become one leave the context sound`(
    _ kind: PersistentStore.StoreType
  ) throws {
    let context = try open(kind)
    let a = try project("A", context)
    for text in ["first", "second"] { try issue(1, of: a, text, context) }
    let error = heartwoodError { try context.save() }
    let values = error?.constraintConflicts.first?.constraintValues ?? []
    #expect(values.first as? ManagedObject === a)
    context.mergePolicy = .mergeByPropertyObjectTrump
    try context.save()
    try issue(2, of: a, "third", context)
    try context.save()
    #expect(context.registeredObjects.filter { $0.entity.name == "Project" } == [a])
    #expect(try contents(context).map { $0.prefix(3) } == ["A 1", "A 2"])
  }

  // MRG-17
  @Test(arguments: kinds)
  func `a save refuses two with the same object and value, and one without an object is not compared`(
    _ kind: PersistentStore.StoreType
  ) throws {
    let context = try open(kind)
    let (a, b) = (try project("A", context), try project("B", context))
    for number in 1...2 { for own in [a, b] { try issue(number, of: own, "old", context) } }
    for _ in 0..<2 { try issue(1, of: nil, "none", context) }
    try context.save()
    let moved = try issue(3, of: b, "new", context)
    try context.save()
    moved.setValue(a, forKey: "project")
    moved.setValue(2, forKey: "number")
    let error = heartwoodError { try context.save() }
    let conflict = try #require(error?.constraintConflicts.first, "\(String(describing: error))")
    #expect(conflict.constraint == ["project", "number"])
    #expect(conflict.constraintValues.first as? ManagedObject === a)
    #expect((conflict.constraintValues.last as? any BinaryInteger).map { Int($0) } == 2)
    #expect(
      error?.message.contains("Issue must be unique by project, number") == true,
      "\(String(describing: error))")
    #expect(error?.message.contains("project = \(a.objectID)") == true)
    context.rollback()
    // Of one save, both of new objects.
    let c = try project("C", context)
    for text in ["x", "y"] { try issue(9, of: c, text, context) }
    #expect(heartwoodError { try context.save() }?.constraintConflicts.count == 1)
    context.rollback()
    #expect(try contents(context).count == 7)
    // Two may exchange their numbers.
    let own = try context.fetch(FetchRequest<ManagedObject>(entityName: "Issue")).filter {
      $0.value(forKey: "project") as? ManagedObject === a
    }
    let numbers = own.map { $0.value(forKey: "number") }
    for (issue, number) in zip(own, numbers.reversed()) { issue.setValue(number, forKey: "number") }
    try context.save()
    try context.persistentStoreCoordinator?.close()
  }

  // CON-11, CON-12
  @Test(arguments: kinds)
  func `a policy makes new objects the stored ones, whose own projects are merged first`(
    _ kind: PersistentStore.StoreType
  ) throws {
    let context = try open(kind, Self.model(), .mergeByPropertyObjectTrump)
    let a = try project("A", context)
    let first = try issue(1, of: a, "old", context)
    try context.save()
    let again = try project("A", context)
    again.setValue("second", forKey: "title")
    try issue(1, of: again, "new", context)
    try issue(2, of: again, "more", context)
    try context.save()
    #expect(try contents(context) == ["A 1 new", "A 2 more"])
    #expect(
      a.value(forKey: "title") as? String == "second" && first.value(forKey: "text") as? String == "new")
    #expect((a.value(forKey: "issues") as? Set<ManagedObject>)?.count == 2)
    context.mergePolicy = .mergeByPropertyStoreTrump
    let moved = try issue(3, of: a, "three", context)
    try context.save()
    moved.setValue(2, forKey: "number")
    try context.save()
    #expect(try contents(context) == ["A 1 new", "A 2 more", "A 3 three"])
    let b = try project("B", context)
    try issue(1, of: b, "b", context)
    try context.save()
    moved.setValue(b, forKey: "project")
    moved.setValue(1, forKey: "number")
    try context.save()
    #expect(moved.value(forKey: "project") as? ManagedObject === a)
    #expect((a.value(forKey: "issues") as? Set<ManagedObject>)?.contains(moved) == true)
    #expect((b.value(forKey: "issues") as? Set<ManagedObject>)?.contains(moved) == false)
    try context.persistentStoreCoordinator?.close()
  }

  private func batch(_ policy: MergePolicy, _ context: ManagedObjectContext, _ rows: [[String: Any]]) throws {
    context.mergePolicy = policy
    try context.execute(BatchInsertRequest(entityName: "Issue", objects: rows))
    context.reset()
  }

  // BAT-10, BAT-11
  @Test(arguments: [false, true])
  func `a batch insert updates the stored object, also by a derived attribute`(_ derived: Bool) throws {
    for kind in [PersistentStore.StoreType.log, .json, .inMemory] {
      let context = try open(kind, Self.model(derived: derived))
      let (a, b) = (try project("A", context), try project("B", context))
      try issue(1, of: a, "old", context)
      try issue(1, of: b, "old", context)
      try context.save()
      let id = b.objectID
      func row(_ project: Any, _ number: Int, _ text: String) -> [String: Any] {
        ["project": project, "number": number, "text": text]
      }
      try batch(
        .mergeByPropertyObjectTrump, context,
        [
          row("A", 1, "new"), row(id, 2, "more"), row(["code": "B"], 2, "most"), row("A", 3, "x"),
          row("A", 3, "y"),
        ])
      #expect(try contents(context) == ["A 1 new", "A 3 y", "B 1 old", "B 2 most"], "\(kind)")
      try batch(.mergeByPropertyStoreTrump, context, [row("A", 1, "not"), row("B", 4, "four")])
      #expect(try contents(context) == ["A 1 new", "A 3 y", "B 1 old", "B 2 most", "B 4 four"], "\(kind)")
      let error = heartwoodError { try batch(.error, context, [row("A", 1, "not")]) }
      #expect(
        error?.message.contains("Issue must be unique by \(derived ? "key" : "project"), number") == true)
      // Many, in several groups.
      let rows = (0..<1300).map { row("A", $0 % 650 + 10, "\($0)") }
      try batch(.mergeByPropertyObjectTrump, context, rows)
      #expect(try context.count(for: FetchRequest<ManagedObject>(entityName: "Issue")) == 655, "\(kind)")
      try context.persistentStoreCoordinator?.close()
      try? FileManager.default.removeItem(at: folder.store)
    }
  }

  // BAT-12
  @Test func `a destination can be named by a constraint over a relationship`() throws {
    let comment = EntityDescription(
      name: "Comment", properties: [AttributeDescription(name: "text", type: .string)])
    let model = Self.model()
    let issue = try #require(model.entitiesByName["Issue"])
    let own = RelationshipDescription(name: "issue", destination: issue, isToMany: false)
    comment.ownProperties.append(own)
    let whole = ManagedObjectModel(entities: model.entities + [comment])
    let context = try open(.log, whole)
    let a = try project("A", context)
    try self.issue(1, of: a, "old", context)
    try context.save()
    try context.execute(
      BatchInsertRequest(
        entityName: "Comment",
        objects: [["text": "c", "issue": ["project": ["code": "A"], "number": 1]]]))
    let found = try #require(try context.fetch(FetchRequest<ManagedObject>(entityName: "Comment")).first)
    #expect((found.value(forKey: "issue") as? ManagedObject)?.value(forKey: "text") as? String == "old")
    let error = heartwoodError {
      try context.execute(
        BatchInsertRequest(
          entityName: "Comment", objects: [["issue": ["project": ["code": "B"], "number": 1]]]))
    }
    #expect(error != nil)
    try context.persistentStoreCoordinator?.close()
  }

  // BAT-11
  @Test func `rows of a tree find the parents that come before them in the same batch`() throws {
    let folderEntity = EntityDescription(
      name: "Issue", properties: [AttributeDescription(name: "name", type: .string)])
    let parent = RelationshipDescription(name: "parent", destination: folderEntity, isToMany: false)
    let children = RelationshipDescription(name: "children", destination: folderEntity, isToMany: true)
    (parent.inverseRelationship, children.inverseRelationship) = (children, parent)
    folderEntity.ownProperties += [parent, children, AttributeDescription(name: "path", type: .string)]
    folderEntity.uniquenessConstraints = [["parent", "name"], ["path"]]
    let context = try open(.log, ManagedObjectModel(entities: [folderEntity]), .mergeByPropertyObjectTrump)
    let rows: [[String: Any]] = [
      ["name": "a", "path": "a"], ["name": "b", "path": "a/b", "parent": ["path": "a"]],
      ["name": "c", "path": "a/b/c", "parent": ["path": "a/b"]],
    ]
    for _ in 0..<2 { try context.execute(BatchInsertRequest(entityName: "Issue", objects: rows)) }
    #expect(try context.count(for: FetchRequest<ManagedObject>(entityName: "Issue")) == 3)
    try context.persistentStoreCoordinator?.close()
  }

  // MIG-06, MIG-18
  @Test func `a store gets such a constraint by a migration, which names objects that are equal`() throws {
    func before() -> ManagedObjectModel {
      let model = Self.model()
      model.entitiesByName["Issue"]?.uniquenessConstraints = []
      return model
    }
    let context = try open(.log, before())
    let a = try project("A", context)
    try issue(1, of: a, "x", context)
    let other = try issue(1, of: a, "y", context)
    try context.save()
    let error = heartwoodError { _ = try open(.log) }
    #expect(error?.code == .migrationConstraintViolation, "\(String(describing: error))")
    other.setValue(2, forKey: "number")
    try context.save()
    try context.persistentStoreCoordinator?.close()
    let migrated = try open(.log)
    let own = try #require(try migrated.fetch(FetchRequest<ManagedObject>(entityName: "Project")).first)
    try issue(2, of: own, "z", migrated)
    #expect(heartwoodError { try migrated.save() }?.constraintConflicts.count == 1)
    try migrated.persistentStoreCoordinator?.close()
  }
}
