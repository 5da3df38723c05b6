import CoreData
import Foundation
import Testing

/// Splits a name in two, and turns minutes into hours.
final class PersonPolicy: NSEntityMigrationPolicy, @unchecked Sendable {
  override func begin(_ mapping: NSEntityMapping, with manager: NSMigrationManager) throws {
    try super.begin(mapping, with: manager)
    manager.userInfo = ["begun": mapping.name as Any]
  }

  override func createDestinationInstances(
    forSource sInstance: NSManagedObject, in mapping: NSEntityMapping, manager: NSMigrationManager
  ) throws {
    try super.createDestinationInstances(forSource: sInstance, in: mapping, manager: manager)
    guard
      let person = manager.destinationInstances(
        forEntityMappingName: mapping.name, sourceInstances: [sInstance]
      ).first, let name = sInstance.value(forKey: "fullName") as? String
    else { return }
    let made: Set<NSManagedObject> = [person]
    #expect(made.count == 1)
    let parts = name.split(separator: " ", maxSplits: 1).map(String.init)
    person.setValue(parts.first, forKey: "givenName")
    person.setValue(parts.count > 1 ? parts[1] : nil, forKey: "familyName")
    #expect(manager.userInfo?["begun"] as? String == mapping.name)
  }
}

/// Makes an object of another entity for each.
final class VisitPolicy: NSEntityMigrationPolicy, @unchecked Sendable {
  override func createDestinationInstances(
    forSource sInstance: NSManagedObject, in mapping: NSEntityMapping, manager: NSMigrationManager
  ) throws {
    guard let minutes = sInstance.value(forKey: "minutes") as? Int, minutes > 0 else { return }
    let visit = NSEntityDescription.insertNewObject(
      forEntityName: mapping.destinationEntityName!, into: manager.destinationContext)
    visit.setValue(Double(minutes) / 60, forKey: "hours")
    manager.associate(sourceInstance: sInstance, withDestinationInstance: visit, for: mapping)
  }

  override func createRelationships(
    forDestination dInstance: NSManagedObject, in mapping: NSEntityMapping, manager: NSMigrationManager
  ) throws {
    let visits = manager.sourceInstances(
      forEntityMappingName: mapping.name, destinationInstances: [dInstance])
    guard let person = visits.first?.value(forKey: "person") as? NSManagedObject else { return }
    let made = manager.destinationInstances(
      forEntityMappingName: "PersonToPerson", sourceInstances: [person])
    dInstance.setValue(made.first, forKey: "person")
  }
}

/// Counts in an object that it makes once and keeps in a table of the manager, and finds another among the registered objects.
final class CountingPolicy: NSEntityMigrationPolicy, @unchecked Sendable {
  override func createDestinationInstances(
    forSource sInstance: NSManagedObject, in mapping: NSEntityMapping, manager: NSMigrationManager
  ) throws {
    try super.createDestinationInstances(forSource: sInstance, in: mapping, manager: manager)
    let kept = manager.userInfo?["count"] as? NSManagedObject
    let count = kept ?? total("kept", manager)
    manager.userInfo = ["count": count]
    let found =
      manager.destinationContext.registeredObjects.first {
        !$0.isFault && $0.entity.name == "Total" && $0.value(forKey: "name") as? String == "found"
      } ?? total("found", manager)
    for object in [count, found] {
      object.setValue((object.value(forKey: "number") as? Int ?? 0) + 1, forKey: "number")
    }
  }

  private func total(_ name: String, _ manager: NSMigrationManager) -> NSManagedObject {
    let made = NSEntityDescription.insertNewObject(forEntityName: "Total", into: manager.destinationContext)
    made.setValue(name, forKey: "name")
    return made
  }
}

/// A class of the first version of a model, whose objects no migration makes.
final class Note: NSManagedObject {
  override func awakeFromInsert() {
    super.awakeFromInsert()
    setPrimitiveValue("made", forKey: "former")
  }
}

