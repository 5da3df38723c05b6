import Foundation
import GraphTestSupport
import Heartwood
import TestSupport
import Testing

@Suite struct `Cascades over many objects` {
  private static let count =
    ProcessInfo.processInfo.environment["HEARTWOOD_LONG"] != nil ? 100_000 : 4000

  // UND-03
  @Test func `the root of a large cascade is deleted, brought back and deleted again, with saves between`()
    throws
  {
    let folder = try TemporaryFolder()
    let container = try PersistentContainer(name: "Companies", types: companyTypes, at: folder.store)
    let context = container.newBackgroundContext()
    let company = context.makeCompany("A")
    let club = Club(context: context)
    for number in 0..<Self.count {
      let person = context.makePerson("P\(number)", age: Int64(number), in: company)
      if number % 100 == 0 { person.clubs = [club] }
    }
    try context.save()
    let identifier = company.objectID
    context.undoManager = UndoStack()
    context.delete(company)
    context.processPendingChanges()
    #expect(context.deletedObjects.count == Self.count + 1 && club.members.isEmpty)
    context.undo()
    #expect(context.deletedObjects.isEmpty && company.people.count == Self.count)
    #expect(club.members.count == (Self.count + 99) / 100)
    context.redo()
    try context.save()
    #expect(try context.count(Person.self) == 0)
    context.undo()
    try context.save()
    #expect(company.objectID == identifier)
    try check(container, isThere: true)
    context.redo()
    try context.save()
    try check(container, isThere: false)
    try container.close()
  }

  private func check(_ container: PersistentContainer, isThere: Bool) throws {
    let fresh = container.newBackgroundContext()
    let count = isThere ? Self.count : 0
    #expect(try fresh.count(Person.self, where: { $0.company.code == "A" }) == count)
    let ages = try fresh.fetch(Person.self, sort: [.ascending(\.age)]).map(\.age)
    #expect(ages == Array(0..<Int64(count)))
    #expect(try fresh.fetch(Club.self).first?.members.count == (count + 99) / 100)
    #expect(try container.persistentStoreCoordinator.verify().findings.isEmpty)
  }
}
