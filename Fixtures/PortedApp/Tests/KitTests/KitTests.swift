import CoreData
import XCTest

@testable import AtlasKit
@testable import JournalKit

final class KitTests: XCTestCase {
    func testSourcesThatAreCompiledAsTheyAre() throws {
        let context = makeJournal().viewContext
        let entry = Entry(context: context)
        let tag = Tag(context: context)
        tag.name = "sea"
        entry.text = "Waves"
        entry.hide("word")
        entry.addToTags(tag)
        try context.save()
        context.reset()
        let found = try XCTUnwrap(context.fetch(Entry.fetchRequest()).first)
        XCTAssertEqual(found.text, "Waves")
        XCTAssertEqual(found.created, Date(timeIntervalSinceReferenceDate: 1))
        XCTAssertEqual(found.mood, 3)
        XCTAssertTrue(found.isHiding)
        XCTAssertEqual(found.tags.map(\.name), ["sea"])
        found.mood = 5
        XCTAssertEqual(found.value(forKey: "mood") as? Int, 5)
        XCTAssertEqual(NSSortDescriptor(keyPath: \Entry.created, ascending: true).key, "created")
    }

    func testTranslatedCopies() throws {
        let context = makeAtlas().viewContext
        for (name, population) in [("Oslo", 700_000), ("Bergen", 290_000), ("Nowhere", 0)] {
            let place = NSEntityDescription.insertNewObject(forEntityName: "Place", into: context) as! Place
            place.name = name
            place.population = Int64(population)
        }
        try context.save()
        XCTAssertEqual(try Place.largest(in: context).map(\.name), ["Oslo", "Bergen"])
    }
}
