import CoreData
import XCTest

@testable import TripKit

final class TripKitTests: XCTestCase {
    var stack: CoreDataStack!
    var context: NSManagedObjectContext { stack.viewContext }

    override func setUp() {
        super.setUp()
        stack = CoreDataStack(inMemory: true)
    }

    func testEntitiesAreFoundByTheNamesOfTheirClasses() throws {
        let entities = try XCTUnwrap(context.persistentStoreCoordinator?.managedObjectModel.entities)
        for type in [Trip.self, Person.self, Stop.self] as [NSManagedObject.Type] {
            let found = entities.first { $0.managedObjectClassName == NSStringFromClass(type) }
            XCTAssertEqual(found, type.entity())
        }
    }

    func testGeneratedAndHandWrittenClasses() throws {
        let trip = Trip(title: "Iceland", context: context)
        trip.budget = NSDecimalNumber(string: "1200.50")
        trip.rating = 4
        let stop = NSEntityDescription.insertNewObject(forEntityName: "Stop", into: context) as! Stop
        stop.name = "Vík"
        stop.coordinate = (63.4, -19.0)
        trip.addToStops(stop)
        let person = Person(context: context)
        person.fullName = "Ada Lovelace"
        person.email = "Ada@example.org"
        person.addToTrips(trip)
        try stack.save()

        XCTAssertEqual(trip.stopNames, ["Vík"])
        XCTAssertEqual(stop.trip, trip)
        XCTAssertEqual(stop.arrival, Date(timeIntervalSinceReferenceDate: 0))
        XCTAssertTrue(trip.travellers?.contains(person) ?? false)
        XCTAssertEqual(try Person.find(email: "ada@EXAMPLE.org", in: context), person)
        XCTAssertEqual(person.value(forKey: "initials") as? String, "AL")
        XCTAssertEqual(person.value(forKeyPath: "trips.@count") as? Int, 1)
        XCTAssertEqual(person.trips.first?.title, "Iceland")
        person.removeFromTrips(trip)
        XCTAssertTrue(person.trips.isEmpty)
        person.addToTrips([trip])
        XCTAssertEqual(person.trips, [trip])
    }

    func testFilteringOfRows() {
        let rows = ["Ada", "Grace"].map { name -> PersonRow in
            let person = Person(context: context)
            person.fullName = name
            return PersonRow(person)
        }
        let grace = NSPredicate(format: "SELF == %@", argumentArray: [rows[1]])
        XCTAssertEqual(rows.filter { grace.evaluate(with: $0) }, [rows[1]])
        XCTAssertTrue(NSPredicate(format: "SELF.@count == 2").evaluate(with: rows))
    }

    func testValidationErrors() throws {
        let person = Person(context: context)
        person.email = "empty@example.org"
        XCTAssertThrowsError(try stack.save()) { error in
            XCTAssertEqual((error as NSError).domain, "TripKit")
        }
        let trip = Trip(title: "Too good", context: context)
        trip.rating = 9
        XCTAssertThrowsError(try stack.save()) { error in
            let error = error as NSError
            XCTAssertEqual(error.domain, NSCocoaErrorDomain)
            XCTAssertEqual(error.code, NSValidationNumberTooLargeError)
            XCTAssertEqual(error.userInfo[NSValidationKeyErrorKey] as? String, "rating")
        }
        XCTAssertFalse(context.hasChanges)
    }

    func testValidatorsOfAClass() throws {
        let person = Person(context: context)
        person.fullName = "Ada"
        person.email = "nowhere"
        XCTAssertThrowsError(try stack.save()) { error in
            XCTAssertEqual((error as NSError).code, 3)
        }
        let other = Person(context: context)
        other.fullName = "Grace"
        other.email = " grace@example.org "
        try stack.save()
        XCTAssertEqual(other.email, "grace@example.org")
        var value: AnyObject? = "there" as NSString
        XCTAssertThrowsError(try other.validateValue(&value, forKey: "email"))
        value = " ada@example.org" as NSString
        try other.validateValue(&value, forKey: "email")
        XCTAssertEqual(value as? String, "ada@example.org")
        XCTAssertEqual(other.email, "grace@example.org")
    }

