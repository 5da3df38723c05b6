import Foundation
import GraphTestSupport
import Heartwood
import HeartwoodFaults
import TestSupport
import Testing

@Suite struct `Random fetches` {
  @Test(arguments: [31, 32] as [UInt64])
  func `random fetches return what filtering and sorting all objects returns`(seed: UInt64) throws {
    var work = try LibraryWork(seed: seed)
    try work.fill(books: 150)
    try work.context.save()
    for _ in 0..<120 { try work.compare() }
    let kinds = [
      "scan", "index", "unique look-up", "related", "order", "sort", "union", "intersection",
      "count by their keys",
    ]
    for kind in kinds { #expect(work.kinds.contains(kind), "seed \(seed) never used the plan \(kind)") }
  }

  @Test(arguments: [41, 42] as [UInt64])
  func `random fetches return unsaved changes in their places`(seed: UInt64) throws {
    var work = try LibraryWork(seed: seed)
    try work.fill(books: 120)
    try work.context.save()
    for round in 0..<120 {
      work.change()
      try work.compare()
      if round % 15 == 14 { try work.context.save() }
    }
    #expect(work.kinds.contains("merge"), "seed \(seed) never merged changes")
  }

  @Test(arguments: [61, 62] as [UInt64])
  func `random fetches of a child context return the changes of its parents and its own`(seed: UInt64) throws
  {
    var work = try LibraryWork(seed: seed)
    try work.fill(books: 80)
    try work.context.save()
    for _ in 0..<12 {
      for _ in 0..<5 { work.change() }
      let child = ManagedObjectContext(.privateQueue, parent: work.context)
      try child.performAndWait {
        let copies = try child.fetch(Book.self)
        let place = Int.random(in: 0..<copies.count, using: &work.random)
        copies[place].title = .random(&work.random)
        copies[place].year = Int64.random(in: 1990...2010, using: &work.random)
        for _ in 0..<10 { try work.compareChild(child, copies) }
      }
    }
    #expect(work.kinds.contains("union") && work.kinds.contains("merge"), "seed \(seed)")
  }

  @Test(arguments: Array(([81, 82, 83] as [UInt64]).sampled(every: 3)))
  func `random fetches return what they find among many unsaved changes`(seed: UInt64) throws {
    var work = try LibraryWork(seed: seed)
    try work.fill(books: 150)
    for round in 0..<200 {
      for _ in 0..<3 { work.change() }
      try work.compare()
      try work.compareExtremes()
      if round % 70 == 69 { try work.context.save() }
    }
  }

  @Test func `random fetches omit unsaved changes where the request says so`() throws {
    var work = try LibraryWork(seed: 51)
    try work.fill(books: 60)
    try work.context.save()
    let before = try work.context.fetch(Book.self, sort: [.ascending(\.isbn)]).map(\.isbn)
    for _ in 0..<20 { work.change() }
    let request = FetchRequest<Book>()
    request.includesPendingChanges = false
    #expect(try work.context.count(for: request) == before.count)
    #expect(Set(try work.context.fetchIdentifiers(request)).count == before.count)
  }
}

/// Makes random changes to a library, and compares random requests with plain Swift.
private struct LibraryWork {
  let seed: UInt64
  let container: PersistentContainer
  let context: ManagedObjectContext
  var random: SplitMix64
  var contents = LibraryContents()
  var nextNumber = 0
  /// The first words of all plans' steps.
  var kinds: Set<String> = []

  init(seed: UInt64) throws {
    self.seed = seed
    container = try makeLibrary()
    context = container.newBackgroundContext()
    random = SplitMix64(seed: seed)
  }

  mutating func fill(books: Int) throws {
    contents.authors = (0..<6).map { context.makeAuthor("A\($0)", $0 % 2 == 0 ? "FR" : nil) }
    contents.subjects = (0..<4).map { context.makeSubject("S\($0)") }
    for _ in 0..<books { addBook() }
  }

  private mutating func addBook() {
    let book = Int.random(in: 0..<4, using: &random) == 0 ? Comic(context: context) : Book(context: context)
    book.isbn = "\(nextNumber)"
    nextNumber += 1
    setValues(of: book)
    contents.books.append(book)
  }

