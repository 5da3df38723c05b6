import Foundation
import GraphTestSupport
import Heartwood
import HeartwoodFaults
import Testing

/// Objects in the order of values that are computed.
@Suite struct `Orders by computed values` {
  private let context: ManagedObjectContext
  private let container: PersistentContainer

  init() throws {
    container = try makeLibrary()
    context = container.newBackgroundContext()
  }

  // FET-04, FET-39
  @Test(arguments: [1, 2, 3] as [UInt64])
  func `objects are in the order of computed values, with windows, batches and unsaved changes`(seed: UInt64)
    throws
  {
    var random = SplitMix64(seed: seed)
    for number in 0..<12 { _ = context.makeAuthor("\(number % 2 == 0 ? "A" : "a")\(number)") }
    try context.save()
    for round in 0..<12 {
      for _ in 0..<6 { try change(&random, round) }
      if round % 2 == 0 { try context.save() }
      for order in ComputedOrder.allCases {
        for descending in [false, true] { try compare(order, descending, &random) }
      }
      let byCount = FetchRequest<Author>()
      byCount.sortDescriptors = [.descending { $0.books.count }, .ascending(\.name)] as [Sort<Author>]
      let counts = try context.fetch(byCount).map { ($0.books.count, $0.name) }
      #expect(zip(counts, counts.dropFirst()).allSatisfy { $0.0 > $1.0 || $0.0 == $1.0 && $0.1 < $1.1 })
    }
  }

  private func change(_ random: inout SplitMix64, _ round: Int) throws {
    let authors = try context.fetch(Author.self, sort: [.ascending(\.name)])
    let books = try context.fetch(Book.self, sort: [.ascending(\.isbn)])
    let number = Int64.random(in: 0..<7, using: &random)
    switch Int.random(in: 0..<8, using: &random) {
    case 0...3:
      context.makeBook(
        "\(round)-\(UInt32.random(in: 0...(.max), using: &random))",
        ["oak", "Oak", "\u{E9}lan", "ash", "Ash"][Int(number) % 5],
        year: number == 0 ? nil : 1990 + number, pages: number, price: Double(6 - number),
        by: authors.randomElement(using: &random))
    case 4, 5: books.randomElement(using: &random)?.pages = number
    case 6: books.randomElement(using: &random)?.author = authors.randomElement(using: &random)
    default: if let book = books.randomElement(using: &random) { context.delete(book) }
    }
  }

  /// Compares a fetch with sorting all objects by their properties.
  private func compare(_ order: ComputedOrder, _ descending: Bool, _ random: inout SplitMix64) throws {
    let request = FetchRequest<Book>()
    request.sortDescriptors = [
      Bool.random(using: &random)
        ? try order.text(ascending: !descending) : order.typed(ascending: !descending),
      NamedSort("isbn"),
    ]
    let all = try context.fetch(Book.self).sorted { left, right in
      let (first, second) = (order.value(left), order.value(right))
      let decision =
        first == nil || second == nil
        ? (first == nil ? 0 : 1) - (second == nil ? 0 : 1) : first! < second! ? -1 : first! > second! ? 1 : 0
      return decision == 0 ? left.isbn < right.isbn : descending ? decision > 0 : decision < 0
    }
    #expect(try context.fetch(request) == all, "\(order) \(descending)")
    request.fetchLimit = Int.random(in: 1...5, using: &random)
    request.fetchOffset = Int.random(in: 0...4, using: &random)
    let window = Array(all.dropFirst(request.fetchOffset).prefix(request.fetchLimit))
    #expect(try context.fetch(request) == window, "\(order) \(descending)")
    #expect(try context.fetchIdentifiers(request) == window.map(\.objectID))
    request.fetchBatchSize = 2
    #expect(try context.fetch(request) == window)
  }

