import CoreData
import Foundation

@objc(Wish)
public final class Wish: NSManagedObject {
    @NSManaged public var days: Int16
    @NSManaged public var points: Int16
    @NSManaged public var place: WishedPlace?
}

/// Makes of "Oslo, 3" a wish of three days and a place, which all wishes of the same name share.
@objc(WishToWishPolicy)
final class WishToWishPolicy: NSEntityMigrationPolicy {
    private var places: [String: NSManagedObject] = [:]

    override func createDestinationInstances(
        forSource sInstance: NSManagedObject, in mapping: NSEntityMapping, manager: NSMigrationManager
    ) throws {
        try super.createDestinationInstances(forSource: sInstance, in: mapping, manager: manager)
        let made = manager.destinationInstances(forEntityMappingName: mapping.name, sourceInstances: [sInstance])
        guard let wish = made.first, let text = sInstance.value(forKey: "text") as? String else { return }
        let parts = text.components(separatedBy: ", ")
        guard let name = parts.first, !name.isEmpty else {
            throw NSError(domain: "TripKit", code: 2, userInfo: [NSLocalizedDescriptionKey: "A wish has no place"])
        }
        wish.setValue(Int(parts.last ?? "") ?? 1, forKey: #keyPath(Wish.days))
        wish.setValue(place(named: name, in: manager.destinationContext), forKey: #keyPath(Wish.place))
    }

    private func place(named name: String, in context: NSManagedObjectContext) -> NSManagedObject {
        if let known = places[name] { return known }
        let place = NSEntityDescription.insertNewObject(forEntityName: "WishedPlace", into: context)
        place.setValue(name, forKey: "name")
        places[name] = place
        return place
    }
}

public final class WishMigrator {
    private let folder: URL

    public init() {
        folder = Bundle(for: CoreDataStack.self).url(forResource: "Wishes", withExtension: "momd")!
    }

    func model(_ version: String) -> NSManagedObjectModel {
        NSManagedObjectModel(contentsOf: folder.appendingPathComponent("\(version).mom"))!
    }

    public func requiresMigration(at storeURL: URL) throws -> Bool {
        let metadata = try NSPersistentStoreCoordinator.metadataForPersistentStore(
            ofType: NSSQLiteStoreType, at: storeURL, options: nil)
        return !model("Wishes 2").isConfiguration(withName: nil, compatibleWithStoreMetadata: metadata)
    }

    public func migrate(storeAt storeURL: URL) throws {
        let metadata = try NSPersistentStoreCoordinator.metadataForPersistentStore(
            ofType: NSSQLiteStoreType, at: storeURL, options: nil)
        guard let source = NSManagedObjectModel.mergedModel(from: [Bundle(for: Self.self)], forStoreMetadata: metadata)
        else { throw CocoaError(.migrationMissingSourceModel) }
        let destination = model("Wishes 2")
        guard let mapping = NSMappingModel(from: nil, forSourceModel: source, destinationModel: destination)
        else { throw CocoaError(.migrationMissingMappingModel) }
        let temporary = storeURL.deletingLastPathComponent().appendingPathComponent("migrating-\(UUID().uuidString)")
        let manager = NSMigrationManager(sourceModel: source, destinationModel: destination)
        try manager.migrateStore(
            from: storeURL, sourceType: NSSQLiteStoreType, options: nil, with: mapping, toDestinationURL: temporary,
            destinationType: NSSQLiteStoreType, destinationOptions: nil)
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: destination)
        try coordinator.replacePersistentStore(
            at: storeURL, destinationOptions: nil, withPersistentStoreFrom: temporary, sourceOptions: nil,
            ofType: NSSQLiteStoreType)
        try coordinator.destroyPersistentStore(at: temporary, ofType: NSSQLiteStoreType, options: nil)
    }
}