  private mutating func setValues(of book: Book) {
    book.title = .random(&random)
    book.year = Int.random(in: 0..<5, using: &random) == 0 ? nil : .random(in: 1990...2012, using: &random)
    book.price = Double(Int.random(in: 0..<40, using: &random)) / 2
    book.pages = .random(in: 0..<400, using: &random)
    book.isLent = .random(using: &random)
    book.author =
      Int.random(in: 0..<6, using: &random) == 0 ? nil : contents.authors.randomElement(using: &random)
    book.subjects = Set(contents.subjects.filter { _ in Int.random(in: 0..<4, using: &random) == 0 })
  }

  /// One unsaved change of books or of related objects.
  mutating func change() {
    switch Int.random(in: 0..<8, using: &random) {
    case 0, 1: addBook()
    case 2, 3, 4:
      if let book = contents.books.randomElement(using: &random) { setValues(of: book) }
    case 5:
      guard let place = contents.books.indices.randomElement(using: &random) else { return }
      context.delete(contents.books.remove(at: place))
    case 6:
      contents.authors.randomElement(using: &random)?.name = "A\(Int.random(in: 6..<1000, using: &random))"
    default:
      contents.subjects.randomElement(using: &random)?.label = "S\(Int.random(in: 0..<6, using: &random))"
    }
  }

  mutating func compare() throws {
    let asked = RandomRequest(&random, contents)
    let message: Comment = "seed \(seed): \(asked.text)"
    let expected = contents.books.filter(asked.holds)
    note(try context.plan(for: asked.windowed))
    if try context.plan(forCounting: asked.request).steps.last == "count: by their keys" {
      kinds.insert("count by their keys")
    }

    let all = try context.fetch(asked.request)
    #expect(Set(all) == Set(expected) && all.count == expected.count, message)
    for (first, second) in zip(all, all.dropFirst()) {
      #expect(asked.order.compare(first, second) <= 0, message)
    }

    let window = asked.window(expected.count)
    let part = try context.fetch(asked.windowed)
    #expect(part.count == window.count, message)
    if asked.order.sort.isEmpty {
      #expect(Set(part).isSubset(of: Set(expected)), message)
    } else if all.count == expected.count {
      // Equal books have the same order in every plan, so that pages fit together.
      #expect(part == Array(all[window]), message)
    }
    #expect(try context.count(for: asked.request) == expected.count, message)
    #expect(try context.count(for: asked.windowed) == window.count, message)
    #expect(try context.fetchIdentifiers(asked.windowed) == part.map(\.objectID), message)
    let analysis = try context.analyze(asked.windowed)
    #expect(analysis.steps.filter { !$0.hasPrefix("advice") }.count > 0, message)
    if let limit = analysis.details.first(where: { $0.text.hasPrefix("limit: ") }) {
      #expect(limit.rows == part.count, message)
    }
  }

  /// The least and the greatest value of all books that a random condition selects.
  mutating func compareExtremes() throws {
    let asked = RandomRequest(&random, contents)
    let books = contents.books.filter(asked.holds)
    let rows = try context.fetchRows(
      Book.self, columns: { ($0.year.min(), $0.year.max(), $0.price.max()) },
      where: asked.condition.map { condition in { _ in condition } })
    let message: Comment = "seed \(seed): \(asked.text)"
    #expect(rows.count == 1, message)
    #expect(rows.first?.0 == books.compactMap(\.year).min(), message)
    #expect(rows.first?.1 == books.compactMap(\.year).max(), message)
    #expect(rows.first?.2 == books.map(\.price).max(), message)
  }

  /// Compares without conditions on related objects, which in the child are other instances.
  mutating func compareChild(_ child: ManagedObjectContext, _ books: [Book]) throws {
    let asked = RandomRequest(&random, LibraryContents())
    let message: Comment = "seed \(seed): \(asked.text)"
    note(try child.plan(for: asked.windowed))
    let expected = books.filter(asked.holds)
    let all = try child.fetch(asked.request)
    #expect(Set(all) == Set(expected) && all.count == expected.count, message)
    for (first, second) in zip(all, all.dropFirst()) {
      #expect(asked.order.compare(first, second) <= 0, message)
    }
    #expect(try child.count(for: asked.request) == expected.count, message)
    if !asked.order.sort.isEmpty, all.count == expected.count {
      #expect(try child.fetch(asked.windowed) == Array(all[asked.window(expected.count)]), message)
    }
  }

  private mutating func note(_ plan: FetchPlan) {
    for step in plan.steps { kinds.insert(String(step.prefix { $0 != ":" })) }
  }
}