  @Test func `an index gives the first keys, and computed values order what is equal in them`() throws {
    for number in 0..<200 {
      context.makeBook("\(number)", "t\(number)", year: Int64(number % 20), pages: Int64((number * 7) % 11))
    }
    try context.save()
    let request = FetchRequest<Book>()
    request.sortDescriptors =
      [
        .ascending(\.year), .descending { $0.pages * 2 }, .ascending(\.isbn),
      ] as [Sort<Book>]
    request.fetchLimit = 15
    let found = try context.fetch(request)
    let all = try context.fetch(Book.self).sorted {
      ($0.year ?? 0, -$0.pages, $0.isbn) < ($1.year ?? 0, -$1.pages, $1.isbn)
    }
    #expect(found == Array(all.prefix(15)))
    #expect(
      try context.plan(for: request).steps.contains(
        "order: year ascending, pages * 2 descending, isbn ascending, the first key from the index"))
  }

  @Test func `an object without a related one has the place of one whose related one has no value`() throws {
    let (named, unknown) = (context.makeAuthor("N", "FR"), context.makeAuthor("U"))
    for (isbn, author) in [("1", named), ("2", nil), ("3", unknown), ("4", nil), ("5", named)] {
      context.makeBook(isbn, "t", pages: Int64(isbn) ?? 0, by: author)
    }
    for isSaved in [false, true] {
      if isSaved { try context.save() }
      let request = FetchRequest<Book>()
      request.sortDescriptors = [.ascending(\.author?.country), .descending { $0.pages + 1 }] as [Sort<Book>]
      #expect(try context.fetch(request).map(\.isbn) == ["4", "3", "2", "5", "1"])
      request.sortDescriptors = [.descending(\.author?.country), .ascending(\.isbn)] as [Sort<Book>]
      #expect(try context.fetch(request).map(\.isbn) == ["1", "5", "2", "3", "4"])
    }
  }

  @Test func `the values of each row are computed once, and only the window's rows are kept`() throws {
    for number in 0..<50 { context.makeBook("\(number)", "t", pages: Int64(number)) }
    try context.save()
    let request = FetchRequest<Book>()
    request.sortDescriptors = [try ComputedSort("modulus(pages, 10)"), NamedSort("isbn", ascending: false)]
    request.fetchLimit = 3
    #expect(try context.fetch(request).map(\.pages) == [40, 30, 20])
    #expect(
      try context.plan(for: request).steps.contains(
        "sort: modulus:by:(pages, 10) ascending, isbn descending, keeping the first 3"))
    // A random order is one, too.
    request.sortDescriptors = [try ComputedSort("random()")]
    request.fetchLimit = 50
    #expect(Set(try context.fetch(request)).count == 50)
  }

  @Test func `what has no order is refused`() throws {
    for (text, part) in [
      ("author.books.title", "relationship"),
      ("author.books.@distinctUnionOfObjects.title", "several values"),
      ("TERNARY(pages > 1, author, nil)", "sort by an attribute"),
      ("@sum.pages", "computed from several rows"), ("wrong + 1", "no property 'wrong'"),
    ] {
      let error = #expect(throws: HeartwoodError.self) {
        let request = FetchRequest<Book>()
        request.sortDescriptors = [try ComputedSort(text)]
        _ = try context.fetch(request)
      }
      #expect(error?.message.contains(part) == true, "\(error?.message ?? "")")
    }
    let error = #expect(throws: HeartwoodError.self) {
      try context.fetch(Book.self, sort: [.ascending(.caseInsensitive) { $0.pages + 1 }])
    }
    #expect(error?.message.contains("is for texts") == true)
  }

  @Test func `a request in the model keeps its computed order`() throws {
    context.makeBook("1", "b")
    context.makeBook("2", "A")
    let request = FetchRequest<Book>()
    request.sortDescriptors = [.descending { $0.title.lowercased() }] as [Sort<Book>]
    let model = try ManagedObjectModel(types: libraryTypes) { (model) throws(HeartwoodError) in
      try model.setFetchRequestTemplate(request, forName: "byTitle")
    }
    let stored = try #require(model.fetchRequestTemplate(forName: "byTitle"))
    #expect(try context.fetch(stored).compactMap { ($0 as? Book)?.isbn } == ["1", "2"])
  }

  // FRC-13
  @Test func `a change of what the order is computed from moves an object of a live result`() throws {
    let authors = ["A", "B", "C"].map { context.makeAuthor($0) }
    for (number, author) in [(1, 0), (2, 0), (3, 1)] {
      context.makeBook("\(number)", "t", pages: Int64(number), by: authors[author])
    }
    try context.save()
    let request = FetchRequest<Author>()
    request.sortDescriptors = [.descending { $0.books.count }, .ascending(\.name)] as [Sort<Author>]
    let controller = FetchedResultsController(fetchRequest: request, managedObjectContext: context)
    let copy = ContentCopy<Author>(\.name)
    controller.delegate = copy
    try controller.performFetch()
    copy.take(controller)
    #expect(controller.fetchedObjects?.map(\.name) == ["A", "B", "C"])
    for number in 4...6 { context.makeBook("\(number)", "t", by: authors[2]) }
    context.processPendingChanges()
    #expect(copy.takeCalls() == ["will", "move C 0.2 0.0", "did"])
    let pages = FetchRequest<Book>()
    pages.sortDescriptors = [.ascending { $0.pages % 10 }] as [Sort<Book>]
    let byPages = FetchedResultsController(fetchRequest: pages, managedObjectContext: context)
    let books = ContentCopy<Book>(\.isbn)
    byPages.delegate = books
    try byPages.performFetch()
    books.take(byPages)
    byPages.fetchedObjects?.first { $0.isbn == "3" }?.pages = 20
    context.processPendingChanges()
    #expect(try byPages.fetchedObjects == context.fetch(pages))
    #expect(books.takeCalls().contains { $0.hasPrefix("move 3 ") })
  }
}

