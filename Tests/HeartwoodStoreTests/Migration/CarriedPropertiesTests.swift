import Foundation
import GraphTestSupport
import TestSupport
import Testing

@testable import Heartwood

/// The fate of properties of which a mapping model says nothing.
@Suite struct `Properties that a mapping does not name` {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  /// Persons with an email, of whom some are employees of a firm, and a firm with an ordered board; the second version has a note more.
  private static func model(_ version: Int, _ edit: ([String: EntityDescription]) -> Void = { _ in })
    -> ManagedObjectModel
  {
    let person = EntityDescription(
      name: "Person",
      properties: [
        AttributeDescription(name: "name", type: .string), AttributeDescription(name: "email", type: .string),
        AttributeDescription(name: "age", type: version == 1 ? .integer16 : .integer64),
      ])
    let employee = EntityDescription(
      name: "Employee", properties: [AttributeDescription(name: "salary", type: .integer64)])
    person.subentities = [employee]
    let address = CompositeAttributeDescription()
    address.name = "address"
    address.elements = [
      AttributeDescription(name: "city", type: .string),
      AttributeDescription(name: version == 1 ? "code" : "zip", type: .string, defaultValue: "0"),
    ]
    person.ownProperties.append(address)
    let firm = EntityDescription(
      name: "Firm", properties: [AttributeDescription(name: "title", type: .string)])
    let board = RelationshipDescription(name: "board", destination: employee, isToMany: true, isOrdered: true)
    let seat = RelationshipDescription(name: "seat", destination: firm, isToMany: false)
    (board.inverseRelationship, seat.inverseRelationship) = (seat, board)
    firm.ownProperties.append(board)
    employee.ownProperties.append(seat)
    if version == 2 {
      person.ownProperties.append(AttributeDescription(name: "note", type: .string, defaultValue: "-"))
    }
    edit(["Person": person, "Employee": employee, "Firm": firm])
    return ManagedObjectModel(entities: [person, employee, firm])
  }

  private func open(
    _ model: ManagedObjectModel, _ mapping: MappingModel? = nil
  ) throws -> ManagedObjectContext {
    let coordinator = try PersistentStoreCoordinator(checking: model)
    let description = PersistentStoreDescription(url: folder.store)
    description.mappingModel = mapping
    try coordinator.addPersistentStore(with: description)
    return ManagedObjectContext(.privateQueue, coordinator: coordinator)
  }

  private func fill() throws {
    let context = try open(Self.model(1))
    func make(_ entity: String, _ values: [String: Any]) throws -> ManagedObject {
      let object = try ManagedObject(entity: context.entity(entity), insertInto: context)
      for (name, value) in values { try object.assign(value, forKey: name) }
      return object
    }
    let firm = try make("Firm", ["title": "Acme"])
    _ = try make(
      "Person", ["name": "Ada", "email": "ada@x", "age": 36, "address": ["city": "Rome", "code": "1"]])
    let board = try ["Cid", "Bob", "Dot"].map {
      try make("Employee", ["name": $0, "email": "\($0)@x", "age": 20, "salary": 5])
    }
    try firm.assign(board, forKey: "board")
    try context.save()
    try context.persistentStoreCoordinator?.close()
  }

  private func contents(_ context: ManagedObjectContext) throws -> [String] {
    let people = try context.fetch(FetchRequest<ManagedObject>(entityName: "Person")).map { person in
      let city = (person.value(forKey: "address") as? [String: Any]).map {
        "\($0["city"] ?? "-") \($0["zip"] ?? "-")"
      }
      return ["name", "email", "age", "note"].map { "\(person.value(forKey: $0) ?? "nil")" }.joined(
        separator: " ")
        + " \(city ?? "nil")"
        + (person.entity.name == "Employee" ? " \(person.value(forKey: "salary") ?? "nil")" : "")
    }
    let firm = try #require(try context.fetch(FetchRequest<ManagedObject>(entityName: "Firm")).first)
    let board = (firm.value(forKey: "board") as? [ManagedObject] ?? []).map {
      "\($0.value(forKey: "name") ?? "-")"
    }
    return people.sorted() + ["\(firm.value(forKey: "title") ?? "nil"): \(board.joined(separator: " "))"]
  }

