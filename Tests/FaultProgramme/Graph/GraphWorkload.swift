import Foundation
import Heartwood

/// One save, or one batch. It fetches the objects that it changes, so that it can be repeated after a failure.
struct GraphStep: Sendable, CustomStringConvertible {
  let description: String
  /// Whether the edit writes to the store, as a transaction of its own.
  let isBatch: Bool
  let edit: @Sendable (ManagedObjectContext) throws -> Void

  init(
    _ description: String, isBatch: Bool = false,
    _ edit: @escaping @Sendable (ManagedObjectContext) throws -> Void
  ) {
    self.description = description
    self.isBatch = isBatch
    self.edit = edit
  }
}

/// The error if a step does not find an object.
struct NothingFound: Error {}

/// The saves of the graph workload.
enum GraphWorkload {
  static let steps = [
    filling, changing, linking, reordering, moving, swapping, unlinking, deleting, growing, emptying,
    filling2, inserting, raising, removing,
  ]

  private static let filling = GraphStep("inserts") { context in
    for code in ["A", "B"] {
      let shelf = Shelf(context: context)
      shelf.code = code
      shelf.height = code == "A" ? 180 : nil
      for number in 1...3 {
        let book = makeBook("\(code)\(number)", in: context)
        book.shelf = shelf
        let loan = Loan(context: context)
        loan.reader = "reader \(code)\(number)"
        loan.book = book
      }
    }
    for name in ["art", "law", "war"] { Subject(context: context).name = name }
  }

  private static let changing = GraphStep("updates of attributes") { context in
    context.transactionAuthor = "Ada"
    context.name = "desk"
    for book in try context.fetch(Book.self, where: { $0.title.hasPrefix("Title of A") }) {
      book.pages += 100
    }
    // A merge policy resolves the conflict with the shelf that is there, which takes the new height.
    context.mergePolicy = .mergeByPropertyObjectTrump
    let shelf = Shelf(context: context)
    (shelf.code, shelf.height) = ("B", 210)
    try book("B2", context).title = "Ünïted 東京"
    try book("B3", context).scan = Data(repeating: 7, count: 300)
  }

  private static let linking = GraphStep("links of many to many, and to itself") { context in
    let subjects = try context.fetch(Subject.self, sort: [.ascending(\.name)])
    for (number, book) in try context.fetch(Book.self, sort: [.ascending(\.isbn)]).enumerated() {
      book.subjects = Set(subjects.prefix(number % 4))
    }
    let cited = try ["B1", "A2", "A3"].map { try book($0, context) }
    try book("A1", context).citations = cited
    try book("B1", context).citations = [cited[1], try book("B1", context)]
  }

  /// Two children of the context; the second one merges what the first one has saved.
  private static let reordering = GraphStep("another order, by siblings") { context in
    let first = ManagedObjectContext(.privateQueue, parent: context)
    let second = ManagedObjectContext(.privateQueue, parent: context)
    let citing = try book("A1", second)
    let cited = citing.citations
    let shelf = try shelf("A", first)
    shelf.books = shelf.books.reversed()
    try first.save()
    let changed = shelf.objectID.uriRepresentation()
    ManagedObjectContext.mergeChanges(
      fromRemoteContextSave: [ManagedObjectContext.NotificationKey.updatedObjectIDs.rawValue: [changed]],
      into: [second])
    citing.citations = Array(cited.suffix(1) + cited.dropLast())
    try second.save()
  }

  /// A grandchild, whose parent has unsaved changes of the same book.
  private static let moving = GraphStep("a book goes to another shelf, by way of a parent") { context in
    let middle = ManagedObjectContext(.privateQueue, parent: context)
    try book("A2", middle).title = "Moved"
    let child = ManagedObjectContext(.privateQueue, parent: middle)
    try book("A2", child).shelf = try shelf("B", child)
    try shelf("A", child).books.insert(makeBook("A9", in: child), at: 0)
    try child.save()
    try middle.save()
  }

