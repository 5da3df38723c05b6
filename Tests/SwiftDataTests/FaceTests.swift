import CoreData
import Foundation
import Heartwood
import SwiftData
import Testing

/// One store as SwiftData's models, as Core Data's objects and as Heartwood's.
struct FaceTests {
  // SWD-46
  @Test func `a store is the same through all three modules`() throws {
    try Library.inFolder { folder in
      let url = folder.appending(path: "faces.store")
      let container = try SwiftData.ModelContainer(
        for: Place.self, configurations: ModelConfiguration(url: url))
      let context = SwiftData.ModelContext(container)
      context.insert(Place("Bern", 46.9, 7.4))
      try context.save()

      // Core Data's names, with the model that the store has.
      let model = NSManagedObjectModel(
        entities: [
          Self.entity(
            "Place",
            [
              ("name", .stringAttributeType), ("latitude", .doubleAttributeType),
              ("longitude", .doubleAttributeType),
            ])
        ])
      let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
      _ = try coordinator.addPersistentStore(
        ofType: NSSQLiteStoreType, configurationName: nil, at: url,
        options: [NSPersistentHistoryTrackingKey: true])
      let objects = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
      objects.persistentStoreCoordinator = coordinator
      try objects.performAndWait {
        let request = NSFetchRequest<NSManagedObject>(entityName: "Place")
        let place = try #require(try objects.fetch(request).first)
        #expect(place.value(forKey: "name") as? String == "Bern")
        place.setValue("Berne", forKey: "name")
        try objects.save()
      }

      // Heartwood's.
      let heartwood = try Heartwood.PersistentContainer(
        name: "faces", types: [HeartwoodPlaces.Place.self], at: url)
      let third = heartwood.newBackgroundContext()
      try third.performAndWait {
        let places = try third.fetch(HeartwoodPlaces.Place.self, where: { $0.latitude > 40 })
        #expect(places.map(\.name) == ["Berne"])
        places.first?.longitude = 8
        try third.save()
      }
      context.processPendingChanges()
      let seen = try SwiftData.ModelContext(container).fetch(SwiftData.FetchDescriptor<Place>())
      #expect(seen.map(\.name) == ["Berne"] && seen.map(\.longitude) == [8])
    }
  }

  private static func entity(_ name: String, _ attributes: [(String, NSAttributeType)]) -> NSEntityDescription
  {
    let entity = NSEntityDescription()
    entity.name = name
    entity.properties = attributes.map { name, type in
      let attribute = NSAttributeDescription()
      attribute.name = name
      attribute.attributeType = type
      attribute.isOptional = false
      return attribute
    }
    return entity
  }
}

enum HeartwoodPlaces {
  final class Place: Heartwood.ManagedObject {
    @Heartwood.Attribute var name = ""
    @Heartwood.Attribute var latitude = 0.0
    @Heartwood.Attribute var longitude = 0.0
  }
}
