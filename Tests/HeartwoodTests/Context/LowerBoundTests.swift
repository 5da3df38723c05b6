import Foundation
import GraphTestSupport
import Heartwood
import TestSupport
import Testing

private final class Shelf: ManagedObject {
  @Relationship(inverse: { $0.shelf }, count: .required) var books: Set<ShelfBook>
  @Relationship(inverse: { $0.shelf }, count: .notOptional) var pens: Set<ShelfPen>
}

private final class ShelfBook: ManagedObject {
  @Relationship(inverse: { $0.books }) var shelf: Shelf?
}

private final class ShelfPen: ManagedObject {
  @Relationship(inverse: { $0.pens }, count: .notOptional) var shelf: Shelf?
}

@Suite struct `The lower bound of a relationship` {
  // VAL-02
  @Test func `is its least count for many, and its destination for one`() throws {
    let types: [ManagedObject.Type] = [Shelf.self, ShelfBook.self, ShelfPen.self]
    let model = try ManagedObjectModel(types: types)
    let shelves = try #require(model.entitiesByName["Shelf"]).relationshipsByName
    #expect(shelves["books"]?.minCount == 1 && shelves["books"]?.isOptional == false)
    #expect(shelves["pens"]?.minCount == 0 && shelves["pens"]?.isOptional == false)
    let context = try PersistentContainer(
      name: "Shelves", types: types, at: URL(fileURLWithPath: "/dev/null")
    )
    .newBackgroundContext()
    let shelf = Shelf(context: context)
    let error = heartwoodError { try context.save() }
    #expect(error?.message.contains("books") == true && error?.message.contains("pens") == false)
    shelf.books = [ShelfBook(context: context)]
    try context.save()
    let pen = ShelfPen(context: context)
    #expect(heartwoodError { try context.save() }?.message.contains("shelf") == true)
    pen.shelf = shelf
    try context.save()
  }
}
