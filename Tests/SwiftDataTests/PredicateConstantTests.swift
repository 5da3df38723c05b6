import Foundation
import SwiftData
import Testing

/// Constants of predicates that are looked into, and predicates of several inputs.
extension PredicateTests {
  // SWD-23
  @Test func `predicates and expressions of several inputs in predicates`() throws {
    let later = #Predicate<Book, Int> { $0.year > $1 }
    let named = #Predicate<Book, Author, String> { book, author, text in
      author.name == text && book.year > 9
    }
    let sum = #Expression<Book, Int, Int> { $0.year + $1 }
    try check(#Predicate { later.evaluate($0, 30) }, 9)
    try check(#Predicate { later.evaluate($0, $0.pages - 60) })
    try check(#Predicate { book in book.author.flatMap { named.evaluate(book, $0, "Ada") } == true })
    try check(#Predicate { sum.evaluate($0, 5) > 40 }, 4)
    #expect(try later.evaluate(books[3], 2) && !later.evaluate(books[3], 3))
  }
}
