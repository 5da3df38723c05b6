import CoreData
import Foundation

@objc(Person)
public class Person: NSManagedObject {
    @NSManaged public var email: String?
    @NSManaged public var fullName: String
    @NSManaged public var trips: Set<Trip>

    @objc public dynamic var initials: String {
        fullName.split(separator: " ").compactMap { $0.first.map(String.init) }.joined()
    }

    @objc(addTripsObject:)
    @NSManaged public func addToTrips(_ value: Trip)

    @objc(removeTripsObject:)
    @NSManaged public func removeFromTrips(_ value: Trip)

    @objc(addTrips:)
    @NSManaged public func addToTrips(_ values: NSSet)

    @objc public func validateEmail(_ value: AutoreleasingUnsafeMutablePointer<AnyObject?>) throws {
        guard let email = value.pointee as? String else { return }
        guard email.contains("@") else {
            throw NSError(domain: "TripKit", code: 3, userInfo: [NSLocalizedDescriptionKey: "\(email) is no address"])
        }
        let trimmed = email.trimmingCharacters(in: .whitespaces)
        if trimmed != email { value.pointee = trimmed as NSString }
    }

    public override func validateForInsert() throws {
        try super.validateForInsert()
        guard !fullName.isEmpty else {
            throw NSError(domain: "TripKit", code: 1, userInfo: [NSLocalizedDescriptionKey: "A person needs a name"])
        }
    }
}

/// A person as lists show it.
@objcMembers
public final class PersonRow: NSObject {
    public let name: String
    public let email: String?

    public init(_ person: Person) {
        (name, email) = (person.fullName, person.email)
    }
}

extension Person {
    @nonobjc public class func fetchRequest() -> NSFetchRequest<Person> {
        return NSFetchRequest<Person>(entityName: "Person")
    }

    static func find(email: String, in context: NSManagedObjectContext) throws -> Person? {
        let request: NSFetchRequest<Person> = Person.fetchRequest()
        request.predicate = NSPredicate(format: "%K ==[c] %@", #keyPath(Person.email), email)
        request.fetchLimit = 1
        return try context.fetch(request).first
    }
}
