import Foundation
import GraphTestSupport
import Heartwood
import HeartwoodEngine
import HeartwoodFiles
import TestSupport
import Testing

private final class Ticket: ManagedObject {
  @Attribute(.unique) var number = 0
  @Attribute var seat: String? = "1A"

  override func validateValue(_ value: inout Any?, forKey key: String) throws {
    if key == "seat", value as? String == "0" {
      throw HeartwoodError(.validationStringTooShort, "seats begin at 1")
    }
  }
}

private func makeTickets() throws -> ManagedObjectContext {
  try PersistentContainer(name: "Tickets", types: [Ticket.self], at: URL(fileURLWithPath: "/dev/null"))
    .newBackgroundContext()
}

@Suite struct `Errors as Foundation sees them` {
  @Test func `localizedDescription is the message`() {
    let error = HeartwoodError(.managedObjectMerge, "the store has changed; refresh and save again")
    #expect((error as any Error).localizedDescription == error.message)
    #expect((error as NSError).localizedDescription == error.message)
  }

  @Test func `domain and code are those of Core Data`() {
    let error = HeartwoodError(.managedObjectMerge, "the store has changed") as NSError
    #expect(error.domain == NSCocoaErrorDomain)
    #expect(error.code == 133020)
  }

  @Test func `a refused value has its object, its key and its value in the user info`() throws {
    let context = try makeTickets()
    let ticket = Ticket(context: context)
    ticket.seat = "0"
    let caught = heartwoodError { try context.save() }
    let error = try #require(caught) as NSError
    #expect(error.code == 1670)
    #expect(error.userInfo["NSValidationErrorObject"] as? ManagedObjectID == ticket.objectID)
    #expect(error.userInfo["NSValidationErrorKey"] as? String == "seat")
    #expect(error.userInfo["NSValidationErrorValue"] as? String == "0")
  }

  @Test func `several refused values are in the user info, each with what belongs to it`() throws {
    let context = try makeTickets()
    for number in 1...2 {
      let ticket = Ticket(context: context)
      ticket.number = number
      ticket.seat = "0"
    }
    let caught = heartwoodError { try context.save() }
    let error = try #require(caught) as NSError
    #expect(error.code == 1560)
    let details = try #require(error.userInfo["NSDetailedErrors"] as? [any Error])
    #expect(details.map { ($0 as NSError).userInfo["NSValidationErrorKey"] as? String } == ["seat", "seat"])
  }

  @Test func `a uniqueness conflict has its conflicts and objects in the user info`() throws {
    let context = try makeTickets()
    let tickets = [Ticket(context: context), Ticket(context: context)]
    let caught = heartwoodError { try context.save() }
    let error = try #require(caught) as NSError
    #expect(error.code == 133021)
    #expect((error.userInfo["conflictList"] as? [ConstraintConflict])?.count == 1)
    #expect(error.userInfo["NSAffectedObjectsErrorKey"] as? [ManagedObjectID] == tickets.map(\.objectID))
  }

  // VAL-04
  @Test func `an error of a save names its store, an error of validation none`() throws {
    let context = try makeTickets()
    let ticket = Ticket(context: context)
    ticket.seat = "0"
    let refused = heartwoodError { try context.save() }
    #expect(refused?.affectedStoreIDs == [])
    ticket.seat = Ticket(context: context).seat
    let conflict = heartwoodError { try context.save() }
    let caught = try #require(conflict)
    let store = try #require(context.persistentStoreCoordinator?.persistentStores.first)
    #expect(caught.code == .managedObjectConstraintMerge && caught.affectedStoreIDs == [store.identifier])
    #expect((caught as NSError).userInfo["NSAffectedStoresErrorKey"] as? [String] == [store.identifier])
  }

  @Test func `a store that cannot be opened has the engine's error and its file in the user info`() throws {
    let folder = try TemporaryFolder()
    let path = folder.url.appending(path: "note.txt")
    try Data("no store".utf8).write(to: path)
    let caught = heartwoodError {
      _ = try PersistentContainer(name: "Tickets", types: [Ticket.self], at: path)
    }
    let error = try #require(caught) as NSError
    #expect(error.code == 134080)
    let below = try #require(error.userInfo[NSUnderlyingErrorKey] as? EngineError)
    #expect(below.localizedDescription == below.description)
    #expect(error.userInfo[NSFilePathErrorKey] as? String == below.file)
  }

  @Test func `errors of the engine and of the file system keep their messages, too`() {
    let engine = EngineError(.damaged, "a page is damaged", file: "/s/1.pages", offset: 4096)
    #expect((engine as any Error).localizedDescription == "a page is damaged (/s/1.pages at byte 4096)")
    #expect((engine as NSError).userInfo[NSFilePathErrorKey] as? String == "/s/1.pages")
    let file = FileSystemError(.noSpace, .write, path: "/s/2.log", systemNumber: 28)
    #expect((file as any Error).localizedDescription == "/s/2.log: write failed: no space left (errno 28)")
    #expect((file as NSError).userInfo[NSFilePathErrorKey] as? String == "/s/2.log")
  }
}