@Suite struct `Migrations as applications write them` {
  @Test
  func `a policy keeps objects over the parts of a migration, and objects are of no class of the program`()
    throws
  {
    func model(_ names: [String], _ others: [NSEntityDescription]) -> NSManagedObjectModel {
      let note = NSEntityDescription()
      note.name = "Note"
      note.managedObjectClassName = NSStringFromClass(Note.self)
      note.properties = names.map { Library.attribute($0, .stringAttributeType) }
      let model = NSManagedObjectModel()
      model.entities = [note] + others
      return model
    }
    let total = NSEntityDescription()
    total.name = "Total"
    total.properties = [
      Library.attribute("name", .stringAttributeType), Library.attribute("number", .integer64AttributeType),
    ]
    let (source, destination) = (model(["text", "former"], []), model(["text"], [total]))
    let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let (old, new) = (folder.appending(path: "Old.sqlite"), folder.appending(path: "New.sqlite"))
    let first = NSPersistentStoreCoordinator(managedObjectModel: source)
    let store = try first.addPersistentStore(
      ofType: NSSQLiteStoreType, configurationName: nil, at: old, options: nil)
    let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    context.persistentStoreCoordinator = first
    try context.performAndWait {
      for number in 0..<1300 {
        Note(context: context).setValue("\(number)", forKey: "text")
      }
      try context.save()
    }
    try first.remove(store)
    let mapping = NSEntityMapping()
    mapping.name = "NoteToNote"
    mapping.mappingType = .customEntityMappingType
    (mapping.sourceEntityName, mapping.destinationEntityName) = ("Note", "Note")
    mapping.entityMigrationPolicyClassName = NSStringFromClass(CountingPolicy.self)
    let mappings = NSMappingModel()
    mappings.entityMappings = [mapping]
    try NSMigrationManager(sourceModel: source, destinationModel: destination).migrateStore(
      from: old, sourceType: NSSQLiteStoreType, options: nil, with: mappings, toDestinationURL: new,
      destinationType: NSSQLiteStoreType, destinationOptions: nil)
    let second = NSPersistentStoreCoordinator(managedObjectModel: destination)
    try second.addPersistentStore(ofType: NSSQLiteStoreType, configurationName: nil, at: new, options: nil)
    let reading = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    reading.persistentStoreCoordinator = second
    try reading.performAndWait {
      #expect(try reading.count(for: NSFetchRequest<NSManagedObject>(entityName: "Note")) == 1300)
      let totals = try reading.fetch(NSFetchRequest<NSManagedObject>(entityName: "Total"))
      #expect(Set(totals.map { $0.value(forKey: "name") as? String }) == ["kept", "found"])
      #expect(totals.map { $0.value(forKey: "number") as? Int } == [1300, 1300])
    }
  }

  static func model(second: Bool) -> NSManagedObjectModel {
    let person = NSEntityDescription()
    person.name = "Person"
    let visit = NSEntityDescription()
    visit.name = "Visit"
    let visits = Library.relationship("visits", visit, many: true, .cascadeDeleteRule)
    let owner = Library.relationship("person", person, many: false, .nullifyDeleteRule)
    visits.inverseRelationship = owner
    owner.inverseRelationship = visits
    person.properties =
      second
      ? [
        Library.attribute("givenName", .stringAttributeType),
        Library.attribute("familyName", .stringAttributeType),
        Library.attribute("nickname", .stringAttributeType),
        Library.attribute("points", .integer64AttributeType), visits,
      ]
      : [
        Library.attribute("fullName", .stringAttributeType), Library.attribute("nick", .stringAttributeType),
        Library.attribute("points", .integer64AttributeType), visits,
      ]
    visit.properties =
      second
      ? [Library.attribute("hours", .doubleAttributeType), owner]
      : [Library.attribute("minutes", .integer32AttributeType), owner]
    let model = NSManagedObjectModel()
    model.entities = [person, visit]
    return model
  }

