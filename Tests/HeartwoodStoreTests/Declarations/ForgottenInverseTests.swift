import Foundation
import GraphTestSupport
import HeartwoodFiles
import Testing

@testable import Heartwood

private final class Vessel: ManagedObject {
  @Attribute var name = ""
  @Relationship var sailors: Set<Sailor>
  @Relationship(inverse: { $0.vessel }) var cabins: Set<Cabin>
}

private final class Sailor: ManagedObject {
  @Attribute var name = ""
  @Relationship var vessel: Vessel?
}

private final class Cabin: ManagedObject {
  @Relationship var vessel: Vessel?
  @Relationship(inverse: nil) var owner: Passenger?
  @Relationship(inverse: nil, deleteRule: .deny) var guests: [Passenger]
}

private final class Passenger: ManagedObject {
  @Relationship var cabin: Cabin?
  @Relationship(inverse: { $0.friends }) var friends: Set<Passenger>
}

@Suite struct `A forgotten inverse` {
  private func notes(_ types: [ManagedObject.Type]) throws -> [String] {
    let notes = Guarded<[String]>([])
    let container = PersistentContainer(
      name: "Ships", managedObjectModel: try ManagedObjectModel(types: types))
    let description = PersistentStoreDescription(url: URL(fileURLWithPath: "/dev/null"))
    description.type = .inMemory
    description.noteLog = { note in notes.withLock { $0.append(note) } }
    try container.persistentStoreCoordinator.addPersistentStore(with: description)
    return notes.withLock { $0 }
  }

  // G7
  @Test func `two relationships that lead to each other without an inverse are noted when a store is opened`()
    throws
  {
    let notes = try notes([Vessel.self, Sailor.self, Cabin.self, Passenger.self])
    #expect(notes.count == 1)
    #expect(notes.first?.contains("Vessel.sailors") == true && notes.first?.contains("Sailor.vessel") == true)
    #expect(notes.first?.contains("inverse: nil") == true)
  }

  @Test func `they stay two relationships`() throws {
    let model = try ManagedObjectModel(types: [Vessel.self, Sailor.self, Cabin.self, Passenger.self])
    #expect(model.entitiesByName["Vessel"]?.relationshipsByName["sailors"]?.inverseRelationship == nil)
    #expect(
      model.entitiesByName["Cabin"]?.relationshipsByName["guests"]?.deleteRule == .deny)
    #expect(model.entitiesByName["Cabin"]?.relationshipsByName["owner"]?.inverseRelationship == nil)
  }

  @Test func `models without any are not noted`() throws {
    #expect(try notes(companyTypes) == [])
    #expect(try notes(libraryTypes) == [])
  }
}