  private let whole = [
    "Ada ada@x 36 - Rome 0", "Bob Bob@x 20 - nil 5", "Cid Cid@x 20 - nil 5", "Dot Dot@x 20 - nil 5",
    "Acme: Cid Bob Dot",
  ]

  private func mappings(_ type: EntityMapping.MappingType = .transform) -> [EntityMapping] {
    ["Person", "Employee", "Firm"].map { EntityMapping(from: $0, to: $0, type: type) }
  }

  @Test func `values and links are taken over by renaming identifiers, elements of composites too`() throws {
    try fill()
    let model = Self.model(2) { entities in
      func rename(_ entity: String, _ name: String, _ new: String) {
        guard let property = entities[entity]?.ownProperties.first(where: { $0.name == name }) else { return }
        (property.name, property.renamingIdentifier) = (new, name)
      }
      let address = entities["Person"]?.ownProperties.first { $0.name == "address" }
      (address as? CompositeAttributeDescription)?.elements[1].renamingIdentifier = "code"
      rename("Person", "email", "mail")
      rename("Person", "address", "home")
      rename("Employee", "seat", "chair")
      rename("Firm", "board", "members")
    }
    let mapping = MappingModel(entityMappings: mappings())
    let context = try open(model, mapping)
    let people = try context.fetch(FetchRequest<ManagedObject>(entityName: "Person"))
    #expect(
      people.map { $0.value(forKey: "mail") as? String ?? "nil" }.sorted() == [
        "Bob@x", "Cid@x", "Dot@x", "ada@x",
      ])
    let homes = people.compactMap { $0.value(forKey: "home") as? [String: Any] }
    // An address that had no value has none, whatever the defaults of its elements.
    #expect(homes.map { "\($0["city"] ?? "-") \($0["zip"] ?? "-")" } == ["Rome 1"])
    let firm = try #require(try context.fetch(FetchRequest<ManagedObject>(entityName: "Firm")).first)
    let members = firm.value(forKey: "members") as? [ManagedObject] ?? []
    #expect(members.map { $0.value(forKey: "name") as? String } == ["Cid", "Bob", "Dot"])
    #expect(members.allSatisfy { $0.value(forKey: "chair") as? ManagedObject === firm })
    try context.persistentStoreCoordinator?.close()
  }

  // MIG-09, MIG-17
  @Test(arguments: [EntityMapping.MappingType.copy, .transform, .custom, .undefined])
  func `values, links and orders are taken over by their names, inherited ones too`(
    _ type: EntityMapping.MappingType
  ) throws {
    try fill()
    let context = try open(Self.model(2), MappingModel(entityMappings: mappings(type)))
    #expect(try contents(context) == whole)
    try context.persistentStoreCoordinator?.close()
  }

  // MIG-09, MIG-10
  @Test func `a property that is named without a source has the value of the same name, or its default`()
    throws
  {
    try fill()
    let named = mappings()
    named[0].attributeMappings = [
      PropertyMapping(name: "email"), PropertyMapping(name: "age", usesDefault: true),
      PropertyMapping(name: "note"),
    ]
    let document = try MappingModel(entityMappings: named).encodedDocument()
    let file = folder.url.appending(path: "mapping.json")
    try document.write(to: file)
    for mapping in [MappingModel(entityMappings: named), try MappingModel(contentsOf: file)] {
      let description = PersistentStoreDescription(url: folder.store)
      description.mappingModel = mapping
      let report = try #require(
        try PersistentStoreCoordinator.rehearseMigration(with: description, to: Self.model(2)))
      #expect(report.changes.contains("Person.age has its default"), "\(report.changes)")
      #expect(report.changes.contains("Person.age is not taken over: its values are lost"))
      #expect(report.lostValues == ["Person.age": 1])
    }
    let context = try open(Self.model(2), MappingModel(entityMappings: named))
    #expect(try contents(context)[0] == "Ada ada@x nil - Rome 0")
    try context.persistentStoreCoordinator?.close()
  }

  // MIG-10, MIG-17
  @Test func `a rehearsal says which values and links no property of the new model gets`() throws {
    try fill()
    let smaller = Self.model(2) { entities in
      entities["Person"]?.ownProperties.removeAll { $0.name == "email" }
      entities["Employee"]?.ownProperties.removeAll { $0.name == "seat" }
      entities["Firm"]?.ownProperties.removeAll { $0.name == "board" }
    }
    let description = PersistentStoreDescription(url: folder.store)
    let given = mappings()
    description.mappingModel = MappingModel(entityMappings: given)
    let report = try #require(
      try PersistentStoreCoordinator.rehearseMigration(with: description, to: smaller))
    #expect(
      report.lostValues == ["Person.email": 1, "Employee.email": 3, "Employee.seat": 3, "Firm.board": 1])
    #expect(report.changes.contains("Firm.board is not taken over: its links are lost"))
    // A property that an expression or another mapping of the entity reads is not lost, and code may keep the
    // rest.
    given[0].attributeMappings = [try PropertyMapping(name: "note", valueExpression: "$source.email")]
    given[1].policy = ClosureMigrationPolicy { _, _, _ in }
    let other = try #require(try PersistentStoreCoordinator.rehearseMigration(with: description, to: smaller))
    #expect(other.lostValues == ["Firm.board": 1])
    #expect(
      other.changes.contains("Employee.seat is not taken over, and its links are lost unless code keeps them")
    )
  }

  // MIG-09, MIG-17
  @Test
  func `a property whose values do not fit is refused unless the mapping or code says what becomes of it`()
    throws
  {
    try fill()
    let texts = Self.model(2) { entities in
      entities["Person"]?.ownProperties.removeAll { $0.name == "email" }
      entities["Person"]?.ownProperties.append(AttributeDescription(name: "email", type: .integer64))
    }
    let error = heartwoodError { _ = try open(texts, MappingModel(entityMappings: mappings())) }
    #expect(error?.code == .migration && error?.property == "email")
    #expect(
      error?.message.contains("it is of type integer64, and was of type string") == true,
      "\(String(describing: error))")
    let single = Self.model(2) { entities in
      let board = entities["Firm"]?.ownProperties.first { $0.name == "board" } as? RelationshipDescription
      board?.isOrdered = false
      board?.maxCount = 1
    }
    #expect(
      heartwoodError { _ = try open(single, MappingModel(entityMappings: mappings())) }?.message
        .contains("it is to-one, and was to-many") == true)
    let given = mappings()
    for mapping in given.prefix(2) {
      mapping.policy = ClosureMigrationPolicy { source, made, _ in
        made.setValue((source.value(forKey: "email") as? String)?.count, forKey: "email")
      }
    }
    let context = try open(texts, MappingModel(entityMappings: given))
    #expect(try contents(context)[0] == "Ada 5 36 - Rome 0")
    try context.persistentStoreCoordinator?.close()
  }

  // MIG-09
  @Test func `two mappings of one entity each get their own destinations`() throws {
    func model(_ version: Int) -> ManagedObjectModel {
      let person = EntityDescription(
        name: "Person", properties: [AttributeDescription(name: "name", type: .string)])
      let house = EntityDescription(
        name: "House", properties: [AttributeDescription(name: "street", type: .string)])
      let contact = EntityDescription(
        name: "Contact", properties: [AttributeDescription(name: "name", type: .string)])
      let people = RelationshipDescription(name: "people", destination: person, isToMany: true)
      let home = RelationshipDescription(name: "home", destination: house, isToMany: false)
      (people.inverseRelationship, home.inverseRelationship) = (home, people)
      house.ownProperties.append(people)
      person.ownProperties.append(home)
      guard version == 2 else { return ManagedObjectModel(entities: [person, house]) }
      let contacts = RelationshipDescription(name: "contacts", destination: contact, isToMany: true)
      house.ownProperties.append(contacts)
      return ManagedObjectModel(entities: [person, house, contact])
    }
    let context = try open(model(1))
    let house = try ManagedObject(entity: context.entity("House"), insertInto: context)
    for name in ["Ada", "Bob"] {
      let person = try ManagedObject(entity: context.entity("Person"), insertInto: context)
      person.setValue(name, forKey: "name")
      person.setValue(house, forKey: "home")
    }
    try context.save()
    try context.persistentStoreCoordinator?.close()
    let contacts = EntityMapping(from: "Person", to: "Contact")
    let houses = EntityMapping(from: "House", to: "House")
    houses.relationshipMappings = [PropertyMapping(name: "contacts", from: "people")]
    let mapping = MappingModel(entityMappings: [
      contacts, EntityMapping(from: "Person", to: "Person"), houses,
    ])
    let migrated = try open(model(2), mapping)
    let found = try #require(try migrated.fetch(FetchRequest<ManagedObject>(entityName: "House")).first)
    func names(_ key: String) -> [String] {
      (found.value(forKey: key) as? Set<ManagedObject> ?? []).map {
        "\($0.entity.name ?? "") \($0.value(forKey: "name") ?? "")"
      }.sorted()
    }
    #expect(names("people") == ["Person Ada", "Person Bob"])
    #expect(names("contacts") == ["Contact Ada", "Contact Bob"])
    try migrated.persistentStoreCoordinator?.close()
  }

  // MIG-23
  @Test func `the search for a mapping model takes a complete one, and of several the one with most hashes`()
    throws
  {
    let (first, second) = (Self.model(1), Self.model(2))
    func write(_ mappings: [EntityMapping], _ name: String) throws {
      try MappingModel(entityMappings: mappings).encodedDocument().write(to: folder.url.appending(path: name))
    }
    func found() -> String? {
      MappingModel.mappingModel(from: [folder.url], forSourceModel: first, destinationModel: second)?
        .entityMappings.map(\.name).joined(separator: " ")
    }
    let part = Array(mappings().dropLast())
    for mapping in part {
      mapping.sourceEntityVersionHash = first.entityVersionHashesByName[mapping.sourceEntityName ?? ""]
    }
    try write(part, "1.json")
    #expect(found() == nil)
    let plain = mappings()
    for mapping in plain { mapping.name = "plain" + mapping.name }
    try write(plain, "2.json")
    #expect(found() == "plainPerson->Person plainEmployee->Employee plainFirm->Firm")
    let hashed = mappings()
    hashed[2].destinationEntityVersionHash = second.entityVersionHashesByName["Firm"]
    try write(hashed, "3.json")
    #expect(found() == "Person->Person Employee->Employee Firm->Firm")
  }

  // MIG-09
  @Test func `a document of an earlier version that exchanged names gives a default where it had no source`()
    throws
  {
    let text = """
      {"formatVersion": 1, "entityMappings": [{"name": "P", "type": 5, "source": "Person", "destination": "Person",
       "attributes": [{"name": "email", "source": "name", "userInfo": {}}, {"name": "name", "userInfo": {}},
       {"name": "note", "userInfo": {}}], "relationships": [], "userInfo": {}}]}
      """
    let file = folder.url.appending(path: "old.json")
    try Data(text.utf8).write(to: file)
    let mapping = try MappingModel(contentsOf: file).entityMappings[0]
    #expect(mapping.attributeMappings.map(\.usesDefault) == [false, true, false])
  }
}
