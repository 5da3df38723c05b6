import Foundation
import SwiftData
import Testing

struct RelationshipTests {
  // SWD-04
  @Test func `both sides of a relationship agree`() throws {
    let context = try Library.context()
    let author = Author(name: "A")
    context.insert(author)
    let book = Book(title: "T", year: 1, author: author)
    #expect(author.books == [book])
    #expect(book.modelContext === context)
    let other = Author(name: "B")
    book.author = other
    #expect(other.modelContext === context)
    #expect(author.books.isEmpty && other.books == [book])
    other.books.removeAll()
    #expect(book.author == nil)
  }

  // SWD-15
  @Test func `unsaved models come with the one that is inserted`() throws {
    let context = try Library.context()
    let books = (0..<5).map { Book(title: "T\($0)", year: $0) }
    let author = Author(name: "A", books: books)
    books[0].shelves = [Shelf("S", [books[1]])]
    author.profile = Profile("m")
    context.insert(author)
    try context.save()
    #expect(try context.fetchCount(FetchDescriptor<Book>()) == 5)
    #expect(try context.fetchCount(FetchDescriptor<Shelf>()) == 1)
    #expect(author.profile?.author === author)
    #expect(
      Set(try #require(try context.fetch(FetchDescriptor<Shelf>()).first).books) == [books[0], books[1]])
  }

  // SWD-15
  @Test func `a list keeps its order where only some of its models lead back`() throws {
    let context = try Library.context()
    let author = Author(name: "A")
    let books = [
      Book(title: "T0", year: 0), Book(title: "T1", year: 1, author: author), Book(title: "T2", year: 2),
    ]
    author.books = books
    context.insert(author)
    #expect(author.books == books)
    #expect(books.allSatisfy { $0.author === author })
    try context.save()
    #expect(author.books == books)
  }

  // SWD-05
  @Test func `inverses are inferred where one property fits`() throws {
    let schema = Schema([Book.self])
    let book = try #require(schema.entity(for: Book.self))
    let shelf = try #require(schema.entity(for: Shelf.self))
    #expect(book.relationshipsByName["shelves"]?.inverseName == "books")
    #expect(shelf.relationshipsByName["books"]?.inverseName == "shelves")
    #expect(book.relationshipsByName["author"]?.inverseName == "books")
  }

  // SWD-04
  @Test func `a relationship of a class with itself has two sides`() throws {
    let context = try Library.context()
    let root = Node("root", children: [Node("a", children: [Node("b")]), Node("c")])
    context.insert(root)
    try context.save()
    #expect(try context.fetchCount(FetchDescriptor<Node>()) == 4)
    #expect(root.children?.allSatisfy { $0.parent === root } == true)
    let (a, b) = (Author(name: "A"), Author(name: "B"))
    a.friends = [b]
    context.insert(a)
    try context.save()
    #expect(b.friendOf == [a] && b.friends.isEmpty)
    context.delete(root)
    try context.save()
    #expect(try context.fetchCount(FetchDescriptor<Node>()) == 0)
  }

  // SWD-04, SWD-40
  @Test func `a mandatory relationship is required by a save`() throws {
    let context = try Library.context()
    let project = Project(key: "P")
    let ticket = Ticket(project, 1)
    context.insert(ticket)
    try context.save()
    #expect(project.tickets == [ticket])
    project.tickets = []
    #expect { try context.save() } throws: { SwiftDataError.modelValidationFailure ~= $0 }
    context.rollback()
    #expect(ticket.project === project)
    context.delete(project)
    try context.save()
    #expect(try context.fetchCount(FetchDescriptor<Ticket>()) == 0)
  }

  // SWD-07
  @Test func `a uniqueness constraint may name a relationship`() throws {
    let context = try Library.context()
    let (p, q) = (Project(key: "P"), Project(key: "Q"))
    for ticket in [Ticket(p, 1), Ticket(p, 2), Ticket(q, 1)] { context.insert(ticket) }
    try context.save()
    context.insert(Ticket(p, 2))
    try context.save()
    #expect(try ModelContext(context.container).fetchCount(FetchDescriptor<Ticket>()) == 3)
  }
}
