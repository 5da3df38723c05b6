import CoreData
import Foundation

public struct TripRecord: Codable {
    public var identifier: UUID
    public var title: String
    public var stops: [String]

    public init(identifier: UUID, title: String, stops: [String]) {
        self.identifier = identifier
        self.title = title
        self.stops = stops
    }
}

public final class TripImporter {
    private let stack: CoreDataStack

    public init(stack: CoreDataStack) { self.stack = stack }

    /// Imports in the background; the view context merges what is saved.
    public func importRecords(_ records: [TripRecord], completion: @escaping (Error?) -> Void) {
        let context = stack.newBackgroundContext()
        context.perform {
            do {
                for record in records {
                    let predicate = NSPredicate(format: "%K == %@", #keyPath(Trip.identifier), record.identifier as CVarArg)
                    let trip = Trip.findOrCreate(in: context, matching: predicate) { $0.identifier = record.identifier }
                    trip.title = record.title
                    for name in record.stops {
                        let stop = Stop(context: context)
                        stop.name = name
                        trip.addToStops(stop)
                    }
                }
                try context.save()
                completion(nil)
            } catch {
                completion(error)
            }
        }
    }

    public func importRecords(_ records: [TripRecord]) async throws {
        let context = stack.newBackgroundContext()
        try await context.perform {
            for record in records {
                let trip = Trip(title: record.title, context: context)
                trip.identifier = record.identifier
            }
            if context.hasChanges { try context.save() }
        }
    }

    /// Inserts many trips without making objects.
    public func insertMany(titles: [String]) throws -> Int {
        let context = stack.newBackgroundContext()
        var count = 0
        try context.performAndWait {
            let request = NSBatchInsertRequest(
                entity: Trip.entity(), objects: titles.map { ["title": $0, "identifier": UUID()] })
            request.resultType = .count
            let result = try context.execute(request) as? NSBatchInsertResult
            count = result?.result as? Int ?? 0
        }
        return count
    }

    public func deleteAll() throws {
        let fetch: NSFetchRequest<NSFetchRequestResult> = NSFetchRequest(entityName: "Trip")
        let request = NSBatchDeleteRequest(fetchRequest: fetch)
        request.resultType = .resultTypeObjectIDs
        let result = try stack.viewContext.execute(request) as? NSBatchDeleteResult
        let changes: [AnyHashable: Any] = [NSDeletedObjectsKey: result?.result as? [NSManagedObjectID] ?? []]
        NSManagedObjectContext.mergeChanges(fromRemoteContextSave: changes, into: [stack.viewContext])
    }
}
