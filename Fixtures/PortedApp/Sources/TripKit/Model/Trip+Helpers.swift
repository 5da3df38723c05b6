import CoreData

/// Classes that know how they are fetched.
public protocol Managed: NSFetchRequestResult {
    static var entityName: String { get }
    static var defaultSortDescriptors: [NSSortDescriptor] { get }
}

extension Managed where Self: NSManagedObject {
    public static var entityName: String { String(describing: self) }
    public static var defaultSortDescriptors: [NSSortDescriptor] { [] }

    public static var sortedFetchRequest: NSFetchRequest<Self> {
        let request = NSFetchRequest<Self>(entityName: entityName)
        request.sortDescriptors = defaultSortDescriptors
        return request
    }

    public static func findOrCreate(in context: NSManagedObjectContext, matching predicate: NSPredicate, configure: (Self) -> Void) -> Self {
        for object in context.registeredObjects where !object.isFault {
            guard let object = object as? Self, predicate.evaluate(with: object) else { continue }
            return object
        }
        let request = NSFetchRequest<Self>(entityName: entityName)
        request.predicate = predicate
        request.returnsObjectsAsFaults = false
        request.fetchLimit = 1
        if let found = try? context.fetch(request).first { return found }
        let object = Self(context: context)
        configure(object)
        return object
    }
}

extension Trip: Managed {
    public static var defaultSortDescriptors: [NSSortDescriptor] {
        [NSSortDescriptor(key: #keyPath(Trip.title), ascending: true, selector: #selector(NSString.localizedStandardCompare(_:)))]
    }

    public convenience init(title: String, context: NSManagedObjectContext) {
        self.init(context: context)
        self.title = title
        self.identifier = UUID()
    }

    public var stopNames: [String] {
        stops?.compactMap { ($0 as? Stop)?.name } ?? []
    }
}
