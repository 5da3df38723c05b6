import Foundation
import Observation
import SwiftData
import Synchronization
import Testing

struct ObserverTests {
  /// Whether a closure's reads change when something is done.
  private func changes(_ read: () -> Void, _ body: () throws -> Void) rethrows -> Bool {
    let changed = Mutex(false)
    withObservationTracking(read) { changed.withLock { $0 = true } }
    try body()
    return changed.withLock { $0 }
  }

  // SWD-01
  @Test func `properties of models are observed, free or in a context`() throws {
    let book = Book(title: "T", year: 1)
    #expect(
      changes {
        _ = book.title
      } _: {
        book.title = "U"
      })
    #expect(
      !changes {
        _ = book.title
      } _: {
        book.year = 2
      })
    let context = try Library.context()
    #expect(
      changes {
        _ = book.title
      } _: {
        context.insert(book)
      })
    #expect(
      changes {
        _ = book.title
      } _: {
        book.title = "V"
      })
    #expect(
      changes {
        _ = book.author
      } _: {
        book.author = Author(name: "A")
      })
    let author = try #require(book.author)
    #expect(
      changes {
        _ = author.books
      } _: {
        book.author = nil
      })
    try context.save()
    #expect(
      try changes {
        _ = book.title
      } _: {
        let other = ModelContext(context.container)
        let seen = try #require(try other.fetch(FetchDescriptor<Book>()).first)
        seen.title = "W"
        try other.save()
        context.processPendingChanges()
      })
    #expect(book.title == "W")
  }

  // SWD-43
  @Test func `results follow changes of the context and of others`() throws {
    let context = try Library.context()
    let results = try ResultsObserver<Book, Never>(
      filterBy: #Predicate { $0.year > 10 }, sortBy: [SortDescriptor(\.year)], modelContext: context)
    #expect(results.results.isEmpty && results.sections == nil)
    let book = Book(title: "T", year: 20)
    #expect(
      changes {
        _ = results.results
      } _: {
        context.insert(book)
        context.insert(Book(title: "Old", year: 1))
        context.processPendingChanges()
      })
    #expect(results.results.map(\.year) == [20])
    try context.save()
    let other = ModelContext(context.container)
    other.insert(Book(title: "N", year: 15))
    try other.save()
    context.processPendingChanges()
    #expect(results.results.map(\.year) == [15, 20])
    book.year = 3
    context.processPendingChanges()
    #expect(results.results.map(\.title) == ["N"])
    results.filterBy = nil
    #expect(results.results.map(\.year) == [1, 3, 15])
    results.sortBy = [SortDescriptor(\.year, order: .reverse)]
    #expect(results.results.map(\.year) == [15, 3, 1])
  }

  // SWD-43
  @Test func `results in sections`() throws {
    let context = try Library.context()
    for (title, year) in [("b", 2), ("a", 1), ("b", 1), ("c", 9)] {
      context.insert(Book(title: title, year: year))
    }
    let results = try ResultsObserver<Book, String>(
      filterBy: nil, sortBy: [SortDescriptor(\.year)], sectionBy: \.title, modelContext: context)
    let sections = try #require(results.sections)
    #expect(sections.map(\.title) == ["a", "b", "c"] && sections[1].map(\.year) == [1, 2])
    #expect(sections[sectionTitle: "c"]?.count == 1 && sections[sectionTitle: "x"] == nil)
  }

  // SWD-44
  @Test func `an observer of the history counts what concerns it`() async throws {
    let container = try Library.container()
    let observer = try HistoryObserver(
      observedModels: [Author.self], authors: ["me"], modelContainer: container)
    let context = ModelContext(container)
    context.author = "me"
    context.insert(Author(name: "A"))
    try context.save()
    while observer.eventCounter == 0 { await Task.yield() }
    let count = observer.eventCounter
    context.insert(Node("N"))
    try context.save()
    context.author = "other"
    context.insert(Author(name: "B"))
    try context.save()
    let all: [DefaultHistoryTransaction] = try context.fetchHistory()
    let last = try #require(all.last)
    while (observer.historyTokens.values.first as? DefaultHistoryToken) != last.token { await Task.yield() }
    #expect(observer.eventCounter == count)
  }
}
