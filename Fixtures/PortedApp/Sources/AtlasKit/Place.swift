import CoreData
import Foundation

// The model knows the class by the name that it has in Objective-C.
@objc(KKPlace)
public final class Place: NSManagedObject {
    @NSManaged public var name: String
    @NSManaged public var population: Int64

    public static func largest(in context: NSManagedObjectContext) throws -> [Place] {
        let request = NSFetchRequest<Place>(entityName: "Place")
        request.sortDescriptors = [NSSortDescriptor(keyPath: \Place.population, ascending: false)]
        request.predicate = NSPredicate(format: "\(#keyPath(Place.population)) > %d", 0)
        return try context.fetch(request)
    }
}

public func makeAtlas() -> NSPersistentContainer {
    let url = Bundle.main.url(forResource: "Atlas", withExtension: "momd")!
    let container = NSPersistentContainer(name: "Atlas", managedObjectModel: NSManagedObjectModel(contentsOf: url)!)
    container.persistentStoreDescriptions = [NSPersistentStoreDescription(url: URL(fileURLWithPath: "/dev/null"))]
    container.loadPersistentStores { _, error in
        if let error = error { fatalError("\(error)") }
    }
    return container
}