/// The orders of books, in every form.
private enum ComputedOrder: CaseIterable {
  case product, lowercase, sum, length, missing, ofAuthor

  func typed(ascending: Bool) -> any FetchSort {
    switch self {
    case .product: sort(ascending) { $0.price * $0.pages.asDouble }
    case .lowercase: sort(ascending) { $0.title.lowercased() }
    case .sum: sort(ascending) { $0.author.books.sum { $0.pages } }
    case .length: sort(ascending) { $0.title.count + $0.author.name.count }
    case .missing: sort(ascending) { $0.year - 1990 }
    case .ofAuthor: sort(ascending) { $0.author.books.count }
    }
  }

  private func sort(_ ascending: Bool, _ value: (ObjectQuery<Book>) -> some RowColumn) -> Sort<Book> {
    ascending ? .ascending(by: value) : .descending(by: value)
  }

  func text(ascending: Bool) throws -> any FetchSort {
    let text =
      switch self {
      case .product: "price * pages"
      case .lowercase: "lowercase(title)"
      case .sum: "author.books.@sum.pages"
      case .length: "length(title) + length(author.name)"
      case .missing: "year - 1990"
      case .ofAuthor: "author.books.@count"
      }
    return try ComputedSort(text, ascending: ascending)
  }

  /// The value of an object's properties; nil if it is missing.
  func value(_ book: Book) -> OrderValue? {
    switch self {
    case .product: OrderValue(number: book.price * Double(book.pages))
    case .lowercase: OrderValue(text: book.title.lowercased())
    case .sum: OrderValue(number: Double(book.author?.books.reduce(0) { $0 + $1.pages } ?? 0))
    case .length: book.author.map { OrderValue(number: Double(book.title.count + $0.name.count)) }
    case .missing: book.year.map { OrderValue(number: Double($0 - 1990)) }
    case .ofAuthor: OrderValue(number: Double(book.author?.books.count ?? 0))
    }
  }
}

private struct OrderValue: Comparable {
  var number = 0.0
  var text = ""

  static func < (left: OrderValue, right: OrderValue) -> Bool {
    left.number != right.number ? left.number < right.number : left.text < right.text
  }
}
