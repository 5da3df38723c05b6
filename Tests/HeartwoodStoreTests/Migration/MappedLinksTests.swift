import Foundation
import GraphTestSupport
import Heartwood
import TestSupport
import Testing

/// Links and values in mapping models as Xcode writes them, where each mapping names only what one other mapping makes.
@Suite struct `Mappings as Xcode writes them` {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  /// Firms with an ordered staff of persons, some of them managers; in the second version firms have a note more.
  private static func model(
    _ version: Int, _ edit: ([String: EntityDescription]) -> Void = { _ in }
  ) -> ManagedObjectModel {
    let firm = EntityDescription(
      name: "Firm",
      properties: [
        AttributeDescription(name: "name", type: .string, isOptional: true),
        AttributeDescription(name: "size", type: .integer16, isOptional: true),
        AttributeDescription(name: "worth", type: .double, isOptional: true),
      ])
    let person = EntityDescription(
      name: "Person", properties: [AttributeDescription(name: "name", type: .string)])
    let manager = EntityDescription(name: "Manager", properties: [])
    person.subentities = [manager]
    let staff = RelationshipDescription(name: "staff", destination: person, isToMany: true, isOrdered: true)
    let employer = RelationshipDescription(name: "firm", destination: firm, isToMany: false)
    (staff.inverseRelationship, employer.inverseRelationship) = (employer, staff)
    firm.ownProperties.append(staff)
    person.ownProperties.append(employer)
    let entities = ["Firm": firm, "Person": person, "Manager": manager]
    guard version > 1 else { return ManagedObjectModel(entities: Array(entities.values)) }
    firm.ownProperties.append(AttributeDescription(name: "note", type: .string, isOptional: true))
    person.ownProperties.append(AttributeDescription(name: "note", type: .string, isOptional: true))
    edit(entities)
    return ManagedObjectModel(entities: Array(entities.values))
  }

  private func open(
    _ model: ManagedObjectModel, _ mapping: MappingModel? = nil
  ) throws -> ManagedObjectContext {
    let coordinator = try PersistentStoreCoordinator(checking: model)
    try coordinator.addPersistentStore(with: description(mapping))
    return ManagedObjectContext(.privateQueue, coordinator: coordinator)
  }

  private func description(_ mapping: MappingModel?) -> PersistentStoreDescription {
    let description = PersistentStoreDescription(url: folder.store)
    description.mappingModel = mapping
    return description
  }

  private func fill() throws {
    let context = try open(Self.model(1))
    let firm = try ManagedObject(entity: context.entity("Firm"), insertInto: context)
    let staff = try [("Manager", "Mia"), ("Person", "Pat"), ("Manager", "Max")].map { entity, name in
      let object = try ManagedObject(entity: context.entity(entity), insertInto: context)
      object.setValue(name, forKey: "name")
      return object
    }
    try firm.assign(staff, forKey: "staff")
    firm.setValue(Double.infinity, forKey: "worth")
    try context.save()
    try context.persistentStoreCoordinator?.close()
  }

  private static func mapping(_ entity: String, _ others: [(String, String)] = []) throws -> EntityMapping {
    let mapping = EntityMapping(from: entity, to: entity)
    mapping.relationshipMappings = try others.map { try PropertyMapping(name: $0, valueExpression: $1) }
    return mapping
  }

  private static func made(_ mapping: String, _ source: String) -> String {
    "FUNCTION($manager, \"destinationInstancesForEntityMappingNamed:sourceInstances:\", \"\(mapping)\", \(source))"
  }

  /// By their names, the mappings of a case.
  enum Links: CaseIterable {
    case bothSides, oneSide, otherSide

    func mappings() throws -> [EntityMapping] {
      let staff = [("staff", made("Person->Person", "$source.staff"))]
      let firm = [("firm", made("Firm->Firm", "$source.firm"))]
      return [
        try mapping("Firm", self == .otherSide ? [] : staff),
        try mapping("Person", self == .oneSide ? [] : firm),
        try mapping("Manager", self == .oneSide ? [] : firm),
      ]
    }
  }

