import Foundation
import GraphTestSupport
import Heartwood
import TestSupport
import Testing

/// How entities and properties of two models are matched by their names.
@Suite struct NameMatchingTests {
  /// A former and a new version: names, with `<` and the name that each is renamed from.
  struct Case: CustomTestStringConvertible {
    let former: String
    let new: String
    /// The former and the new names that match.
    let matches: String
    var testDescription: String { "\(former) to \(new)" }

    init(_ former: String, _ new: String, _ matches: String) {
      (self.former, self.new, self.matches) = (former, new, matches)
    }
  }

  static let cases = [
    Case("a b", "a b", "a-a b-b"), Case("a b", "b c<a", "b-b c-a"), Case("a b", "a<b b<a", "a-b b-a"),
    Case("a", "c<a a", "a- c-a"), Case("b<a", "b<a", "b-b"), Case("b<a", "c<a", "c-b"),
    Case("b<a", "c<b", "c-b"),
    Case("b<a", "b", "b-b"), Case("b<a", "a", "a-b"), Case("b", "b<a", "b-b"),
    // A new one has the former name of another.
    Case("b<a a", "b<a a", "a-a b-b"), Case("b<a a", "c<a a", "a-a c-b"), Case("b<a a", "c<b a", "a-a c-b"),
    Case("b<a a", "b c<a", "b-b c-a"), Case("b<a a", "b<a c<a", "b-b c-a"), Case("b<a a", "c<a", "c-a"),
    Case("b<a a", "a b c<a", "a- b-b c-a"),
    // Names were exchanged.
    Case("a<b b<a", "a<b b<a", "a-a b-b"), Case("a<b b<a", "a b", "a-a b-b"),
    Case("a<b b<a", "b c<a", "b-b c-a"),
    Case("a<b b<a", "b<a c<b", "b-b c-a"), Case("a<b b<a", "b<a c<a", "b-b c-a"),
    // A property that keeps its name keeps its values.
    Case("b<a", "b c<a", "b-b c-"), Case("b c<a", "b<a", "b-c"),
    // One of several renamings is taken back.
    Case("c<b", "b<a", "b-c"), Case("c<b", "b", "b-c"), Case("c<b d", "b<a d", "b-c d-d"),
    Case("c<b f<e", "e<d b<a", "b-c e-f"), Case("c<b b", "b<a", "b-b"), Case("c<b a", "b<a", "b-a"),
  ]

  private func parts(_ text: String) -> [(name: String, renamed: String?)] {
    text.split(separator: " ").map { part in
      let names = part.split(separator: "<").map(String.init)
      return (names[0], names.count > 1 ? names[1] : nil)
    }
  }

  private func attributes(_ text: String) -> ManagedObjectModel {
    let properties = parts(text).map { name, renamed in
      let attribute = AttributeDescription(name: name, type: .string)
      attribute.renamingIdentifier = renamed
      return attribute
    }
    return ManagedObjectModel(entities: [EntityDescription(name: "P", properties: properties)])
  }

  private func entities(_ text: String) -> ManagedObjectModel {
    ManagedObjectModel(
      entities: parts(text).map { name, renamed in
        let entity = EntityDescription(
          name: name, properties: [AttributeDescription(name: "x", type: .string)])
        entity.renamingIdentifier = renamed
        return entity
      })
  }

  // MIG-04, MIG-06
  @Test(arguments: cases)
  func `what is renamed is found by its former name or its renaming identifier, and the rest by its name`(
    _ given: Case
  ) throws {
    let mapping = try MappingModel.inferredMappingModel(
      forSourceModel: attributes(given.former), destinationModel: attributes(given.new))
    let found = mapping.entityMappings.flatMap(\.attributeMappings).map {
      "\($0.name)-\($0.sourceName ?? "")"
    }
    #expect(found.sorted().joined(separator: " ") == given.matches)
    let entities = try MappingModel.inferredMappingModel(
      forSourceModel: entities(given.former), destinationModel: entities(given.new))
    let pairs = entities.entityMappings.compactMap { mapping in
      mapping.destinationEntityName.map { "\($0)-\(mapping.sourceEntityName ?? "")" }
    }
    #expect(pairs.sorted().joined(separator: " ") == given.matches)
  }

