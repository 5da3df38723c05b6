import CoreData
import Foundation

public final class CoreDataStack {
    public let container: NSPersistentContainer
    private var lastToken: NSPersistentHistoryToken?

    public init(url: URL? = nil, inMemory: Bool = false) {
        container = NSPersistentContainer(name: "Trips")
        let description = container.persistentStoreDescriptions.first!
        if inMemory {
            description.url = URL(fileURLWithPath: "/dev/null")
        } else if let url = url {
            description.url = url
        }
        description.setOption(true as NSNumber, forKey: NSPersistentHistoryTrackingKey)
        description.setOption(true as NSNumber, forKey: NSPersistentStoreRemoteChangeNotificationPostOptionKey)
        container.loadPersistentStores { description, error in
            if let error = error as NSError? {
                fatalError("Unresolved error \(error), \(error.userInfo)")
            }
        }
        container.viewContext.automaticallyMergesChangesFromParent = true
        container.viewContext.mergePolicy = NSMergeByPropertyObjectTrumpMergePolicy
        container.viewContext.name = "view"
    }

    public var viewContext: NSManagedObjectContext { container.viewContext }

    public func newBackgroundContext() -> NSManagedObjectContext {
        let context = container.newBackgroundContext()
        context.mergePolicy = NSMergePolicy.mergeByPropertyStoreTrump
        context.transactionAuthor = "background"
        return context
    }

    public func save() throws {
        guard viewContext.hasChanges else { return }
        do {
            try viewContext.save()
        } catch {
            viewContext.rollback()
            throw error
        }
    }

    /// The transactions of others since the last call.
    public func newTransactions() throws -> [NSPersistentHistoryTransaction] {
        let request = NSPersistentHistoryChangeRequest.fetchHistory(after: lastToken)
        guard let result = try viewContext.execute(request) as? NSPersistentHistoryResult,
            let transactions = result.result as? [NSPersistentHistoryTransaction]
        else { return [] }
        lastToken = transactions.last?.token ?? lastToken
        return transactions
    }
}
