import Foundation
import SwiftData
import Testing

struct FetchTests {
  let context: ModelContext

  init() throws {
    context = try Library.context()
    for year in 0..<20 {
      let book = Book(title: "Title \(year % 5)", year: year)
      book.rating = year % 3 == 0 ? nil : Double(year)
      book.author = year < 10 ? nil : try author(year % 2 == 0 ? "Even" : "Odd")
      context.insert(book)
    }
    try context.save()
  }

  private func author(_ name: String) throws -> Author {
    let known = FetchDescriptor<Author>(predicate: #Predicate { $0.name == name })
    return try context.fetch(known).first ?? Author(name: name)
  }

  // SWD-20, SWD-22, SWD-24
  @Test func `order, limit and offset`() throws {
    var descriptor = FetchDescriptor<Book>(sortBy: [
      SortDescriptor(\.title), SortDescriptor(\.year, order: .reverse),
    ])
    #expect(try context.fetch(descriptor).prefix(4).map(\.year) == [15, 10, 5, 0])
    descriptor.fetchLimit = 2
    descriptor.fetchOffset = 1
    #expect(try context.fetch(descriptor).map(\.year) == [10, 5])
    #expect(try context.fetchCount(descriptor) == 2)
    #expect(try context.fetchIdentifiers(descriptor).count == 2)
  }

  // SWD-24, SWD-25
  @Test func `an order by a related model, and by an optional value`() throws {
    let descriptor = FetchDescriptor<Book>(
      predicate: #Predicate { $0.author != nil },
      sortBy: [SortDescriptor(\.author?.name), SortDescriptor(\.year)])
    #expect(try context.fetch(descriptor).map(\.year) == [10, 12, 14, 16, 18, 11, 13, 15, 17, 19])
    let rated = FetchDescriptor<Book>(sortBy: [SortDescriptor(\.rating), SortDescriptor(\.year)])
    #expect(try context.fetch(rated).map(\.year).prefix(8) == [0, 3, 6, 9, 12, 15, 18, 1])
    let ids = try context.fetch(FetchDescriptor<Book>(sortBy: [SortDescriptor(\.persistentModelID)]))
    #expect(ids.map(\.persistentModelID) == ids.map(\.persistentModelID).sorted())
  }

  // SWD-22
  @Test func `unsaved changes are included, or not`() throws {
    let book = try #require(
      try context.fetch(FetchDescriptor<Book>(predicate: #Predicate { $0.year == 3 })).first)
    book.year = 100
    context.insert(Book(title: "New", year: 200))
    var descriptor = FetchDescriptor<Book>(predicate: #Predicate { $0.year >= 100 })
    #expect(try context.fetch(descriptor).count == 2)
    #expect(try context.fetchCount(descriptor) == 2)
    descriptor.includePendingChanges = false
    #expect(try context.fetch(descriptor).isEmpty)
    #expect(try context.fetchCount(descriptor) == 0)
  }

  // SWD-20, SWD-40, SWD-41
  @Test func `results in batches are random access, and refuse unsaved changes`() throws {
    let descriptor = FetchDescriptor<Book>(sortBy: [SortDescriptor(\.year)])
    let results = try context.fetch(descriptor, batchSize: 3)
    #expect(results.count == 20 && results[7].year == 7 && results[19].year == 19 && results.last?.year == 19)
    #expect(results.map(\.year) == Array(0..<20))
    #expect(try context.fetchIdentifiers(descriptor, batchSize: 4).count == 20)
    context.insert(Book(title: "New", year: 200))
    #expect { try context.fetch(descriptor, batchSize: 3) } throws: {
      SwiftDataError.includePendingChangesWithBatchSize ~= $0
    }
  }

  // SWD-20, SWD-21
  @Test func `batches of what is stored have models that wait for their deletion`() throws {
    var descriptor = FetchDescriptor<Book>(sortBy: [SortDescriptor(\.year)])
    descriptor.includePendingChanges = false
    let books = try context.fetch(descriptor)
    let stored = books.map(\.persistentModelID)
    let added = Book(title: "New", year: 200)
    context.delete(books[1])
    books[2].year = 100
    context.insert(added)
    func enumerated() throws -> [PersistentIdentifier] {
      var seen: [PersistentIdentifier] = []
      try context.enumerate(descriptor, batchSize: 3) { seen.append($0.persistentModelID) }
      return seen
    }
    #expect(try context.fetch(descriptor).map(\.persistentModelID) == stored)
    #expect(try context.fetch(descriptor, batchSize: 3).map(\.persistentModelID) == stored)
    #expect(try enumerated() == stored && stored.count == 20)
    descriptor.sortBy = []
    #expect(Set(try context.fetch(descriptor, batchSize: 3).map(\.persistentModelID)) == Set(stored))
    #expect(Set(try enumerated()) == Set(stored))
    descriptor.includePendingChanges = true
    #expect(Set(try enumerated()) == Set(stored + [added.persistentModelID]).subtracting([stored[1]]))
  }

  // SWD-21
  @Test func `enumerating loads batches, and refuses changes unless they are allowed`() throws {
    var years: [Int] = []
    try context.enumerate(FetchDescriptor<Book>(sortBy: [SortDescriptor(\.year)]), batchSize: 6) {
      years.append($0.year)
    }
    #expect(years == Array(0..<20))
    #expect(throws: SwiftDataError.self) { try context.enumerate(FetchDescriptor<Book>()) { $0.pages += 1 } }
    context.rollback()
    try context.enumerate(FetchDescriptor<Book>(), batchSize: 6, allowEscapingMutations: true) {
      $0.pages += 1
    }
    try context.save()
    #expect(try context.fetch(FetchDescriptor<Book>()).allSatisfy { $0.pages == 101 })
  }

  // SWD-19, SWD-25
  @Test func `models are found by their identifiers`() throws {
    let book = try #require(try context.fetch(FetchDescriptor<Book>()).first)
    let id = book.persistentModelID
    #expect(context.model(for: id) === book)
    #expect((context.registeredModel(for: id) as Book?) === book)
    let other = ModelContext(context.container)
    #expect((other.registeredModel(for: id) as Book?) == nil)
    #expect((other.model(for: id) as? Book)?.title == book.title)
    #expect((other.registeredModel(for: id) as Book?) == book)
    let decoded = try JSONDecoder().decode(PersistentIdentifier.self, from: JSONEncoder().encode(id))
    #expect(decoded == id && (other.model(for: decoded) as? Book) == book)
    let found = FetchDescriptor<Book>(predicate: #Predicate { $0.persistentModelID == decoded })
    #expect(try other.fetch(found) == [book])
  }

  /// A class with an `id` of its own.
  @Model
  final class Numbered {
    var id: Int
    init(_ id: Int) { self.id = id }
  }

  // SWD-25, SWD-26
  @Test func `the identifier of a model is its id, unless its class has one of its own`() throws {
    let book = try #require(try context.fetch(FetchDescriptor<Book>()).first)
    let id = book.id
    #expect(id == book.persistentModelID)
    #expect(try context.fetch(FetchDescriptor<Book>(predicate: #Predicate { $0.id == id })) == [book])
    #expect(
      try context.fetch(FetchDescriptor<Book>(predicate: #Predicate { $0.persistentModelID == id })) == [book]
    )
    let path = \Book.id
    #expect(type(of: path).valueType == PersistentIdentifier.self && [book].map(\.id) == [id])
    let numbers = try Library.context(of: Numbered.self)
    for number in 0..<3 { numbers.insert(Numbered(number)) }
    let wanted = Numbered(1).id
    let found = try numbers.fetch(FetchDescriptor<Numbered>(predicate: #Predicate { $0.id == wanted }))
    #expect(found.map(\.id) == [1])
    func identity<Model: PersistentModel>(of model: Model) -> Model.ID { model.id }
    #expect(identity(of: book) == id && identity(of: found[0]) == 1)
  }

  // SWD-19, SWD-25, SWD-26
  @Test func `a temporary identifier finds the model after the save`() throws {
    let book = Book(title: "New", year: 200)
    let free = book.persistentModelID
    context.insert(book)
    #expect(book.persistentModelID == free)
    #expect(context.model(for: free) === book)
    let set: Set<Book> = [book]
    try context.save()
    #expect(book.persistentModelID != free)
    #expect(context.model(for: free) === book && set.contains(book))
    let known = FetchDescriptor<Book>(predicate: #Predicate { $0.persistentModelID == free })
    #expect(try context.fetch(known) == [book])
  }

  // SWD-25, SWD-26
  @Test func `models that were put into a set before they were inserted stay in it`() throws {
    let (kept, gone) = (Book(title: "Kept", year: 201), Book(title: "Gone", year: 202))
    var set: Set<Book> = [kept, gone]
    context.insert(kept)
    context.insert(gone)
    #expect(set.contains(kept) && set.contains(gone))
    try context.save()
    #expect(set.contains(kept) && set.contains(gone))
    context.delete(gone)
    try context.save()
    #expect(set.remove(gone) != nil && set == [kept])
  }

  // SWD-19, SWD-25
  @Test func `an identifier without a row gives a model that reads as its defaults`() throws {
    let book = Book(title: "Gone", year: 300)
    context.insert(book)
    try context.save()
    let id = book.persistentModelID
    context.delete(book)
    try context.save()
    let ghost = context.model(for: id) as? Book
    #expect(ghost?.title == "" && ghost?.pages == 100)
    let other = ModelContext(context.container)
    #expect((other.model(for: id) as? Book)?.year == 0)
    let unknown = try PersistentIdentifier.identifier(for: "x", entityName: "Book", primaryKey: 7)
    #expect((context.model(for: unknown) as? Book)?.title == "")
  }

  // SWD-22
  @Test func `relationships are loaded with the models that are fetched`() throws {
    var descriptor = FetchDescriptor<Author>(sortBy: [SortDescriptor(\.name)])
    descriptor.relationshipKeyPathsForPrefetching = [\.books]
    descriptor.propertiesToFetch = [\.name]
    #expect(try ModelContext(context.container).fetch(descriptor).map(\.books.count) == [5, 5])
    #expect(descriptor == descriptor)
  }

  // SWD-23, SWD-40
  @Test func `what no store can evaluate is refused when the fetch begins`() throws {
    #expect { try context.fetch(FetchDescriptor<Inferred>(sortBy: [SortDescriptor(\.computed)])) } throws: {
      SwiftDataError.unsupportedSortDescriptor ~= $0
    }
    #expect {
      try context.fetch(FetchDescriptor<Inferred>(predicate: #Predicate { $0.computed == "x" }))
    } throws: {
      SwiftDataError.unsupportedPredicate ~= $0
    }
    #expect(throws: SwiftDataError.self) {
      try context.fetch(FetchDescriptor<Values>(predicate: #Predicate { $0.opaque.x == 1 }))
    }
  }

  // SWD-24
  @Test func `texts are ordered by their characters, or as people of the locale do`() throws {
    let context = try Library.context()
    let titles = ["b10", "b9", "B1", "a", "Ä", "z", "é", "E"]
    for (year, title) in titles.enumerated() {
      let book = Book(title: title, year: year)
      book.summary = year == 3 ? nil : title
      context.insert(book)
    }
    try context.save()
    func order(_ descriptor: SortDescriptor<Book>) throws -> [String] {
      let stored = try context.fetch(FetchDescriptor<Book>(sortBy: [descriptor, SortDescriptor(\.year)]))
      // The descriptor orders models in memory likewise.
      let all = try context.fetch(FetchDescriptor<Book>(sortBy: [SortDescriptor(\.year)]))
      #expect(all.sorted(using: [descriptor, SortDescriptor(\.year)]) == stored)
      return stored.map(\.title)
    }
    #expect(try order(SortDescriptor(\.title, comparator: .lexical)) == titles.sorted())
    #expect(try order(SortDescriptor(\.title)) == titles.sorted())
    let standard = titles.sorted { $0.localizedStandardCompare($1) == .orderedAscending }
    #expect(try order(SortDescriptor(\.title, comparator: .localizedStandard)) == standard)
    #expect(
      try order(SortDescriptor(\.title, comparator: .localizedStandard, order: .reverse))
        == standard.reversed())
    #expect(standard != titles.sorted())
    let localized = titles.sorted { $0.localizedCompare($1) == .orderedAscending }
    #expect(try order(SortDescriptor(\.title, comparator: .localized)) == localized)
    // Without a value comes first, here "a".
    #expect(
      try order(SortDescriptor(\.summary, comparator: .localizedStandard))
        == ["a"] + standard.filter { $0 != "a" })
  }

  // SWD-24
  @Test func `texts of related models and of structures are ordered as people do`() throws {
    let context = try Library.context()
    for (title, name) in [("x", "b10"), ("y", "b9"), ("z", "B1")] {
      context.insert(Book(title: title, year: 1, author: Author(name: name)))
      let values = Values()
      values.address = Address(street: title, city: name)
      context.insert(values)
    }
    try context.save()
    let books = FetchDescriptor<Book>(
      sortBy: [SortDescriptor(\.author?.name, comparator: .localizedStandard)])
    #expect(try context.fetch(books).map(\.title) == ["z", "y", "x"])
    let values = FetchDescriptor<Values>(
      sortBy: [SortDescriptor(\.address?.city, comparator: .localizedStandard)])
    #expect(try context.fetch(values).map { $0.address?.street } == ["z", "y", "x"])
  }
}
