import Foundation
import Heartwood
import HeartwoodFaults

/// One change of a library, applied to its model and to a context.
enum GraphEdit {
  case addShelf(String, height: Int64?)
  case addBook(String, shelf: String?)
  case addSubject(String)
  case addLoan(String, of: String)
  case describe(String, title: String, pages: Int32)
  case scan(String, GraphModel.Scan?)
  case move(String, to: String?)
  case arrange(String, [String])
  case cite(String, [String])
  case classify(String, Set<String>)
  case renameBook(String, to: String)
  case renameSubject(String, to: String)
  case deleteShelf(String)
  case deleteBook(String)
  case deleteSubject(String)
  case deleteLoan(String)

  var words: String {
    switch self {
    // Sorted, because the order in which a set is written can differ between runs.
    case .classify(let isbn, let names): "classify(\(isbn), \(names.sorted()))"
    default: "\(self)"
    }
  }

  func apply(to model: inout GraphModel) {
    switch self {
    case .addShelf(let code, let height): model.shelves[code] = .init(height: height)
    case .addBook(let isbn, let shelf):
      model.books[isbn] = .init(title: "Title of \(isbn)")
      model.move(isbn, to: shelf)
    case .addSubject(let name): model.subjects.insert(name)
    case .addLoan(let reader, let isbn): model.loans[reader] = isbn
    case .describe(let isbn, let title, let pages):
      model.books[isbn]?.title = title
      model.books[isbn]?.pages = pages
    case .scan(let isbn, let scan): model.books[isbn]?.scan = scan
    case .move(let isbn, let shelf): model.move(isbn, to: shelf)
    case .arrange(let code, let books): model.shelves[code]?.books = books
    case .cite(let isbn, let cited): model.books[isbn]?.citations = cited
    case .classify(let isbn, let subjects): model.books[isbn]?.subjects = subjects
    case .renameBook(let isbn, let new): model.renameBook(isbn, to: new)
    case .renameSubject(let name, let new): model.renameSubject(name, to: new)
    case .deleteShelf(let code): model.deleteShelf(code)
    case .deleteBook(let isbn): model.deleteBook(isbn)
    case .deleteSubject(let name): model.deleteSubject(name)
    case .deleteLoan(let reader): model.loans[reader] = nil
    }
  }

  /// Applies the edit without reading properties, because their read errors are thrown only by the next
  /// fetch.
  func apply(to context: ManagedObjectContext) throws {
    switch self {
    case .addShelf, .addBook, .addSubject, .addLoan: try add(to: context)
    case .deleteShelf, .deleteBook, .deleteSubject, .deleteLoan: try delete(from: context)
    default: try change(in: context)
    }
  }

  private func add(to context: ManagedObjectContext) throws {
    switch self {
    case .addShelf(let code, let height):
      let shelf = Shelf(context: context)
      shelf.code = code
      shelf.height = height
    case .addBook(let isbn, let shelf):
      let shelf = try shelf.map { try GraphWorkload.shelf($0, context) }
      let book = GraphWorkload.makeBook(isbn, in: context)
      if let shelf { book.shelf = shelf }
    case .addSubject(let name): Subject(context: context).name = name
    case .addLoan(let reader, let isbn):
      let book = try GraphWorkload.book(isbn, context)
      let loan = Loan(context: context)
      loan.reader = reader
      loan.book = book
    default: break
    }
  }

  private func delete(from context: ManagedObjectContext) throws {
    switch self {
    case .deleteShelf(let code): context.delete(try GraphWorkload.shelf(code, context))
    case .deleteBook(let isbn): context.delete(try GraphWorkload.book(isbn, context))
    case .deleteSubject(let name): context.delete(try GraphWorkload.subject(name, context))
    case .deleteLoan(let reader):
      for loan in try context.fetch(Loan.self, where: { $0.reader == reader }) { context.delete(loan) }
    default: break
    }
    context.processPendingChanges()
  }