  static func mapping(from source: NSManagedObjectModel, to destination: NSManagedObjectModel)
    -> NSMappingModel
  {
    func entity(_ name: String, _ policy: AnyClass) -> NSEntityMapping {
      let mapping = NSEntityMapping()
      mapping.name = "\(name)To\(name)"
      mapping.mappingType = .customEntityMappingType
      mapping.sourceEntityName = name
      mapping.destinationEntityName = name
      mapping.sourceEntityVersionHash = source.entityVersionHashesByName[name]
      mapping.destinationEntityVersionHash = destination.entityVersionHashesByName[name]
      mapping.entityMigrationPolicyClassName = NSStringFromClass(policy)
      return mapping
    }
    func property(_ name: String, _ expression: CoreData.NSExpression?) -> NSPropertyMapping {
      let mapping = NSPropertyMapping()
      mapping.name = name
      mapping.valueExpression = expression
      return mapping
    }
    let person = entity("Person", PersonPolicy.self)
    person.attributeMappings = [
      property("nickname", NSExpression(format: "$source.nick")),
      property("points", NSExpression(format: "$source.points * 2")),
      property("givenName", nil), property("familyName", nil),
    ]
    person.relationshipMappings = [
      property(
        "visits",
        NSExpression(
          format:
            "FUNCTION($manager, \"destinationInstancesForEntityMappingNamed:sourceInstances:\", \"VisitToVisit\", $source.visits)"
        ))
    ]
    let model = NSMappingModel()
    model.entityMappings = [person, entity("Visit", VisitPolicy.self)]
    return model
  }

  /// A folder with a store of the first model.
  static func makeStore() throws -> URL {
    let folder = FileManager.default.temporaryDirectory.appending(path: "migration-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    let url = folder.appending(path: "Old.sqlite")
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model(second: false))
    let store = try coordinator.addPersistentStore(
      ofType: NSSQLiteStoreType, configurationName: nil, at: url, options: nil)
    let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    context.persistentStoreCoordinator = coordinator
    try context.performAndWait {
      for (index, name) in ["Ada King", "Grace Brewster Hopper", "Plato"].enumerated() {
        let person = NSEntityDescription.insertNewObject(forEntityName: "Person", into: context)
        person.setValue(name, forKey: "fullName")
        person.setValue("n\(index)", forKey: "nick")
        person.setValue(index + 1, forKey: "points")
        for minutes in [0, 30, 90] {
          let visit = NSEntityDescription.insertNewObject(forEntityName: "Visit", into: context)
          visit.setValue(minutes, forKey: "minutes")
          visit.setValue(person, forKey: "person")
        }
      }
      try context.save()
    }
    try coordinator.remove(store)
    return url
  }

