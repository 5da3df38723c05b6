import Foundation
import SwiftData
import Testing

/// Constants of predicates that are looked into, and predicates of several inputs.
extension PredicateTests {
  // SWD-23
  @Test func `values of constant dictionaries and lists`() throws {
    let numbers = ["beta": 1, "Alpha": 2, "": 3]
    let names = [3: "beta", 8: "delta dawn", 11: "none"]
    let list = [7, 5, 3]
    let known: [String: Int]? = numbers
    let places: [Int]? = Array(0..<9)
    let moods: [String: Mood] = ["beta": .bad, "Alpha": .good]
    try check(#Predicate { numbers[$0.title] == 2 }, 8)
    try check(#Predicate { numbers[$0.title] == nil }, 16)
    try check(#Predicate { numbers[$0.title] != nil }, 24)
    try check(#Predicate { numbers[$0.title, default: 7] > 2 }, 24)
    try check(#Predicate { names[$0.year, default: "x"] == $0.title }, 1)
    try check(#Predicate { (names[$0.year] ?? "x").count == 4 }, 2)
    try check(#Predicate { known?[$0.title] == 1 }, 8)
    try check(#Predicate { $0.year < 9 && places?[$0.year] == 5 }, 1)
    try check(#Predicate { moods[$0.title] == .bad }, 8)
    try check(#Predicate { $0.year < 3 && list[$0.year] == 5 }, 1)
  }

  // SWD-23
  @Test func `constants that would end the program count only where the constants before them ask for them`()
    throws
  {
    let none: String? = nil
    let (text, empty, list): (String?, [Int], [Int]) = ("beta", [], [3, 4])
    let (low, high, zero) = (5, 1, 0)
    try check(#Predicate { (none == nil || $0.title == none!) && $0.year < 5 }, 5)
    try check(#Predicate { $0.year < 5 && !(none != nil && $0.title != none!) }, 5)
    try check(#Predicate { none != nil ? $0.title == none! : $0.year < 5 }, 5)
    try check(#Predicate { $0.year < 3 && (none == nil || $0.title == none!) }, 3)
    try check(#Predicate { ((none == nil || $0.year < 0) || $0.title == none!) && $0.year < 5 }, 5)
    try check(#Predicate { $0.year < 5 && (none == nil || $0.year == none!.count + none!.count) }, 5)
    try check(#Predicate { $0.year < 5 && (empty.isEmpty || $0.year == empty[0]) }, 5)
    try check(#Predicate { list.isEmpty || $0.year == list[0] }, 1)
    try check(#Predicate { $0.year < 5 && (zero == 0 || $0.year > 10 / zero) }, 5)
    try check(#Predicate { $0.year < 5 && (low > high || (low...high).contains($0.year)) }, 5)
    try check(#Predicate { high > low || (high...low).contains($0.year) }, 5)
    try check(#Predicate { text == nil || $0.title == text! }, 8)
    try check(#Predicate { text == nil || $0.title.hasPrefix(text!) })
    try check(#Predicate { $0.title == text! }, 8)
    #expect(throws: (any Error).self) {
      try context.fetch(FetchDescriptor<Book>(predicate: #Predicate { $0.title == none! }))
    }
  }

  // SWD-23
  @Test func `values of a dictionary of a thousand keys`() throws {
    let squares = Dictionary(uniqueKeysWithValues: (0..<1000).map { ($0, $0 * $0) })
    try check(#Predicate { squares[$0.year] == 49 }, 1)
    try check(#Predicate { squares[$0.pages, default: 0] > 10_000 })
  }

  // SWD-23
  @Test func `ranges with one bound`() throws {
    let (late, early, first) = (30..., ..<5, ...4)
    let day = Date(timeIntervalSinceReferenceDate: 0)...
    try check(#Predicate { late.contains($0.year) }, 10)
    try check(#Predicate { early.contains($0.year) }, 5)
    try check(#Predicate { first.contains($0.year) }, 5)
    try check(#Predicate { (30...).contains($0.year) }, 10)
    try check(#Predicate { $0.rating.flatMap { (2.5...).contains($0) } == true })
    #expect(day.contains(Date()))
  }

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
