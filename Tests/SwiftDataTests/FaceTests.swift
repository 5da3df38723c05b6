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

  // SWD-46
  @Test func `a store of models is opened with the model that Core Data's names make of them`() throws {
    try Library.inFolder { folder in
      let url = folder.appending(path: "faces.store")
      do {
        let container = try SwiftData.ModelContainer(
          for: Author.self, Car.self, configurations: ModelConfiguration(url: url))
        let context = SwiftData.ModelContext(container)
        let author = Author(name: "Ada")
        context.insert(author)
        context.insert(Book(title: "Alpha", year: 1))
        try context.save()
      }
      let own = NSManagedObjectModel(entities: [Self.entity("Other", [("name", .stringAttributeType)])])
      let model = try #require(
        NSManagedObjectModel.makeManagedObjectModel(for: [Author.self, Car.self], mergedWith: nil))
      #expect(
        NSManagedObjectModel.makeManagedObjectModel(for: Schema([Author.self]), mergedWith: own)?
          .entitiesByName
          .keys.sorted() == ["Author", "Book", "Other", "Profile", "Shelf"])
      let metadata = try NSPersistentStoreCoordinator.metadataForPersistentStore(type: .sqlite, at: url)
      #expect(model.isConfiguration(withName: nil, compatibleWithStoreMetadata: metadata))
      let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
      _ = try coordinator.addPersistentStore(
        ofType: NSSQLiteStoreType, configurationName: nil, at: url,
        options: [NSPersistentHistoryTrackingKey: true])
      let objects = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
      objects.persistentStoreCoordinator = coordinator
      try objects.performAndWait {
        let author = try #require(
          try objects.fetch(NSFetchRequest<NSManagedObject>(entityName: "Author")).first)
        let book = try #require(try objects.fetch(NSFetchRequest<NSManagedObject>(entityName: "Book")).first)
        book.setValue(author, forKey: "author")
        try objects.save()
      }
      let container = try SwiftData.ModelContainer(
        for: Author.self, Car.self, configurations: ModelConfiguration(url: url))
      let authors = try SwiftData.ModelContext(container).fetch(SwiftData.FetchDescriptor<Author>())
      #expect(authors.first?.books.map(\.title) == ["Alpha"])
      #expect(NSManagedObjectModel.makeManagedObjectModel(for: Unstorable.self) == nil)
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

@Model
private final class Unstorable {
  var text: Substring = ""
  init() {}
}

enum HeartwoodPlaces {
  final class Place: Heartwood.ManagedObject {
    @Heartwood.Attribute var name = ""
    @Heartwood.Attribute var latitude = 0.0
    @Heartwood.Attribute var longitude = 0.0
  }
}
