import HeartwoodFaults

/// A reference model of a library in dictionaries, computed without a graph.
struct GraphModel: Equatable {
  struct Shelf: Equatable {
    var height: Int64?
    var books: [String] = []
  }

  struct Book: Equatable {
    var title = ""
    var pages: Int32 = 7
    var scan: Scan?
    var shelf: String?
    var subjects: Set<String> = []
    var citations: [String] = []
  }

  /// A number of equal bytes.
  struct Scan: Equatable {
    let count: Int
    let byte: UInt8
  }

  var shelves: [String: Shelf] = [:]
  var books: [String: Book] = [:]
  var subjects: Set<String> = []
  /// The book of each reader's loan.
  var loans: [String: String] = [:]

  // MARK: Changes of several objects

  mutating func move(_ book: String, to shelf: String?) {
    if let old = books[book]?.shelf { shelves[old]?.books.removeAll { $0 == book } }
    books[book]?.shelf = shelf
    if let shelf { shelves[shelf]?.books.append(book) }
  }

  mutating func renameBook(_ isbn: String, to new: String) {
    books[new] = books.removeValue(forKey: isbn)
    for key in books.keys { books[key]?.citations.replace(isbn, by: new) }
    for key in shelves.keys { shelves[key]?.books.replace(isbn, by: new) }
    for (reader, book) in loans where book == isbn { loans[reader] = new }
  }

  mutating func renameSubject(_ name: String, to new: String) {
    subjects.remove(name)
    subjects.insert(new)
    for key in books.keys where books[key]?.subjects.remove(name) != nil { books[key]?.subjects.insert(new) }
  }

  mutating func deleteBook(_ isbn: String) {
    move(isbn, to: nil)
    books[isbn] = nil
    loans = loans.filter { $0.value != isbn }
    for key in books.keys { books[key]?.citations.removeAll { $0 == isbn } }
  }

  mutating func deleteShelf(_ code: String) {
    for book in shelves[code]?.books ?? [] { deleteBook(book) }
    shelves[code] = nil
  }

  mutating func deleteSubject(_ name: String) {
    subjects.remove(name)
    for key in books.keys { books[key]?.subjects.remove(name) }
  }

  // MARK: Text form

  /// The lines of `GraphFacts` for a context with the same contents.
  var lines: [String] { shelfLines + bookLines + subjectLines + loanLines }

  private var shelfLines: [String] {
    shelves.sorted { $0.key < $1.key }.map { code, shelf in
      "shelf \(code), \(shelf.height.map { "\($0)" } ?? "no height"): \(shelf.books)"
    }
  }

  private var bookLines: [String] {
    books.sorted { $0.key < $1.key }.map { isbn, book in
      "book \(isbn) \(book.title), \(book.pages) pages, "
        + "scan \(book.scan.map { "\($0.count)×\($0.byte)" } ?? "none"), on \(book.shelf ?? "no shelf"), "
        + "lent to \(loans.filter { $0.value == isbn }.keys.sorted()), about \(book.subjects.sorted()), "
        + "cites \(book.citations), cited by \(citing(isbn))"
    }
  }

  private var subjectLines: [String] {
    subjects.sorted().map { name in
      "subject \(name): \(books.filter { $0.value.subjects.contains(name) }.keys.sorted())"
    }
  }

  private var loanLines: [String] {
    loans.sorted { $0.key < $1.key }.map { "loan to \($0.key) of \($0.value)" }
  }

  private func citing(_ isbn: String) -> [String] {
    books.filter { $0.value.citations.contains(isbn) }.keys.sorted()
  }
}

extension [String] {
  fileprivate mutating func replace(_ old: String, by new: String) { self = map { $0 == old ? new : $0 } }
}
