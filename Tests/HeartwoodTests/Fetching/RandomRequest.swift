import Foundation
import GraphTestSupport
import Heartwood
import HeartwoodFaults

/// One condition on books in three forms: for the store, in plain Swift, and as text.
struct BookTerm {
  let condition: (ObjectQuery<Book>) -> Condition
  let holds: (Book) -> Bool
  let text: String
}

/// One order of books, for the store and in plain Swift.
struct BookOrder {
  let sort: [Sort<Book>]
  /// Below zero, zero or above zero.
  let compare: (Book, Book) -> Int
  let text: String
}

/// A request for books made from random numbers, and its expected result.
struct RandomRequest {
  let terms: [BookTerm]
  let joinsByOr: Bool
  let order: BookOrder
  let limit: Int?
  let offset: Int

  init(_ random: inout SplitMix64, _ library: LibraryContents) {
    terms = (0..<Int.random(in: 0...3, using: &random)).map { _ in .random(&random, library) }
    joinsByOr = terms.count > 1 && Int.random(in: 0..<4, using: &random) == 0
    order = .random(&random)
    limit = Bool.random(using: &random) ? nil : Int.random(in: 1...12, using: &random)
    offset = Bool.random(using: &random) ? 0 : Int.random(in: 0...20, using: &random)
  }

  var request: FetchRequest<Book> {
    let request = FetchRequest<Book>()
    request.predicate = condition
    request.sortDescriptors = order.sort
    return request
  }

  /// The terms as one; nil if there are none.
  var condition: Condition? {
    let query = ObjectQuery<Book>()
    let conditions = terms.map { $0.condition(query) }
    return conditions.dropFirst().reduce(conditions.first) { whole, next in
      whole.map { joinsByOr ? $0 || next : $0 && next }
    }
  }

  /// The expected result within the window of the request.
  var windowed: FetchRequest<Book> {
    let request = request
    request.fetchLimit = limit ?? 0
    request.fetchOffset = offset
    return request
  }

  func holds(_ book: Book) -> Bool {
    if terms.isEmpty { return true }
    return joinsByOr ? terms.contains { $0.holds(book) } : terms.allSatisfy { $0.holds(book) }
  }

  func window(_ count: Int) -> Range<Int> {
    let start = min(offset, count)
    return start..<min(count, start + (limit ?? count))
  }

  var text: String {
    let joined = terms.map(\.text).joined(separator: joinsByOr ? " || " : " && ")
    return "\(joined) sort \(order.text) limit \(limit.map(String.init) ?? "none") offset \(offset)"
  }
}

/// The properties that random conditions can name.
struct LibraryContents {
  var authors: [Author] = []
  var subjects: [Subject] = []
  var books: [Book] = []
}

extension BookTerm {
  static func random(_ random: inout SplitMix64, _ library: LibraryContents) -> BookTerm {
    switch Int.random(in: 0..<14, using: &random) {
    case 0: isbn("\(Int.random(in: 0..<200, using: &random))")
    case 1: title(.random(&random))
    case 2: titlePrefix(String(String.random(&random).prefix(1)))
    case 3: year(Int64.random(in: 1990...2010, using: &random))
    case 4: years(Int64.random(in: 1990...2010, using: &random))
    case 5: noYear
    case 6: listedYears((0..<3).map { _ in Int64.random(in: 1990...2010, using: &random) })
    case 7: price(Double(Int.random(in: 0..<20, using: &random)))
    case 8: pages(Int64.random(in: 0..<400, using: &random))
    case 9: lent
    case 10: author(library.authors.randomElement(using: &random))
    case 11: authorName("A\(Int.random(in: 0..<8, using: &random))")
    case 12: subject(library.subjects.randomElement(using: &random))
    default: subjectLabel("S\(Int.random(in: 0..<5, using: &random))")
    }
  }