  // MIG-04, MIG-06, MIG-07
  @Test func `two that are renamed from one are refused, and both are named`() throws {
    let former = attributes("name")
    let error = heartwoodError {
      _ = try MappingModel.inferredMappingModel(
        forSourceModel: former, destinationModel: attributes("first<name last<name"))
    }
    #expect(error?.code == .inferredMappingModel && error?.property == "last")
    #expect(error?.message.contains("P.last is renamed from name, and so is P.first: only one") == true)
    let entity = heartwoodError {
      _ = try MappingModel.inferredMappingModel(
        forSourceModel: entities("Loan"), destinationModel: entities("Gift<Loan Lending<Loan"))
    }
    #expect(entity?.code == .inferredMappingModel)
    #expect(entity?.message.contains("Lending is renamed from Loan, and so is Gift: only one") == true)
  }

  // MIG-07
  @Test func `constraints are described where they change, and what is inherited is not called lost`() throws
  {
    func model(person: [[String]], manager: [[String]] = [], isBelow: Bool = true) -> ManagedObjectModel {
      func attributes(_ names: String...) -> [PropertyDescription] {
        names.map { AttributeDescription(name: $0, type: .string) }
      }
      let base = EntityDescription(name: "Person", properties: attributes("code", "mail"))
      let below = EntityDescription(
        name: "Manager", properties: isBelow ? attributes("badge") : attributes("badge", "code", "mail"))
      if isBelow { base.subentities = [below] }
      (base.uniquenessConstraints, below.uniquenessConstraints) = (person, manager)
      return ManagedObjectModel(entities: [base, below])
    }
    func differences(_ former: ManagedObjectModel, _ newer: ManagedObjectModel) throws -> [String] {
      try MappingModel.differences(from: former, to: newer)
    }
    #expect(
      try differences(model(person: [["code"]]), model(person: [["code"], ["mail"]])) == [
        "Person must be unique in mail"
      ])
    #expect(
      try differences(model(person: [["code"], ["mail"]]), model(person: [["code"]])) == [
        "Person need not be unique any more in mail"
      ])
    #expect(
      try differences(model(person: [["code"]]), model(person: [], manager: [["badge"], ["code", "mail"]]))
        == [
          "Manager must be unique in badge, and in code, mail", "Person need not be unique any more in code",
        ])
    #expect(
      try differences(model(person: [["code"]]), model(person: [["code"]], isBelow: false)) == [
        "Manager inherits from nothing", "Manager.code moves here from Person",
        "Manager.mail moves here from Person",
        "Manager need not be unique any more in code",
      ])
  }

  // MIG-04, MIG-07
  @Test func `what needs no migration is described too, and taken over by a call`() throws {
    let folder = try TemporaryFolder()
    func model(
      _ edit: (EntityDescription, AttributeDescription, RelationshipDescription) -> Void = { _, _, _ in }
    )
      -> ManagedObjectModel
    {
      let code = AttributeDescription(name: "code", type: .integer64)
      let (person, pet) = (
        EntityDescription(name: "Person", properties: [code]), EntityDescription(name: "Pet")
      )
      let pets = RelationshipDescription(name: "pets", destination: pet, isToMany: true)
      person.ownProperties.append(pets)
      edit(person, code, pets)
      return ManagedObjectModel(entities: [person, pet])
    }
    func open(_ model: ManagedObjectModel) throws -> ManagedObjectContext {
      let coordinator = try PersistentStoreCoordinator(checking: model)
      try coordinator.addPersistentStore(with: PersistentStoreDescription(url: folder.store))
      return ManagedObjectContext(.privateQueue, coordinator: coordinator)
    }
    let first = model()
    let context = try open(first)
    for code in 0..<10 {
      ManagedObject(entity: try #require(first.entitiesByName["Person"]), insertInto: context).setValue(
        code, forKey: "code")
    }
    try context.save()
    try context.persistentStoreCoordinator?.close()
    let newer = model { person, code, pets in
      code.defaultValue = 5
      code.validationRules = [.range(0...9)]
      code.preservesValueInHistoryOnDeletion = true
      pets.deleteRule = .cascadeDeleteRule
      person.indexes = [
        FetchIndexDescription(name: "byCode", elements: [FetchIndexElementDescription(property: code)])
      ]
    }
    let sentences = [
      "Person.code has the default 5, and has other rules, and is kept in the history of deleted objects",
      "Person.pets has the delete rule cascade", "Person gets an index of code",
    ]
    #expect(try MappingModel.differences(from: first, to: newer) == sentences)
    let rehearsal = try PersistentStoreCoordinator.rehearseMigration(ofStoreAt: folder.store, to: newer)
    #expect(rehearsal?.changes == sentences && rehearsal?.violations.isEmpty == true)
    func stored() throws -> [String] {
      try MappingModel.differences(
        from: PersistentStoreCoordinator.managedObjectModel(ofStoreAt: folder.store), to: newer)
    }
    #expect(try stored() == sentences)
    let report = try PersistentStoreCoordinator.migrateStore(at: folder.store, to: newer)
    #expect(report?.changes == sentences && report?.builtIndexes == ["Person.byCode"])
    #expect(try stored() == [])
    #expect(try PersistentStoreCoordinator.migrateStore(at: folder.store, to: newer) == nil)
    let taken = try open(newer)
    let request = FetchRequest<ManagedObject>(entityName: "Person")
    request.predicate = try FormatPredicate("code == 7")
    let indexes = taken.persistentStoreCoordinator?.managedObjectModel.entitiesByName["Person"]?.indexes
    #expect(indexes?.map(\.name) == ["byCode"])
    #expect(try taken.fetch(request).count == 1)
    #expect(try taken.persistentStoreCoordinator?.verify().findings == [])
    try taken.persistentStoreCoordinator?.close()
    #expect(
      try MappingModel.differences(from: newer, to: first) == [
        "Person.code has no default any more, and has no rules any more, and is not kept in the history of deleted objects",
        "Person.pets has the delete rule nullify", "Person has no index of code any more",
      ])
  }

  // MIG-04, MIG-06, MOD-23
  @Test(arguments: [false, true])
  func `names that are exchanged without another version hash are refused, and with one are followed`(
    ofEntities: Bool
  ) throws {
    let folder = try TemporaryFolder()
    func model(_ text: String, modifier: String? = nil) -> ManagedObjectModel {
      let model = ofEntities ? entities(text) : attributes(text)
      if ofEntities {
        model.entitiesByName["a"]?.versionHashModifier = modifier
      } else {
        model.entitiesByName["P"]?.ownProperties[0].versionHashModifier = modifier
      }
      return model
    }
    func open(_ model: ManagedObjectModel) throws -> ManagedObjectContext {
      let coordinator = try PersistentStoreCoordinator(checking: model)
      try coordinator.addPersistentStore(with: PersistentStoreDescription(url: folder.store))
      return ManagedObjectContext(.privateQueue, coordinator: coordinator)
    }
    func value(_ context: ManagedObjectContext) throws -> String? {
      let request = FetchRequest<ManagedObject>(entityName: ofEntities ? "a" : "P")
      return try context.fetch(request).first?.value(forKey: ofEntities ? "x" : "a") as? String
    }
    let context = try open(model("a b"))
    let names = try #require(context.persistentStoreCoordinator?.managedObjectModel.entitiesByName)
    for (entity, key, value) in ofEntities
      ? [("a", "x", "1"), ("b", "x", "2")] : [("P", "a", "1"), ("P", "b", "2")]
    {
      let known = try context.fetch(FetchRequest<ManagedObject>(entityName: entity)).first
      let object = try known ?? ManagedObject(entity: #require(names[entity]), insertInto: context)
      object.setValue(value, forKey: key)
    }
    try context.save()
    try context.persistentStoreCoordinator?.close()
    let exchanged = model("a<b b<a")
    let error = heartwoodError { _ = try open(exchanged) }
    #expect(error?.code == .inferredMappingModel)
    #expect(error?.message.contains("a is renamed from b, and ") == true, "\(String(describing: error))")
    #expect(error?.message.contains("versionHashModifier") == true)
    let byCall = heartwoodError {
      try PersistentStoreCoordinator.migrateStore(at: folder.store, to: model("a<b b<a"))
    }
    #expect(byCall?.code == .inferredMappingModel)
    let same = try open(model("a b"))
    #expect(try value(same) == "1")
    try same.persistentStoreCoordinator?.close()
    for _ in 0..<2 {
      let migrated = try open(model("a<b b<a", modifier: "2"))
      #expect(try value(migrated) == "2")
      try migrated.persistentStoreCoordinator?.close()
    }
    // Exchanged back, or as it was: only the modifier says that something has changed.
    for text in ["a<b b<a", "a b"] {
      let unclear = heartwoodError { _ = try open(model(text, modifier: "3")) }
      #expect(unclear?.code == .inferredMappingModel)
      #expect(
        unclear?.message.contains("a was exchanged with b in the version of the store") == true,
        "\(String(describing: unclear))")
    }
    // Names without what they came from are what they were.
    let plain = try open(model("a b", modifier: "2"))
    #expect(try value(plain) == "2")
    try plain.persistentStoreCoordinator?.close()
    let later = try open(model("a b", modifier: "3"))
    #expect(try value(later) == "2")
    try later.persistentStoreCoordinator?.close()
  }
}
