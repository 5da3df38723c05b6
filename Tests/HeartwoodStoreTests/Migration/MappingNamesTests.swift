import Foundation
import GraphTestSupport
import Heartwood
import TestSupport
import Testing

/// The names in the expressions of mappings are checked before anything is done.
@Suite struct `Names in mappings` {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  /// Trips with stops, each with a name.
  private static func model(new: Bool) -> ManagedObjectModel {
    func attribute(_ name: String) -> AttributeDescription {
      AttributeDescription(name: name, type: .string, isOptional: true)
    }
    let trip = EntityDescription(name: "Trip", properties: [attribute("name")])
    let stop = EntityDescription(name: "Stop", properties: [attribute("label")])
    if new { trip.properties += [attribute("note")] }
    let stops = RelationshipDescription(name: "stops", destination: stop, isToMany: true)
    let back = RelationshipDescription(name: "trip", destination: trip, isToMany: false)
    (stops.inverseRelationship, back.inverseRelationship) = (back, stops)
    trip.properties += [stops]
    stop.properties += [back]
    return ManagedObjectModel(entities: [trip, stop])
  }

  private func fill() throws {
    let coordinator = PersistentStoreCoordinator(managedObjectModel: Self.model(new: false))
    try coordinator.addPersistentStore(with: PersistentStoreDescription(url: folder.store))
    let context = ManagedObjectContext(.privateQueue, coordinator: coordinator)
    let trip = try ManagedObject(entity: context.entity("Trip"), insertInto: context)
    trip.setValue("Rome", forKey: "name")
    for label in ["a", "b"] {
      let stop = try ManagedObject(entity: context.entity("Stop"), insertInto: context)
      stop.setValue(label, forKey: "label")
      stop.setValue(trip, forKey: "trip")
    }
    try context.save()
    try coordinator.close()
  }

  private static func made(_ mapping: String, _ objects: String) -> String {
    #"FUNCTION($manager, "destinationInstancesForEntityMappingNamed:sourceInstances:", "\#(mapping)", \#(objects))"#
  }

  private static func related(_ objects: String) -> String {
    #"FUNCTION($manager, "destinationInstancesForSourceRelationshipNamed:sourceInstances:", "x", \#(objects))"#
  }

  /// The numbers of stops that the trips have after a migration with these values of both sides; nil for what is generated.
  private func migrated(stops: String?, trip: String?) throws -> [Int] {
    let mappings = [EntityMapping(from: "Trip", to: "Trip"), EntityMapping(from: "Stop", to: "Stop")]
    if let stops {
      mappings[0].relationshipMappings = [try PropertyMapping(name: "stops", valueExpression: stops)]
    }
    if let trip {
      mappings[1].relationshipMappings = [try PropertyMapping(name: "trip", valueExpression: trip)]
    }
    let target = folder.url.appending(path: "Target.heartwood")
    try? FileManager.default.removeItem(at: target)
    let (former, newer) = (Self.model(new: false), Self.model(new: true))
    try MigrationManager(sourceModel: former, destinationModel: newer).migrateStore(
      from: folder.store, withMapping: MappingModel(entityMappings: mappings), to: target)
    let coordinator = PersistentStoreCoordinator(managedObjectModel: newer)
    try coordinator.addPersistentStore(with: PersistentStoreDescription(url: target))
    defer { try? coordinator.close() }
    let context = ManagedObjectContext(.privateQueue, coordinator: coordinator)
    return try context.fetch(FetchRequest<ManagedObject>(entityName: "Trip")).map {
      ($0.value(forKey: "stops") as? Set<ManagedObject>)?.count ?? 0
    }
  }

  // MIG-07
  @Test func `names and objects of which a mapping makes nothing are refused before anything is done`() throws
  {
    try fill()
    let cases: [(stops: String?, trip: String?, reason: String)] = [
      (Self.made("Nope", "$source.stops"), Self.made("Nope", "$source.trip"), "no mapping called \"Nope\""),
      (Self.made("Trip->Trip", "$source.stops"), nil, "Trip->Trip makes nothing of Stop, but of Trip"),
      (Self.made("Trip->Trip", "$source"), nil, "Trip->Trip makes Trip, and Trip.stops leads to Stop"),
      (nil, Self.made("Trip->Trip", "$source.trip.stops"), "Trip->Trip makes nothing of Stop"),
      (Self.made("Stop->Stop", "$source.name"), nil, "gets Trip.name, which is no object"),
      (Self.made("Stop->Stop", "$source.nope"), nil, "Trip has no property nope"),
      (Self.related("$source"), nil, "no mapping makes Stop of Trip"),
      (nil, Self.related("$source"), "no mapping makes Trip of Stop"),
      (nil, Self.related("$source.trip.stops"), "no mapping makes Trip of Stop"),
    ]
    for (stops, trip, reason) in cases {
      let error = heartwoodError { _ = try migrated(stops: stops, trip: trip) }
      #expect(error?.code == .migration, "\(reason): \(error?.message ?? "none")")
      #expect(error?.message.contains(reason) == true, "\(reason): \(error?.message ?? "none")")
      #expect(error?.message.contains(stops == nil ? "Stop->Stop" : "Trip->Trip") == true)
      #expect(error?.property == (stops == nil ? "trip" : "stops"))
    }
    #expect(
      try migrated(
        stops: Self.made("Stop->Stop", "$source.stops"), trip: Self.made("Trip->Trip", "$source.trip")) == [2]
    )
    #expect(
      try migrated(stops: Self.related("$source.stops"), trip: Self.related("$source.trip")) == [2])
  }

  @Test func `the name of a mapping that is computed is an error at the first object`() throws {
    try fill()
    let text =
      #"FUNCTION($manager, "destinationInstancesForEntityMappingNamed:sourceInstances:", $source.name, $source.stops)"#
    let error = heartwoodError { _ = try migrated(stops: text, trip: nil) }
    #expect(error?.code == .entityMigrationPolicy)
    #expect(error?.message.contains("there is no mapping called \"Rome\"") == true, "\(error?.message ?? "")")
    #expect(error?.objectIDs.count == 1)
  }
}