  private func change(in context: ManagedObjectContext) throws {
    func books(_ codes: [String]) throws -> [Book] { try codes.map { try GraphWorkload.book($0, context) } }
    switch self {
    case .describe(let isbn, let title, let pages):
      let book = try GraphWorkload.book(isbn, context)
      (book.title, book.pages) = (title, pages)
    case .scan(let isbn, let scan):
      try GraphWorkload.book(isbn, context).scan = scan.map { Data(repeating: $0.byte, count: $0.count) }
    case .move(let isbn, let shelf):
      let shelf = try shelf.map { try GraphWorkload.shelf($0, context) }
      try GraphWorkload.book(isbn, context).shelf = shelf
    case .arrange(let code, let isbns): try GraphWorkload.shelf(code, context).books = try books(isbns)
    case .cite(let isbn, let cited): try GraphWorkload.book(isbn, context).citations = try books(cited)
    case .classify(let isbn, let names):
      let subjects = try names.sorted().map { try GraphWorkload.subject($0, context) }
      try GraphWorkload.book(isbn, context).subjects = Set(subjects)
    case .renameBook(let isbn, let new): try GraphWorkload.book(isbn, context).isbn = new
    case .renameSubject(let name, let new): try GraphWorkload.subject(name, context).name = new
    default: break
    }
  }
}

extension SplitMix64 {
  /// Draws a change that is possible in this model; nil if the drawn one is not.
  mutating func drawEdit(of model: GraphModel, _ number: Int) -> GraphEdit? {
    let isbns = model.books.keys.sorted()
    let (shelves, subjects) = (model.shelves.keys.sorted(), model.subjects.sorted())
    switch below(100) {
    case 0..<8:
      return unused("s", 8, in: shelves).map {
        .addShelf($0, height: below(2) == 0 ? nil : Int64(below(300)))
      }
    case 8..<30: return unused("b", 40, in: isbns).map { .addBook($0, shelf: any(shelves)) }
    case 30..<35: return unused("t", 12, in: subjects).map { .addSubject($0) }
    case 35..<45: return any(isbns).map { .addLoan("r\(number)", of: $0) }
    case 45..<55:
      return any(isbns).map { .describe($0, title: "Title \(number % 20)", pages: Int32(below(900))) }
    case 55..<60: return any(isbns).map { .scan($0, drawScan()) }
    case 60..<66: return drawMove(model, isbns, shelves)
    case 66..<71:
      return any(shelves).map { .arrange($0, (model.shelves[$0]?.books ?? []).shuffled(using: &self)) }
    case 71..<77: return any(isbns).map { .cite($0, Array(isbns.shuffled(using: &self).prefix(below(5)))) }
    case 77..<83:
      return any(isbns).map { .classify($0, Set(subjects.shuffled(using: &self).prefix(below(4)))) }
    case 83..<86:
      guard let isbn = any(isbns) else { return nil }
      return unused("b", 40, in: isbns).map { .renameBook(isbn, to: $0) }
    case 86..<88:
      guard let name = any(subjects) else { return nil }
      return unused("t", 12, in: subjects).map { .renameSubject(name, to: $0) }
    case 88..<90: return any(shelves).map { .deleteShelf($0) }
    case 90..<95: return any(isbns).map { .deleteBook($0) }
    case 95..<97: return any(subjects).map { .deleteSubject($0) }
    default: return any(model.loans.keys.sorted()).map { .deleteLoan($0) }
    }
  }

  private mutating func any(_ names: [String]) -> String? { names.isEmpty ? nil : pick(names) }

  private mutating func unused(_ prefix: String, _ count: Int, in names: [String]) -> String? {
    let name = "\(prefix)\(below(count))"
    return names.contains(name) ? nil : name
  }

  private mutating func drawScan() -> GraphModel.Scan? {
    switch below(5) {
    case 0: nil
    case 1: .init(count: 4000 + below(20_000), byte: UInt8(1 + below(200)))
    default: .init(count: 1 + below(300), byte: UInt8(1 + below(200)))
    }
  }

  private mutating func drawMove(_ model: GraphModel, _ isbns: [String], _ shelves: [String]) -> GraphEdit? {
    guard let isbn = any(isbns) else { return nil }
    let goal = below(4) == 0 ? nil : any(shelves)
    return goal == model.books[isbn]?.shelf ? nil : .move(isbn, to: goal)
  }
}
