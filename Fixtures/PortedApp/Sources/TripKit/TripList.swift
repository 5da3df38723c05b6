import CoreData
import Foundation

public final class TripList: NSObject, NSFetchedResultsControllerDelegate {
    public private(set) var events: [String] = []
    private let controller: NSFetchedResultsController<Trip>
    private var saves = 0

    public init(context: NSManagedObjectContext) {
        controller = NSFetchedResultsController(
            fetchRequest: Trip.sortedFetchRequest, managedObjectContext: context, sectionNameKeyPath: nil, cacheName: nil)
        super.init()
        controller.delegate = self
        NotificationCenter.default.addObserver(
            self, selector: #selector(contextDidSave(_:)), name: .NSManagedObjectContextDidSave, object: context)
    }

    deinit { NotificationCenter.default.removeObserver(self) }

    @objc private func contextDidSave(_ notification: Notification) {
        let inserted = notification.userInfo?[NSInsertedObjectsKey] as? Set<NSManagedObject> ?? []
        saves += 1
        events.append("saved \(inserted.count)")
    }

    public func load() throws { try controller.performFetch() }
    public var titles: [String] { controller.fetchedObjects?.map { $0.title ?? "" } ?? [] }
    public func trip(at row: Int) -> Trip { controller.object(at: IndexPath(row: row, section: 0)) }

    public func controllerWillChangeContent(_ controller: NSFetchedResultsController<NSFetchRequestResult>) {
        events.append("will change")
    }

    public func controller(
        _ controller: NSFetchedResultsController<NSFetchRequestResult>, didChange anObject: Any, at indexPath: IndexPath?,
        for type: NSFetchedResultsChangeType, newIndexPath: IndexPath?
    ) {
        guard let trip = anObject as? Trip else { return }
        switch type {
        case .insert: events.append("insert \(trip.title ?? "") at \(newIndexPath!.row)")
        case .delete: events.append("delete at \(indexPath!.row)")
        case .update: events.append("update at \(indexPath!.row)")
        case .move: events.append("move \(indexPath!.row) to \(newIndexPath!.row)")
        @unknown default: break
        }
    }

    public func controllerDidChangeContent(_ controller: NSFetchedResultsController<NSFetchRequestResult>) {
        events.append("did change \(controller.fetchedObjects?.count ?? 0)")
    }
}