  private static let swapping = GraphStep("two unique values change places") { context in
    let first = try book("A1", context)
    let second = try book("B1", context)
    first.isbn = "B1"
    second.isbn = "A1"
    try subject("war", context).name = "peace"
  }

  private static let unlinking = GraphStep("links are taken away, restored, and taken away again") {
    context in
    context.undoManager = UndoStack()
    let citing = try book("B1", context)
    let (art, third, last) = (try subject("art", context), try book("A3", context), try book("B3", context))
    citing.citations = Array(citing.citations.dropFirst())
    art.books = []
    third.shelf = nil
    last.scan = nil
    context.undo()
    context.redo()
  }

  private static let deleting = GraphStep("a cascade of two steps, undone once") { context in
    context.transactionAuthor = "Eve"
    context.undoManager = UndoStack()
    let (shelf, law) = (try shelf("B", context), try subject("law", context))
    context.delete(shelf)
    context.undo()
    context.delete(shelf)
    context.delete(law)
  }

  /// Values that exceed the remaining space of the log segment.
  private static let growing = GraphStep("large values") { context in
    for number in 1...5 {
      let book = makeBook("L\(number)", in: context)
      book.scan = Data(repeating: UInt8(number), count: 15_000)
      book.shelf = try shelf("A", context)
    }
  }

  private static let emptying = GraphStep("nearly everything goes") { context in
    context.delete(try shelf("A", context))
    for subject in try context.fetch(Subject.self) { subject.books = [] }
  }

  private static let filling2 = GraphStep("what was deleted comes again") { context in
    let shelf = Shelf(context: context)
    shelf.code = "A"
    shelf.books = [makeBook("L1", in: context), makeBook("A1", in: context)]
    shelf.books[0].subjects = Set(try context.fetch(Subject.self))
  }

  /// A batch with rows that refer to each other and to stored ones, one of which it changes.
  private static let inserting = GraphStep("a batch of rows", isBatch: true) { context in
    context.mergePolicy = .mergeByPropertyObjectTrump
    let rows: [[String: Any]] =
      [["isbn": "A1", "title": "Again", "subjects": ["art"]]]
      + (1...4).map {
        ["isbn": "N\($0)", "title": "New \($0)", "pages": $0, "shelf": "A", "citations": ["N1", "A1"]]
      }
    try context.execute(BatchInsertRequest(Book.self, objects: rows))
  }

  private static let raising = GraphStep("a batch of new values", isBatch: true) { context in
    let request = BatchUpdateRequest(entityName: "Book")
    request.predicate = Where<Book> { $0.title.hasPrefix("New") }
    request.propertiesToUpdate = ["pages": try FormatExpression("pages * 10"), "title": "Newer"]
    try context.execute(request)
  }

  private static let removing = GraphStep("a batch of deletes, with a cascade", isBatch: true) { context in
    try context.execute(BatchDeleteRequest(fetchRequest: FetchRequest<Book>(where: { $0.pages > 15 })))
  }

  static func shelf(_ code: String, _ context: ManagedObjectContext) throws -> Shelf {
    guard let shelf = try context.fetch(Shelf.self, where: { $0.code == code }).first else {
      throw NothingFound()
    }
    return shelf
  }

  static func book(_ isbn: String, _ context: ManagedObjectContext) throws -> Book {
    guard let book = try context.fetch(Book.self, where: { $0.isbn == isbn }).first else {
      throw NothingFound()
    }
    return book
  }

  static func subject(_ name: String, _ context: ManagedObjectContext) throws -> Subject {
    guard let subject = try context.fetch(Subject.self, where: { $0.name == name }).first else {
      throw NothingFound()
    }
    return subject
  }

  static func makeBook(_ isbn: String, in context: ManagedObjectContext) -> Book {
    let book = Book(context: context)
    book.isbn = isbn
    book.title = "Title of \(isbn)"
    book.pages = 7
    return book
  }
}
