import CoreData
import JournalKit
import StackKit
import XCTest

extension Tag: Named {}

final class StackKitTests: XCTestCase {
  func testGenericsThatAreInlined() throws {
    let context = makeJournal().viewContext
    for name in ["sea", "wood", "city"] { Tag(context: context).name = name }
    try context.save()
    let sorted = try context.all(Tag.self, sortedBy: [NSSortDescriptor(key: "name", ascending: true)])
    XCTAssertEqual(sorted.map(\.name), ["city", "sea", "wood"])
    XCTAssertEqual(try context.first(Tag.self, "name", .equalTo, "sea")?.name, "sea")
    XCTAssertEqual(try context.fetch(Tag.request(named: "WOOD")).map(\.name), ["wood"])
    let found: [Tag] = sorted.objectIDs.objects(in: context)
    XCTAssertEqual(found, sorted)
    sorted.prefix(1).deleteAll()
    try context.save()
    XCTAssertEqual(try context.remove(allOf: Tag.self), 2)
  }

  func testAnActorThatHoldsAContainer() async throws {
    let url = Bundle.main.url(forResource: "Journal", withExtension: "momd")!
    let stack = try await Stack(name: "Journal", model: NSManagedObjectModel(contentsOf: url)!)
    let id = try await stack.write { context in
      let tag = Tag(context: context)
      tag.name = "sea"
      try context.obtainPermanentIDs(for: [tag])
      return tag.objectID
    }
    let name = try await stack.read { context in try (context.existingObject(with: id) as! Tag).name }
    XCTAssertEqual(name, "sea")
    try await MainActor.run {
      XCTAssertEqual(try stack.viewContext.all(Tag.self).count, 1)
      XCTAssertTrue(
        NSManagedObjectContext.make(.mainQueueConcurrencyType, parent: stack.viewContext).parent
          === stack.viewContext)
    }
  }

  func testAControllerInAnActor() throws {
    let context = makeJournal().viewContext
    let request = NSFetchRequest<Tag>(entityName: "Tag")
    request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
    try MainActor.assumeIsolated {
      let results = try Results(request, in: context)
      Tag(context: context).name = "sea"
      context.processPendingChanges()
      XCTAssertEqual(results.changes, [.insert])
    }
  }
}
