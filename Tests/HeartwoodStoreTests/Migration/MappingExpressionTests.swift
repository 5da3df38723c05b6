import Foundation
import GraphTestSupport
import Heartwood
import TestSupport
import Testing

/// Property mappings as text, and mapping models in files.
@Suite struct MappingExpressionTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private final class Greeting: EntityMigrationPolicy, @unchecked Sendable {
    override func value(
      forFunction name: String, arguments: [Any?], manager: MigrationManager
    ) throws -> Any? {
      guard name == "greetingFor:" else {
        return try super.value(forFunction: name, arguments: arguments, manager: manager)
      }
      return "Hello \(arguments.first as? String ?? "?")"
    }
  }

  private static func model(new: Bool) -> ManagedObjectModel {
    let trip = EntityDescription(name: new ? "Journey" : "Trip")
    let stop = EntityDescription(name: "Stop")
    stop.properties = [AttributeDescription(name: "place", type: .string)]
    trip.properties =
      new
      ? [
        AttributeDescription(name: "title", type: .string),
        AttributeDescription(name: "hours", type: .integer64),
        AttributeDescription(name: "half", type: .double),
        AttributeDescription(name: "stopCount", type: .integer32),
        AttributeDescription(name: "greeting", type: .string),
      ]
      : [
        AttributeDescription(name: "name", type: .string),
        AttributeDescription(name: "days", type: .integer64),
      ]
    let stops = RelationshipDescription(name: "stops", destination: stop, isToMany: true)
    let owner = RelationshipDescription(name: new ? "journey" : "trip", destination: trip, isToMany: false)
    (stops.inverseRelationship, owner.inverseRelationship) = (owner, stops)
    trip.ownProperties.append(stops)
    stop.ownProperties.append(owner)
    return ManagedObjectModel(entities: [trip, stop])
  }

  private func mapping() throws -> MappingModel {
    let stop = EntityMapping(from: "Stop", to: "Stop")
    stop.attributeMappings = [try PropertyMapping(name: "place", valueExpression: "$source.place")]
    let trip = EntityMapping(from: "Trip", to: "Journey", type: .custom)
    trip.policy = Greeting()
    trip.policyName = "Greeting"
    trip.sourcePredicate = try FormatPredicate("days > 0")
    trip.userInfo = ["suffix": "!"]
    trip.attributeMappings = try [
      ("title", "$source.name + $entityMapping.userInfo.suffix"), ("hours", "$source.days * (20 + 4)"),
      ("half", "-$source.days / 2 - 1"), ("stopCount", "$source.stops.@count"),
      ("greeting", #"FUNCTION($entityPolicy, "greetingFor:", $source.name)"#),
    ].map { try PropertyMapping(name: $0.0, valueExpression: $0.1) }
    trip.relationshipMappings = [
      try PropertyMapping(
        name: "stops",
        valueExpression:
          #"FUNCTION($manager, "destinationInstancesForEntityMappingNamed:sourceInstances:", "Stop->Stop", $source.stops)"#
      )
    ]
    return MappingModel(entityMappings: [stop, trip])
  }

  private func fill() throws {
    let coordinator = PersistentStoreCoordinator(managedObjectModel: Self.model(new: false))
    try coordinator.addPersistentStore(with: PersistentStoreDescription(url: folder.store))
    let context = ManagedObjectContext(.privateQueue, coordinator: coordinator)
    let entities = coordinator.managedObjectModel.entitiesByName
    for (name, days) in [("Rome", 3), ("Oslo", 0)] {
      let trip = ManagedObject(entity: try #require(entities["Trip"]), insertInto: context)
      trip.setValue(name, forKey: "name")
      trip.setValue(days, forKey: "days")
      for place in ["a", "b"] {
        let stop = ManagedObject(entity: try #require(entities["Stop"]), insertInto: context)
        stop.setValue(place, forKey: "place")
        stop.setValue(trip, forKey: "trip")
      }
    }
    try context.save()
    try coordinator.close()
  }

  private func journeys(_ mapping: MappingModel?) throws -> [String] {
    let coordinator = PersistentStoreCoordinator(managedObjectModel: Self.model(new: true))
    let description = PersistentStoreDescription(url: folder.store)
    description.mappingModel = mapping
    try coordinator.addPersistentStore(with: description)
    defer { try? coordinator.close() }
    let context = ManagedObjectContext(.privateQueue, coordinator: coordinator)
    return try context.fetch(FetchRequest<ManagedObject>(entityName: "Journey")).map { journey in
      let stops = (journey.value(forKey: "stops") as? Set<ManagedObject>) ?? []
      let places = stops.compactMap { $0.value(forKey: "place") as? String }.sorted().joined()
      return ["title", "hours", "half", "stopCount", "greeting"].map { "\(journey.value(forKey: $0) ?? "-")" }
        .joined(separator: " ") + " " + places
    }
  }

  // MIG-09
  @Test func `expressions read the source, compute, and call functions of manager and policy`() throws {
    try fill()
    #expect(try journeys(mapping()) == ["Rome! 72 -2.5 2 Hello Rome ab"])
  }

  // MIG-09
  @Test func `expressions have the functions of mapping models that Core Data's users write`() throws {
    try fill()
    let mapping = try mapping()
    let expressions = [
      ("title", #"uppercase:($source.name)"#, "ROME"),
      (
        "title", #"FUNCTION($source.name, "stringByReplacingOccurrencesOfString:withString:", "o", "0")"#,
        "R0me"
      ),
      ("title", #"FUNCTION($source, "valueForKeyPath:", "name")"#, "Rome"),
      ("title", #"FUNCTION($source.days, "stringValue")"#, "3"),
      ("title", #"CAST($source.days, "NSString")"#, "3"),
      (
        "title", #"FUNCTION(FUNCTION($source.name, "componentsSeparatedByString:", "o"), "lastObject")"#, "me"
      ),
      ("hours", "add:to:($source.days, 4)", "7"), ("hours", "$source.stops.@count + 1", "3"),
      ("hours", "$source.stops.@max.trip.days", "3"),
      ("hours", #"FUNCTION($source.name, "integerValue")"#, "0"),
      ("half", "$source.stops.@avg.trip.days", "3.0"), ("half", "sqrt:(16)", "4.0"),
      ("stopCount", #"FUNCTION($source.stops, "count")"#, "2"), ("stopCount", "count:($source.stops)", "2"),
      (
        "greeting", #"FUNCTION(FUNCTION($source.stops, "anyObject"), "valueForKeyPath:", "trip.name")"#,
        "Rome"
      ),
    ]
    for (name, text, value) in expressions {
      mapping.entityMappings[1].attributeMappings = [try PropertyMapping(name: name, valueExpression: text)]
      let store = folder.url.appending(path: "Copy.heartwood")
      try? FileManager.default.removeItem(at: store)
      let manager = MigrationManager(
        sourceModel: Self.model(new: false), destinationModel: Self.model(new: true))
      try manager.migrateStore(from: folder.store, withMapping: mapping, to: store)
      let coordinator = PersistentStoreCoordinator(managedObjectModel: Self.model(new: true))
      try coordinator.addPersistentStore(with: PersistentStoreDescription(url: store))
      let context = ManagedObjectContext(.privateQueue, coordinator: coordinator)
      let journey = try #require(try context.fetch(FetchRequest<ManagedObject>(entityName: "Journey")).first)
      #expect("\(journey.value(forKey: name) ?? "-")" == value, "\(text)")
      try coordinator.close()
    }
  }

  // MIG-09
  @Test func `expressions that are wrong are refused with the place, or with mapping and property`() throws {
    for (text, reason) in [
      ("$source.", "column 9"), ("$origin.name", "there is no variable $origin"),
      ("1 +", "instead of the end"),
      ("FUNCTION($manager)", "','"), ("$source.name name", "an operator or the end"),
    ] {
      let error = heartwoodError { _ = try PropertyMapping(name: "x", valueExpression: text) }
      #expect(error?.code == .invalidPredicate && error?.message.contains(reason) == true, "\(text)")
    }
    try fill()
    for text in [
      "$source.nothing", "$source.name * 2", #"FUNCTION($manager, "none:", 1, 2)"#,
      #"FUNCTION($entityPolicy, "other:")"#, "9223372036854775807 + 1", "$source.days / 0",
      "1.5 / ($source.days - $source.days)",
    ] {
      let mapping = try mapping()
      mapping.entityMappings[1].attributeMappings[0] = try PropertyMapping(
        name: "title", valueExpression: text)
      let error = heartwoodError { _ = try journeys(mapping) }
      #expect(error?.code == .entityMigrationPolicy, "\(text): \(String(describing: error))")
    }
    #expect(try journeys(mapping()).count == 1)
  }

  // MIG-07, MIG-02
  @Test func `a mapping model is written to a file, and found again for its two models`() throws {
    try fill()
    let (former, newer) = (Self.model(new: false), Self.model(new: true))
    let mapping = try mapping()
    mapping.entityMappings[0].sourceEntityVersionHash = former.entityVersionHashesByName["Stop"]
    mapping.entityMappings[1].destinationEntityVersionHash = newer.entityVersionHashesByName["Journey"]
    let place = folder.url.appending(path: "mappings")
    try FileManager.default.createDirectory(at: place, withIntermediateDirectories: false)
    try Data("{}".utf8).write(to: place.appending(path: "a.json"))
    try mapping.encodedDocument().write(to: place.appending(path: "b.json"))
    let policies: [String: EntityMigrationPolicy] = ["Greeting": Greeting()]
    #expect(
      MappingModel.mappingModel(
        from: [place], forSourceModel: newer, destinationModel: former, policies: policies) == nil)
    #expect(
      MappingModel.mappingModel(from: [place], forSourceModel: former, destinationModel: newer) == nil)
    let found = try #require(
      MappingModel.mappingModel(
        from: [folder.url, place], forSourceModel: former, destinationModel: newer, policies: policies))
    #expect(try found.encodedDocument() == mapping.encodedDocument())
    #expect(try journeys(found) == ["Rome! 72 -2.5 2 Hello Rome ab"])
    let missing = heartwoodError { _ = try MappingModel(contentsOf: place.appending(path: "b.json")) }
    #expect(missing?.message.contains("has the policy Greeting, which is not given") == true)
    mapping.entityMappings[0].attributeMappings.append(PropertyMapping(name: "x") { _, _ in nil })
    #expect(
      heartwoodError { _ = try mapping.encodedDocument() }?.message.contains("the closure of x") == true)
  }

  // MIG-15, MIG-27
  @Test func `an inferred mapping is carried out by the store itself, unless each object is to be copied`()
    throws
  {
    func model(_ version: Int) -> ManagedObjectModel {
      let item = EntityDescription(name: "Item")
      item.properties = [AttributeDescription(name: "name", type: .string)]
      if version > 1 {
        item.ownProperties.append(AttributeDescription(name: "size", type: .integer64, defaultValue: 7))
      }
      return ManagedObjectModel(entities: [item])
    }
    let (former, newer) = (model(1), model(2))
    let coordinator = PersistentStoreCoordinator(managedObjectModel: former)
    try coordinator.addPersistentStore(with: PersistentStoreDescription(url: folder.store))
    let context = ManagedObjectContext(.privateQueue, coordinator: coordinator)
    let entity = try #require(former.entitiesByName["Item"])
    for name in ["a", "b"] {
      ManagedObject(entity: entity, insertInto: context).setValue(name, forKey: "name")
    }
    try context.save()
    context.delete(try #require(try context.fetch(FetchRequest<ManagedObject>(entityName: "Item")).first))
    try context.save()
    let mapping = try MappingModel.inferredMappingModel(forSourceModel: former, destinationModel: newer)
    var keys: [UInt64] = []
    for isStoreSpecific in [true, false] {
      let place = folder.url.appending(path: "\(isStoreSpecific).heartwood")
      let manager = MigrationManager(sourceModel: former, destinationModel: newer)
      #expect(manager.usesStoreSpecificMigrationManager)
      manager.usesStoreSpecificMigrationManager = isStoreSpecific
      try manager.migrateStore(from: folder.store, withMapping: mapping, to: place)
      #expect(manager.migrationProgress == 1)
      let migrated = PersistentStoreCoordinator(managedObjectModel: newer)
      try migrated.addPersistentStore(with: PersistentStoreDescription(url: place))
      let items = try ManagedObjectContext(.privateQueue, coordinator: migrated).fetch(
        FetchRequest<ManagedObject>(entityName: "Item"))
      #expect(items.map { $0.value(forKey: "name") as? String } == ["b"])
      #expect(items.map { $0.value(forKey: "size") as? Int64 } == [7])
      keys += items.map(\.objectID.key)
      try migrated.close()
    }
    #expect(keys == [2, 1])
    #expect(try context.count(for: FetchRequest<ManagedObject>(entityName: "Item")) == 1)
    try coordinator.close()
  }
}
