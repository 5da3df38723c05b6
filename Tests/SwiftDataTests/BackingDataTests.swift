import Foundation
import SwiftData
import Testing

/// Values by key paths, and backing data, as code that macros have not written uses them.
struct BackingDataTests {
  // SWD-26
  @Test(arguments: [false, true]) func `values are read and set by key paths, free and in a context`(
    isInserted: Bool
  ) throws {
    ColourTransformer.register()
    let context = try Library.context()
    let (book, author, palette) = (Book(title: "T", year: 1), Author(name: "A"), Palette())
    let ticket = Ticket(Project(key: "P"), 1)
    if isInserted {
      for model in [book, author, palette, ticket] as [any PersistentModel] { context.insert(model) }
    }
    book.setValue(forKey: \.title, to: "U")
    book.setValue(forKey: \.rating, to: 4.5)
    book.setValue(forKey: \.author, to: author)
    author.setValue(forKey: \.friends, to: [Author(name: "F")])
    ticket.setValue(forKey: \.project, to: Project(key: "Q"))
    palette.setTransformableValue(forKey: \.colour, to: Colour(red: 0.5))
    #expect(
      book.title == "U" && book.getValue(forKey: \.title) == "U" && book.getValue(forKey: \.rating) == 4.5)
    #expect(book.getValue(forKey: \.author) === author && book.author === author)
    #expect(author.getValue(forKey: \.friends).map(\.name) == ["F"])
    // Both sides agree once they are in a context.
    #expect(!isInserted || author.books == [book])
    #expect(ticket.getValue(forKey: \.project).key == "Q")
    let colour: Colour? = palette.getTransformableValue(forKey: \.colour)
    #expect(colour?.red == 0.5)
    book.setValue(forKey: \.author, to: nil as Author?)
    #expect(book.author == nil && (author.books.isEmpty || !isInserted))
    if isInserted {
      try context.save()
      let found = try ModelContext(context.container).fetch(FetchDescriptor<Book>())
      #expect(found.map { $0.getValue(forKey: \.rating) } == [4.5])
    }
  }

  // SWD-26
  @Test func `a set by a key path is a change that is observed and undone by a rollback`() throws {
    let context = try Library.context()
    let book = Book(title: "T", year: 1)
    context.insert(book)
    try context.save()
    book.setValue(forKey: \.pages, to: 7)
    #expect(book.hasChanges && context.changedModelsArray.count == 1)
    context.rollback()
    #expect(book.getValue(forKey: \.pages) == 100)
  }

  // SWD-41
  @Test func `a model of backing data has its values`() throws {
    var empty: any BackingData<Book> = Book.createBackingData()
    #expect(empty.persistentModelID == nil || empty.persistentModelID?.storeIdentifier == nil)
    let made = Book(backingData: empty)
    made.title = "T"
    made.year = 3
    #expect(made.title == "T" && made.pages == 100 && made.modelContext == nil)
    empty = made.persistentBackingData
    #expect(empty.getValue(forKey: \.title) == "T")
    empty.setValue(forKey: \.title, to: "U")
    #expect(made.title == "U" && made.persistentModelID == empty.persistentModelID)
    let context = try Library.context()
    context.insert(made)
    try context.save()
    let stored = made.persistentBackingData
    #expect(stored.persistentModelID == made.persistentModelID && stored.getValue(forKey: \.year) == 3)
    #expect(try ModelContext(context.container).fetch(FetchDescriptor<Book>()).map(\.title) == ["U"])
  }

  // SWD-01, SWD-41
  @Test func `the metadata of a class names its properties and their default values`() {
    let names = Book.schemaMetadata.map(\.name)
    #expect(
      names == [
        "title", "year", "pages", "rating", "price", "author", "shelves", "summary", "SwiftData.Schema.Index",
        "SwiftData.Schema.Unique",
      ])
    let pages = Book.schemaMetadata.first { $0.name == "pages" }
    #expect(pages?.keypath == \Book.pages && pages?.defaultValue as? Int == 100)
    #expect((Author.schemaMetadata[0].metadata as? Schema.Attribute)?.isUnique == true)
    #expect(SportsCar.schemaMetadata.map(\.name) == ["topSpeed"])
  }
}