  static func isbn(_ value: String) -> BookTerm {
    BookTerm(condition: { $0.isbn == value }, holds: { $0.isbn == value }, text: "isbn == \(value)")
  }
  static func title(_ value: String) -> BookTerm {
    BookTerm(condition: { $0.title == value }, holds: { $0.title == value }, text: "title == \(value)")
  }
  static func titlePrefix(_ value: String) -> BookTerm {
    BookTerm(
      // The empty text begins no text.
      condition: { $0.title.hasPrefix(value) }, holds: { !value.isEmpty && $0.title.hasPrefix(value) },
      text: "title prefix \(value)")
  }
  static func year(_ value: Int64) -> BookTerm {
    BookTerm(condition: { $0.year == value }, holds: { $0.year == value }, text: "year == \(value)")
  }
  static func years(_ start: Int64) -> BookTerm {
    let range = start...(start + 4)
    return BookTerm(
      condition: { $0.year >= start && $0.year <= start + 4 },
      holds: { $0.year.map(range.contains) ?? false },
      text: "year in \(range)")
  }
  static var noYear: BookTerm {
    BookTerm(condition: { $0.year == nil }, holds: { $0.year == nil }, text: "year == nil")
  }
  static func listedYears(_ values: [Int64]) -> BookTerm {
    BookTerm(
      condition: { values.contains($0.year) }, holds: { $0.year.map(values.contains) ?? false },
      text: "year in \(values)")
  }
  static func price(_ value: Double) -> BookTerm {
    BookTerm(condition: { $0.price < value }, holds: { $0.price < value }, text: "price < \(value)")
  }
  static func pages(_ value: Int64) -> BookTerm {
    BookTerm(condition: { $0.pages > value }, holds: { $0.pages > value }, text: "pages > \(value)")
  }
  static var lent: BookTerm {
    BookTerm(condition: { $0.isLent == true }, holds: { $0.isLent }, text: "is lent")
  }
  static func author(_ value: Author?) -> BookTerm {
    BookTerm(
      condition: { $0.author == value }, holds: { $0.author === value },
      text: "author == \(value?.name ?? "nil")")
  }
  static func authorName(_ value: String) -> BookTerm {
    BookTerm(
      condition: { $0.author.name == value }, holds: { $0.author?.name == value },
      text: "author.name == \(value)")
  }
  static func subject(_ value: Subject?) -> BookTerm {
    guard let value else { return lent }
    return BookTerm(
      condition: { $0.subjects.contains(value) }, holds: { $0.subjects.contains(value) },
      text: "subjects contain \(value.label)")
  }
  static func subjectLabel(_ value: String) -> BookTerm {
    BookTerm(
      condition: { $0.subjects.contains { $0.label == value } },
      holds: { $0.subjects.contains { $0.label == value } }, text: "subjects contain label \(value)")
  }
}

extension BookOrder {
  static func random(_ random: inout SplitMix64) -> BookOrder {
    let orders: [BookOrder] = [
      BookOrder(sort: [], compare: { _, _ in 0 }, text: "none"),
      BookOrder(sort: [.ascending(\.title)], compare: { order($0.title, $1.title) }, text: "title"),
      BookOrder(sort: [.descending(\.title)], compare: { order($1.title, $0.title) }, text: "title down"),
      BookOrder(sort: [.ascending(\.year)], compare: { order($0.year, $1.year) }, text: "year"),
      BookOrder(sort: [.descending(\.price)], compare: { order($1.price, $0.price) }, text: "price down"),
      BookOrder(
        sort: [.ascending(\.isLent), .descending(\.pages)],
        compare: { a, b in
          let first = order(a.isLent ? 1 : 0, b.isLent ? 1 : 0)
          return first != 0 ? first : order(b.pages, a.pages)
        }, text: "lent, pages down"),
      BookOrder(
        sort: [.ascending(\.author?.name)], compare: { order($0.author?.name, $1.author?.name) },
        text: "author's name"),
    ]
    return orders[Int.random(in: 0..<orders.count, using: &random)]
  }
}

private func order<Value: Comparable>(_ a: Value, _ b: Value) -> Int { a < b ? -1 : a == b ? 0 : 1 }

/// A missing value comes first.
private func order<Value: Comparable>(_ a: Value?, _ b: Value?) -> Int {
  switch (a, b) {
  case (nil, nil): 0
  case (nil, _): -1
  case (_, nil): 1
  case (let a?, let b?): order(a, b)
  }
}

extension String {
  /// A short title, one of few, so that many books share it.
  static func random(_ random: inout SplitMix64) -> String {
    let words = ["ash", "birch", "beech", "cedar", "élan", "elm", "fir", "Gum", "holly", "ivy", ""]
    return words[Int.random(in: 0..<words.count, using: &random)]
  }
}
