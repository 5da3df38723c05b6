import Foundation
import Heartwood
import HeartwoodEngine
import HeartwoodFaults
import HeartwoodFiles

/// Reproducible saves of a library: save `n` depends only on the seed, on `n`, and on the result of the
/// previous saves.
struct VictimGraph {
  let seed: UInt64

  static func open(_ path: String) throws -> PersistentContainer {
    try GraphSession.open(PosixFileSystem(), at: path, options: VictimKind.graph.options, isBuffered: false)
  }

  func step(_ number: Int) -> GraphStep {
    GraphStep("save \(number)") { context in
      var random = SplitMix64(seed: seed &+ UInt64(number) &* 0x1_0001)
      try counter(context).height = Int64(number)
      let shelf = try GraphWorkload.shelf("counter", context)
      let book = GraphWorkload.makeBook("\(number)", in: context)
      book.shelf = shelf
      book.scan = Data(repeating: UInt8(truncatingIfNeeded: number), count: random.below(2000))
      let loan = Loan(context: context)
      loan.reader = "reader \(number)"
      loan.book = book
      try change(&random, book, shelf, context)
    }
  }

  private func change(
    _ random: inout SplitMix64, _ book: Book, _ shelf: Shelf, _ context: ManagedObjectContext
  ) throws {
    let books = try context.fetch(Book.self, sort: [.ascending(\.isbn)])
    book.citations = [random.pick(books), book]
    switch random.below(4) {
    case 0:
      let subject = Subject(context: context)
      subject.name = "subject of \(book.isbn)"
      subject.books = Set(books.prefix(3))
    case 1: shelf.books = shelf.books.reversed()
    case 2: random.pick(books).title = "changed with \(book.isbn)"
    default: break
    }
    // Limits the number of books, so that a check of all of them stays fast.
    if books.count > 12 { for old in books.prefix(6) where old !== book { context.delete(old) } }
  }

  private func counter(_ context: ManagedObjectContext) throws -> Shelf {
    if let shelf = try context.fetch(Shelf.self, where: { $0.code == "counter" }).first { return shelf }
    let shelf = Shelf(context: context)
    shelf.code = "counter"
    return shelf
  }

  /// The number of saves in a store, derived from its contents.
  func count(in container: PersistentContainer) throws -> Int {
    let context = container.newBackgroundContext()
    return try context.performAndWait {
      let shelf = try context.fetch(Shelf.self, where: { $0.code == "counter" }).first
      return shelf?.height.map(Int.init) ?? 0
    }
  }
}