    func testBackgroundImportIsMerged() throws {
        let identifier = UUID()
        let trip = Trip(title: "Old title", context: context)
        trip.identifier = identifier
        try stack.save()

        let done = expectation(description: "import")
        let records = [
            TripRecord(identifier: identifier, title: "New title", stops: ["A", "B"]),
            TripRecord(identifier: UUID(), title: "Other", stops: []),
        ]
        TripImporter(stack: stack).importRecords(records) { error in
            XCTAssertNil(error)
            done.fulfill()
        }
        wait(for: [done], timeout: 20)
        let merged = expectation(for: NSPredicate { _, _ in trip.title == "New title" }, evaluatedWith: self)
        wait(for: [merged], timeout: 20)
        XCTAssertEqual(trip.stopNames, ["A", "B"])
        XCTAssertEqual(try context.count(for: Trip.sortedFetchRequest), 2)
    }

    func testAsyncImportAndBatches() async throws {
        let importer = TripImporter(stack: stack)
        try await importer.importRecords([TripRecord(identifier: UUID(), title: "Async", stops: [])])
        XCTAssertEqual(try importer.insertMany(titles: ["One", "Two"]), 2)
        let titles = try await stack.container.performBackgroundTask { context in
            try context.fetch(Trip.sortedFetchRequest).compactMap(\.title)
        }
        XCTAssertEqual(titles, ["Async", "One", "Two"])
    }

    func testFetchedResultsController() throws {
        let list = TripList(context: context)
        try list.load()
        let second = Trip(title: "Trip 10", context: context)
        let first = Trip(title: "Trip 9", context: context)
        try stack.save()
        XCTAssertEqual(list.titles, ["Trip 9", "Trip 10"])
        XCTAssertEqual(list.trip(at: 0), first)
        XCTAssertTrue(list.events.contains("insert Trip 10 at 1"))
        XCTAssertTrue(list.events.contains("did change 2"))
        XCTAssertTrue(list.events.contains("saved 2"))
        context.delete(second)
        context.processPendingChanges()
        XCTAssertEqual(list.titles, ["Trip 9"])
    }

    func testHistory() throws {
        _ = Trip(title: "A", context: context)
        try stack.save()
        let background = stack.newBackgroundContext()
        try background.performAndWait {
            _ = Trip(title: "B", context: background)
            try background.save()
        }
        let transactions = try stack.newTransactions()
        XCTAssertEqual(transactions.count, 2)
        XCTAssertEqual(transactions.last?.author, "background")
        XCTAssertEqual(transactions.first?.changes?.first?.changeType, .insert)
        XCTAssertEqual(transactions.first?.contextName, "view")
        XCTAssertTrue(try stack.newTransactions().isEmpty)
    }

    func testMigrationOfAnOldStore() throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let url = folder.appendingPathComponent("Trips.sqlite")

