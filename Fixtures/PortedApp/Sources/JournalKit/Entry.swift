import CoreData

public class Entry: NSManagedObject {
    @NSManaged public var text: String?
    @NSManaged public var created: Date?
    @NSManaged public internal(set) var mood: Int16
    @NSManaged private var secret: String?
    @NSManaged public func addToTags(_ value: Tag)

    public func hide(_ text: String) { secret = text }
    public var isHiding: Bool { secret?.isEmpty == false }

    public override func awakeFromInsert() {
        super.awakeFromInsert()
        created = Date(timeIntervalSinceReferenceDate: 1)
        mood = 3
    }
}

extension Entry {
    @NSManaged public var tags: Set<Tag>

    @nonobjc public class func fetchRequest() -> NSFetchRequest<Entry> {
        return NSFetchRequest<Entry>(entityName: "Entry")
    }
}

public func makeJournal() -> NSPersistentContainer {
    let container = NSPersistentContainer(name: "Journal")
    container.persistentStoreDescriptions.first!.url = URL(fileURLWithPath: "/dev/null")
    container.loadPersistentStores { _, error in
        if let error = error { fatalError("\(error)") }
    }
    return container
}