  /// Every person with the values and the hours of the visits.
  static func people(at url: URL, _ options: [AnyHashable: Any]? = nil) throws -> [String] {
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model(second: true))
    let store = try coordinator.addPersistentStore(
      ofType: NSSQLiteStoreType, configurationName: nil, at: url, options: options)
    let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    context.persistentStoreCoordinator = coordinator
    let lines = try context.performAndWait {
      let request = NSFetchRequest<NSManagedObject>(entityName: "Person")
      request.sortDescriptors = [NSSortDescriptor(key: "points", ascending: true)]
      return try context.fetch(request).map { person in
        let visits = (person.value(forKey: "visits") as! Set<NSManagedObject>)
          .compactMap { $0.value(forKey: "hours") as? Double }.sorted()
        let names = ["givenName", "familyName", "nickname"].map {
          person.value(forKey: $0) as? String ?? "-"
        }
        return "\(names) \(person.value(forKey: "points") as! Int) \(visits)"
      }
    }
    try coordinator.remove(store)
    return lines
  }

  static let migrated = [
    "[\"Ada\", \"King\", \"n0\"] 2 [0.5, 1.5]", "[\"Grace\", \"Brewster Hopper\", \"n1\"] 4 [0.5, 1.5]",
    "[\"Plato\", \"-\", \"n2\"] 6 [0.5, 1.5]",
  ]

  @Test func `the source expression of a mapping is the fetch that Xcode writes`() async throws {
    let url = try Self.makeStore()
    defer { try? FileManager.default.removeItem(at: url.deletingLastPathComponent()) }
    let (source, destination) = (Self.model(second: false), Self.model(second: true))
    let mapping = Self.mapping(from: source, to: destination)
    let person = try #require(mapping.entityMappings.first)
    func fetch(_ predicate: String) -> CoreData.NSExpression {
      NSExpression(
        format:
          "FETCH(FUNCTION($manager, \"fetchRequestForSourceEntityNamed:predicateString:\" , \"Person\", \"\(predicate)\"), "
          + "$manager.sourceContext, NO)")
    }
    person.sourceExpression = fetch("\(NSPredicate(value: true))")
    #expect(person.sourcePredicate == nil)
    person.sourceExpression = fetch(#"nick == \"n1\""#)
    let given = try #require(person.sourceExpression)
    person.sourceExpression = nil
    #expect(person.sourcePredicate == nil)
    person.sourceExpression = given
    let made = url.deletingLastPathComponent().appending(path: "New.sqlite")
    try NSMigrationManager(sourceModel: source, destinationModel: destination).migrateStore(
      from: url, sourceType: NSSQLiteStoreType, options: nil, with: mapping, toDestinationURL: made,
      destinationType: NSSQLiteStoreType, destinationOptions: nil)
    #expect(try Self.people(at: made) == [Self.migrated[1]])
    let other = NSEntityMapping()
    other.sourceExpression = given
    #expect(other.sourceEntityName == "Person")
  }

  @Test func `another source expression of a mapping ends the program`() async {
    await #expect(processExitsWith: .failure) {
      NSEntityMapping().sourceExpression = CoreData.NSExpression(format: "$manager.sourceContext")
    }
    await #expect(processExitsWith: .failure) {
      let (first, second) = (NSEntityMapping(), NSEntityMapping())
      (first.sourceEntityName, second.sourceEntityName) = ("Person", "Visit")
      second.sourceExpression = first.sourceExpression
    }
  }

  @Test func `a mapping model in code with policies by the names of their classes migrates a store`() throws {
    let url = try Self.makeStore()
    defer { try? FileManager.default.removeItem(at: url.deletingLastPathComponent()) }
    let metadata = try NSPersistentStoreCoordinator.metadataForPersistentStore(
      ofType: NSSQLiteStoreType, at: url, options: nil)
    let (source, destination) = (Self.model(second: false), Self.model(second: true))
    #expect(source.isConfiguration(withName: nil, compatibleWithStoreMetadata: metadata))
    #expect(!destination.isConfiguration(withName: nil, compatibleWithStoreMetadata: metadata))
    #expect(
      NSMappingModel(from: [Bundle.main], forSourceModel: source, destinationModel: destination) == nil)
    let manager = NSMigrationManager(sourceModel: source, destinationModel: destination)
    let made = url.deletingLastPathComponent().appending(path: "New.sqlite")
    let mapping = Self.mapping(from: source, to: destination)
    nonisolated(unsafe) var observed: [Float] = []
    let observation = manager.observe(\.migrationProgress, options: [.new]) { _, change in
      if let progress = change.newValue { observed.append(progress) }
    }
    #expect(mapping.entityMappings.first?.attributeMappings?.count == 4)
    #expect(mapping.entityMappings.first?.attributeMappings?.first?.valueExpression != nil)
    try manager.migrateStore(
      from: url, sourceType: NSSQLiteStoreType, options: nil, with: mapping, toDestinationURL: made,
      destinationType: NSSQLiteStoreType, destinationOptions: nil)
    #expect(manager.migrationProgress == 1)
    observation.invalidate()
    #expect(observed.last == 1 && observed == observed.sorted() && observed.count > 2)
    #expect(try Self.people(at: made) == Self.migrated)

    // As applications do afterwards: the new store takes the place of the old one.
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: destination)
    try coordinator.replacePersistentStore(
      at: url, destinationOptions: nil, withPersistentStoreFrom: made, sourceOptions: nil,
      ofType: NSSQLiteStoreType)
    #expect(try Self.people(at: url) == Self.migrated)
  }

  @Test
  func
    `a subclass of the manager follows the progress, has functions for expressions and notes what is made`()
    throws
  {
    final class Counting: NSMigrationManager, @unchecked Sendable {
      var steps: [Float] = []
      var associated = 0
      override func didChangeValue(forKey key: String) {
        super.didChangeValue(forKey: key)
        if key == "migrationProgress" { steps.append(migrationProgress) }
      }
      override func associate(
        sourceInstance: NSManagedObject, withDestinationInstance destinationInstance: NSManagedObject,
        for entityMapping: NSEntityMapping
      ) {
        super.associate(
          sourceInstance: sourceInstance, withDestinationInstance: destinationInstance, for: entityMapping)
        if currentEntityMapping === entityMapping { associated += 1 }
      }
      override func value(forFunction name: String, arguments: [Any?]) throws -> Any? {
        guard ["twice:", "same:"].contains(name), let number = arguments.first as? Int64 else {
          return try super.value(forFunction: name, arguments: arguments)
        }
        return name == "twice:" ? number * 2 : number
      }
    }
    let url = try Self.makeStore()
    defer { try? FileManager.default.removeItem(at: url.deletingLastPathComponent()) }
    let (source, destination) = (Self.model(second: false), Self.model(second: true))
    let mapping = Self.mapping(from: source, to: destination)
    let points = mapping.entityMappings[0].attributeMappings?.first { $0.name == "points" }
    let same = NSExpression(
      forFunction: NSExpression(forVariable: "manager"), selectorName: "same:",
      arguments: [NSExpression(forVariable: "source.points")])
    points?.valueExpression = NSExpression(
      forFunction: NSExpression(forVariable: "manager"), selectorName: "twice:", arguments: [same])
    let manager = Counting(sourceModel: source, destinationModel: destination)
    let made = url.deletingLastPathComponent().appending(path: "New.sqlite")
    try manager.migrateStore(
      from: url, sourceType: NSSQLiteStoreType, options: nil, with: mapping, toDestinationURL: made,
      destinationType: NSSQLiteStoreType, destinationOptions: nil)
    #expect(try Self.people(at: made) == Self.migrated)
    #expect(manager.steps.first == 0 && manager.steps.last == 1 && manager.steps == manager.steps.sorted())
    // Three people, and two visits of each that are not empty.
    #expect(manager.associated == 9)
    #expect(manager.mappingModel.entityMappings.count == 2)
  }

  @Test func `functions of a policy take and give values of Foundation`() throws {
    // As the plugins translate a class with methods for Objective-C.
    final class Naming: NSEntityMigrationPolicy, @unchecked Sendable {
      func twice(_ number: NSNumber) -> NSNumber { NSNumber(value: number.intValue * 2) }
      func name(_ text: NSString, with number: Int) -> NSString { "\(text)!" as NSString }
      func own() -> NSUUID? { nil }
      override func value(forFunction name: String, arguments: [Any?], manager: NSMigrationManager) throws
        -> Any?
      {
        switch name {
        case "twice:": self.twice(Self._argument(arguments, 0))
        case "name:with:": self.name(Self._argument(arguments, 0), with: Self._argument(arguments, 1))
        case "own": self.own()
        default: try super.value(forFunction: name, arguments: arguments, manager: manager)
        }
      }
    }
    let url = try Self.makeStore()
    defer { try? FileManager.default.removeItem(at: url.deletingLastPathComponent()) }
    let (source, destination) = (Self.model(second: false), Self.model(second: true))
    let mapping = Self.mapping(from: source, to: destination)
    let person = mapping.entityMappings[0]
    person.policy = Naming()
    for (name, text) in [
      ("points", "\"twice:\", $source.points"), ("nickname", "\"own\""),
      ("givenName", "\"name:with:\", $source.fullName, 1"), ("familyName", "\"own\""),
    ] {
      person.attributeMappings?.first { $0.name == name }?.valueExpression =
        NSExpression(format: "FUNCTION($entityPolicy, \(text))")
    }
    let made = url.deletingLastPathComponent().appending(path: "New.sqlite")
    try NSMigrationManager(sourceModel: source, destinationModel: destination).migrateStore(
      from: url, sourceType: NSSQLiteStoreType, options: nil, with: mapping, toDestinationURL: made,
      destinationType: NSSQLiteStoreType, destinationOptions: nil)
    #expect(
      try Self.people(at: made) == [
        "[\"Ada King!\", \"-\", \"-\"] 2 [0.5, 1.5]",
        "[\"Grace Brewster Hopper!\", \"-\", \"-\"] 4 [0.5, 1.5]",
        "[\"Plato!\", \"-\", \"-\"] 6 [0.5, 1.5]",
      ])
  }

  @Test(arguments: [true, false])
  func `a policy saves the context of the source if the source's options allow it`(isReadOnly: Bool) throws {
    final class Emptying: NSEntityMigrationPolicy, @unchecked Sendable {
      override func end(_ mapping: NSEntityMapping, manager: NSMigrationManager) throws {
        let name = try #require(mapping.sourceEntityName)
        for object in try manager.sourceContext.fetch(NSFetchRequest<NSManagedObject>(entityName: name)) {
          manager.sourceContext.delete(object)
        }
        try manager.sourceContext.save()
      }
    }
    let url = try Self.makeStore()
    defer { try? FileManager.default.removeItem(at: url.deletingLastPathComponent()) }
    let (source, destination) = (Self.model(second: false), Self.model(second: true))
    let mapping = Self.mapping(from: source, to: destination)
    mapping.entityMappings.last?.policy = Emptying()
    func migrate() throws {
      try NSMigrationManager(sourceModel: source, destinationModel: destination).migrateStore(
        from: url, sourceType: NSSQLiteStoreType, options: [NSReadOnlyPersistentStoreOption: isReadOnly],
        with: mapping, toDestinationURL: url.deletingLastPathComponent().appending(path: "New.sqlite"),
        destinationType: NSSQLiteStoreType, destinationOptions: nil)
    }
    if isReadOnly { #expect(throws: (any Error).self) { try migrate() } } else { try migrate() }
  }

  @Test func `an error of a policy ends the migration and reaches the caller`() throws {
    final class Refusing: NSEntityMigrationPolicy, @unchecked Sendable {
      override func createDestinationInstances(
        forSource sInstance: NSManagedObject, in mapping: NSEntityMapping, manager: NSMigrationManager
      ) throws { throw NSError(domain: "Policy", code: 9) }
    }
    let url = try Self.makeStore()
    defer { try? FileManager.default.removeItem(at: url.deletingLastPathComponent()) }
    let (source, destination) = (Self.model(second: false), Self.model(second: true))
    let mapping = Self.mapping(from: source, to: destination)
    mapping.entityMappings.first?.policy = Refusing()
    let manager = NSMigrationManager(sourceModel: source, destinationModel: destination)
    do {
      try manager.migrateStore(
        from: url, sourceType: NSSQLiteStoreType, options: nil, with: mapping,
        toDestinationURL: url.deletingLastPathComponent().appending(path: "New.sqlite"),
        destinationType: NSSQLiteStoreType, destinationOptions: nil)
      Issue.record("the migration has not failed")
    } catch let error as NSError {
      #expect("\(error) \(error.userInfo)".contains("Policy"))
    }
  }

  @Test func `a staged migration fills what its second version has, in a handler`() throws {
    let url = try Self.makeStore()
    defer { try? FileManager.default.removeItem(at: url.deletingLastPathComponent()) }
    let first = NSManagedObjectModelReference(
      model: Self.model(second: false), versionChecksum: Self.model(second: false).versionChecksum)
    let middle = Self.model(second: false)
    let person = middle.entitiesByName["Person"]!
    person.properties += [
      Library.attribute("givenName", .stringAttributeType),
      Library.attribute("familyName", .stringAttributeType),
      Library.attribute("nickname", .stringAttributeType),
    ]
    let between = NSManagedObjectModelReference(model: middle, versionChecksum: middle.versionChecksum)
    let stage = NSCustomMigrationStage(migratingFrom: first, to: between)
    stage.label = "Split names"
    stage.didMigrateHandler = { manager, stage in
      guard let container: NSPersistentContainer = manager.container else { return }
      let context = container.newBackgroundContext()
      try context.performAndWait {
        for person in try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Person")) {
          let name = person.value(forKey: "fullName") as? String ?? ""
          person.setValue(name.split(separator: " ").first.map(String.init), forKey: "givenName")
        }
        try context.save()
      }
    }
    let last = Self.model(second: true)
    let lightweight = NSLightweightMigrationStage([middle.versionChecksum, last.versionChecksum])
    let manager = NSStagedMigrationManager([stage, lightweight])
    let lines = try Self.people(
      at: url,
      [
        NSMigratePersistentStoresAutomaticallyOption: true, NSInferMappingModelAutomaticallyOption: true,
        NSPersistentStoreStagedMigrationManagerOptionKey: manager,
      ])
    #expect(
      lines == [
        "[\"Ada\", \"-\", \"-\"] 1 []", "[\"Grace\", \"-\", \"-\"] 2 []",
        "[\"Plato\", \"-\", \"-\"] 3 []",
      ])
  }
}