        let place = Bundle(for: CoreDataStack.self).url(forResource: "Trips", withExtension: "momd")!
        let old = NSManagedObjectModel(contentsOf: place.appendingPathComponent("Trips.mom"))!
        XCTAssertNil(old.entitiesByName["Trip"]?.attributesByName["notes"])
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: old)
        let store = try coordinator.addPersistentStore(
            ofType: NSSQLiteStoreType, configurationName: nil, at: url, options: nil)
        let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        try context.performAndWait {
            let trip = NSEntityDescription.insertNewObject(forEntityName: "Trip", into: context)
            trip.setValue("Old", forKey: "title")
            try context.save()
        }
        try coordinator.remove(store)

        let metadata = try NSPersistentStoreCoordinator.metadataForPersistentStore(ofType: NSSQLiteStoreType, at: url, options: nil)
        let model = stack.container.managedObjectModel
        XCTAssertTrue(old.isConfiguration(withName: nil, compatibleWithStoreMetadata: metadata))
        XCTAssertFalse(model.isConfiguration(withName: nil, compatibleWithStoreMetadata: metadata))

        let migrated = CoreDataStack(url: url)
        let trips = try migrated.viewContext.fetch(Trip.sortedFetchRequest)
        XCTAssertEqual(trips.map(\.title), ["Old"])
        XCTAssertEqual(trips.first?.rating, 0)
        XCTAssertNil(trips.first?.notes)
    }

    /// A folder with a store of wishes as the first version of the model has them.
    private func makeOldWishes(_ migrator: WishMigrator) throws -> URL {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        addTeardownBlock { try? FileManager.default.removeItem(at: folder) }
        let url = folder.appendingPathComponent("Wishes.sqlite")
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: migrator.model("Wishes"))
        let store = try coordinator.addPersistentStore(
            ofType: NSSQLiteStoreType, configurationName: nil, at: url, options: nil)
        let context = NSManagedObjectContext(concurrencyType: .mainQueueConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        for (index, text) in ["Oslo, 3", "Bergen, 5", "Oslo, 4"].enumerated() {
            let wish = NSEntityDescription.insertNewObject(forEntityName: "Wish", into: context)
            wish.setValue(text, forKey: "text")
            wish.setValue(index, forKey: "points")
        }
        try context.save()
        try coordinator.remove(store)
        return url
    }

    private func checkNewWishes(_ context: NSManagedObjectContext) throws {
        let request = NSFetchRequest<Wish>(entityName: "Wish")
        request.sortDescriptors = [NSSortDescriptor(key: "points", ascending: true)]
        let wishes = try context.fetch(request)
        XCTAssertEqual(wishes.map(\.days), [3, 5, 4])
        XCTAssertEqual(wishes.map(\.points), [0, 10, 20])
        XCTAssertEqual(wishes.map { $0.place?.name }, ["Oslo", "Bergen", "Oslo"])
        XCTAssertEqual(wishes.first?.place?.wishes?.count, 2)
    }

    func testMigrationWithAPolicy() throws {
        let migrator = WishMigrator()
        let url = try makeOldWishes(migrator)
        XCTAssertTrue(try migrator.requiresMigration(at: url))
        try migrator.migrate(storeAt: url)
        XCTAssertFalse(try migrator.requiresMigration(at: url))

        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: migrator.model("Wishes 2"))
        let store = try coordinator.addPersistentStore(
            ofType: NSSQLiteStoreType, configurationName: nil, at: url, options: nil)
        let context = NSManagedObjectContext(concurrencyType: .mainQueueConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        try checkNewWishes(context)
        try coordinator.remove(store)
    }

    func testMigrationByTheMappingModelWhenTheStoreIsLoaded() throws {
        let url = try makeOldWishes(WishMigrator())
        let container = NSPersistentContainer(name: "Wishes")
        let description = NSPersistentStoreDescription(url: url)
        description.shouldMigrateStoreAutomatically = true
        description.shouldInferMappingModelAutomatically = false
        container.persistentStoreDescriptions = [description]
        container.loadPersistentStores { _, error in XCTAssertNil(error) }
        try checkNewWishes(container.viewContext)
        for store in container.persistentStoreCoordinator.persistentStores {
            try container.persistentStoreCoordinator.remove(store)
        }
    }

    func testUndo() throws {
        context.undoManager = UndoManager()
        let trip = Trip(title: "First", context: context)
        try stack.save()
        context.undoManager?.removeAllActions()
        trip.title = "Second"
        context.processPendingChanges()
        context.undo()
        XCTAssertEqual(trip.title, "First")
        XCTAssertTrue(context.undoManager!.canRedo)
    }
}