  @Test(arguments: Links.allCases, [[0, 1, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]])
  func `all links and their order are taken over, in whatever order the mappings are`(
    links: Links, order: [Int]
  ) throws {
    try fill()
    let all = try links.mappings()
    let mapping = MappingModel(entityMappings: order.map { all[$0] })
    let report = try #require(
      try PersistentStoreCoordinator.rehearseMigration(with: description(mapping), to: Self.model(2)))
    #expect(report.lostLinks == [:] && report.lostValues == [:])
    #expect(!report.changes.contains { $0.contains("lost") }, "\(report.changes)")
    let context = try open(Self.model(2), mapping)
    let firm = try #require(try context.fetch(FetchRequest<ManagedObject>(entityName: "Firm")).first)
    let staff = firm.value(forKey: "staff") as? [ManagedObject] ?? []
    #expect(staff.map { $0.value(forKey: "name") as? String } == ["Mia", "Pat", "Max"])
  }

  @Test(arguments: [false, true])
  func
    `a relationship that is mapped as none loses the links that were taken over before it, and a rehearsal says so`(
      isLast: Bool
    ) throws
  {
    try fill()
    let firm = [("firm", Self.made("Firm->Firm", "$source.firm"))]
    let others = try [Self.mapping("Person", firm), Self.mapping("Manager", firm)]
    let none = try [Self.mapping("Firm", [("staff", "nil")])]
    let mapping = MappingModel(entityMappings: isLast ? others + none : none + others)
    let report = try #require(
      try PersistentStoreCoordinator.rehearseMigration(with: description(mapping), to: Self.model(2)))
    #expect(!report.changes.contains { $0.contains("lost") }, "\(report.changes)")
    #expect(report.lostLinks == (isLast ? ["Person.firm": 1, "Manager.firm": 2] : [:]))
    let context = try open(Self.model(2), mapping)
    let people = try context.fetch(FetchRequest<ManagedObject>(entityName: "Person"))
    #expect(people.count { $0.value(forKey: "firm") != nil } == (isLast ? 0 : 3))
  }

  @Test func `a mapping that makes objects of an abstract entity is refused, and is named`() throws {
    try fill()
    let model = Self.model(2) { $0["Person"]?.isAbstract = true }
    let mapping = MappingModel(
      entityMappings: try ["Firm", "Person", "Manager"].map { try Self.mapping($0) })
    for attempt in [
      { _ = try PersistentStoreCoordinator.rehearseMigration(with: description(mapping), to: model) },
      { _ = try open(model, mapping) },
    ] {
      let message = heartwoodMessage(attempt)
      #expect(
        message?.contains("the mapping Person->Person makes objects of Person, which is abstract") == true,
        "\(message ?? "")")
    }
    let names = try FileManager.default.contentsOfDirectory(atPath: folder.url.path)
    #expect(names == [folder.store.lastPathComponent])
    let maker = EntityMapping(from: "Person", to: "Manager")
    maker.name = "promotion"
    let other = MappingModel(
      entityMappings: try [Self.mapping("Firm"), maker, Self.mapping("Manager")])
    #expect(try open(model, other).fetch(FetchRequest<ManagedObject>(entityName: "Manager")).count == 3)
  }

  @Test(arguments: ["$source.size", "FUNCTION($source, \"valueForKey:\", \"size\")"])
  func `an expression that is a property of the source is mapped by its name`(expression: String) throws {
    try fill()
    let model = Self.model(2) { entities in
      guard let size = entities["Firm"]?.ownProperties[1] as? AttributeDescription else { return }
      (size.type, size.isOptional, size.defaultValue) = (.string, false, "some")
    }
    let firm = try Self.mapping("Firm")
    firm.attributeMappings = [try PropertyMapping(name: "size", valueExpression: expression)]
    let mapping = MappingModel(
      entityMappings: try [firm, Self.mapping("Person"), Self.mapping("Manager")])
    let context = try open(model, mapping)
    let found = try context.fetch(FetchRequest<ManagedObject>(entityName: "Firm"))
    #expect(found.map { $0.value(forKey: "size") as? String } == ["some"])
  }

  @Test(arguments: ["+", "-", "*", "/"])
  func `an expression computes with infinite numbers as with others`(sign: String) throws {
    try fill()
    let firm = try Self.mapping("Firm")
    firm.attributeMappings = [
      try PropertyMapping(name: "worth", valueExpression: "$source.worth \(sign) 2")
    ]
    let mapping = MappingModel(
      entityMappings: try [firm, Self.mapping("Person"), Self.mapping("Manager")])
    let context = try open(Self.model(2), mapping)
    let found = try context.fetch(FetchRequest<ManagedObject>(entityName: "Firm"))
    #expect(found.map { $0.value(forKey: "worth") as? Double } == [.infinity])
  }

  @Test func `a predicate that cannot be used is refused with the mapping that has it`() throws {
    try fill()
    let person = try Self.mapping("Person")
    person.sourcePredicate = try FormatPredicate("age > 3")
    let mapping = MappingModel(
      entityMappings: try [Self.mapping("Firm"), person, Self.mapping("Manager")])
    let message = heartwoodMessage { _ = try open(Self.model(2), mapping) }
    #expect(
      message?.contains("the mapping Person->Person has a predicate that cannot be used") == true,
      "\(message ?? "")")
  }

  @Test func `a rehearsal names an object of the source where a migration would name what it makes of it`()
    throws
  {
    try fill()
    let model = Self.model(2) { $0["Firm"]?.ownProperties[0].isOptional = false }
    let mapping = MappingModel(
      entityMappings: try ["Firm", "Person", "Manager"].map { try Self.mapping($0) })
    let report = try PersistentStoreCoordinator.rehearseMigration(with: description(mapping), to: model)
    let violation = try #require(report?.violations.first)
    let id = try #require(violation.objectIDs.first)
    #expect(violation.message.contains("Firm.name of \(id) needs a value"), "\(violation.message)")
  }
}
