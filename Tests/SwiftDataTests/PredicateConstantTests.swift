import Foundation
import SwiftData
import Testing

/// Constants of predicates that are looked into, and predicates of several inputs.
extension PredicateTests {
  // SWD-23
  @Test func `constants that closures are applied to`() throws {
    let years = [3, 5, 99]
    try check(#Predicate { years.filter { $0 > 3 }.count == $0.year }, 1)
    try check(#Predicate { years.filter { $0 > 3 }.contains($0.year) }, 1)
    try check(#Predicate { years.contains { $0 == 99 } && $0.year == 1 }, 1)
    try check(#Predicate { years.max() ?? 0 > $0.pages }, 21)
    try check(#Predicate { (years.sorted { $0 > $1 }.last ?? 0) == $0.year }, 1)
  }

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

  // SWD-23
  @Test func `a test of a class beside other conditions`() throws {
    let context = try Library.context()
    let cars = [Car(name: "a", doors: 2), SportsCar(name: "b"), Car(name: "c", doors: 4)]
    for (index, car) in cars.enumerated() {
      car.wheels = index
      context.insert(car)
    }
    try context.save()
    let both = #Predicate<Vehicle> { $0 is SportsCar && $0.wheels == 1 }
    let either = #Predicate<Vehicle> { $0 is SportsCar || $0.wheels == 0 }
    #expect(try context.fetchCount(FetchDescriptor(predicate: both)) == 1)
    #expect(try context.fetchCount(FetchDescriptor(predicate: either)) == 2)
  }
}
