import Foundation
import GraphTestSupport
import Heartwood
import HeartwoodFaults
import Testing

@Suite struct `Orders by locale` {
  private let container: PersistentContainer
  private let context: ManagedObjectContext
  private let texts = [
    "Track 10", "Track 2", "track 1", "\u{C9}lan", "elan", "Elan", "\u{E9}t\u{E9}", "Zoo", "apple", "Apple",
    "a b", "ab", "", "2", "10",
  ]

  init() throws {
    container = try makeLibrary()
    context = container.newBackgroundContext()
  }

  private typealias Compare = @Sendable (String, String) -> ComparisonResult

  private static let orders: [(ComparisonOptions, Compare)] = [
    (.localizedStandard, { $0.localizedStandardCompare($1) }), (.localized, { $0.localizedCompare($1) }),
    ([.localized, .caseInsensitive], { $0.localizedCaseInsensitiveCompare($1) }),
  ]

  // FET-39
  @Test func `texts are in the order of the locale, with windows, unsaved changes and in live results`()
    throws
  {
    var random = SplitMix64(seed: 4)
    for number in 0..<60 {
      context.makeBook("\(number)", texts.randomElement(using: &random) ?? "", pages: Int64(number))
      if number == 40 { try context.save() }
    }
    for (options, compare) in Self.orders {
      for ascending in [true, false] {
        let request = FetchRequest<Book>()
        request.sortDescriptors = [
          NamedSort("title", ascending: ascending, options: options), NamedSort("pages"),
        ]
        let sorted = try context.fetch(Book.self).sorted { left, right in
          let order = compare(left.title, right.title).rawValue * (ascending ? 1 : -1)
          return order != 0 ? order < 0 : left.pages < right.pages
        }
        #expect(try context.fetch(request) == sorted)
        request.fetchLimit = 7
        request.fetchOffset = 5
        #expect(try context.fetch(request) == Array(sorted[5..<12]))
        let rows = try context.fetchRows(
          Book.self, columns: { $0.pages },
          sort: {
            [
              ascending ? .ascending($0.title, options) : .descending($0.title, options),
              .ascending($0.pages),
            ]
          })
        #expect(rows.compactMap(\.self) == sorted.map(\.pages))
        let live = FetchRequest<Book>()
        live.sortDescriptors = request.sortDescriptors
        let controller = FetchedResultsController(fetchRequest: live, managedObjectContext: context)
        try controller.performFetch()
        #expect(controller.fetchedObjects == sorted)
      }
    }
    let controller = FetchedResultsController(
      fetchRequest: FetchRequest<Book>(
        where: { $0.pages >= 0 }, sort: [.ascending(\.title, .localizedStandard), .ascending(\.pages)]),
      managedObjectContext: context)
    let copy = ContentCopy<Book>(\.isbn)
    controller.delegate = copy
    try controller.performFetch()
    copy.take(controller)
    for number in 0..<60 {
      controller.fetchedObjects?.randomElement(using: &random)?.title = texts[number % texts.count]
      context.processPendingChanges()
    }
    #expect(try controller.fetchedObjects == context.fetch(controller.fetchRequest))
    #expect(copy.sections.flatMap(\.objects) == controller.fetchedObjects)
  }

  @Test func `no index gives the order of a locale, and the plan says so`() throws {
    for number in 0..<30 { context.makeBook("\(number)", "t\(number)") }
    try context.save()
    let plan = try context.plan(for: Book.self, sort: [.ascending(\.title, .localizedStandard)], limit: 3)
    #expect(
      plan.steps == [
        "scan: Book", "sort: title localizedStandard ascending, keeping the first 3", "limit: 3",
      ])
    #expect(
      try context.fetch(Book.self, sort: [.ascending(\.title, .localizedStandard)], limit: 3).map(\.title)
        == ["t0", "t1", "t2"])
    #expect(throws: HeartwoodError.self) {
      try context.fetch(Book.self, sort: [.ascending(\.pages, .localized)])
    }
  }

  @Test func `rows by the option l are in the order of a dictionary`() throws {
    for (number, text) in ["b", "B", "\u{E0}", "a", "A", "aa"].enumerated() {
      context.makeBook("\(number)", text)
    }
    try context.save()
    let rows = try context.fetchRows(
      Book.self, columns: { ($0.title, RowFunction.count()) },
      sort: { [.ascending($0.title, .localeSensitive)] })
    let objects = try context.fetch(Book.self, sort: [.ascending(\.title, .localeSensitive)])
    #expect(rows.map { $0.0 } == objects.map(\.title))
    #expect(objects.map(\.title) == ["a", "A", "\u{E0}", "aa", "b", "B"])
  }
}
