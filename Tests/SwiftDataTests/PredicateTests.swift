import Foundation
import SwiftData
import Testing

/// Each predicate gives in the store what it gives for the models in memory.
struct PredicateTests {
  let context: ModelContext
  let books: [Book]

  init() throws {
    context = try Library.context()
    let authors = ["Ada", "Bert", "Ärger"].map { Author(name: $0) }
    for author in authors { context.insert(author) }
    var books: [Book] = []
    for year in 0..<40 {
      let book = Book(title: ["Alpha", "beta", "Gämma", "delta dawn", ""][year % 5], year: year)
      book.rating = year % 4 == 0 ? nil : Double(year % 7) / 2
      book.pages = 50 + year * 7 % 100
      book.price = Decimal(year) / 10
      book.author = year % 6 == 0 ? nil : authors[year % 3]
      book.summary = year % 3 == 0 ? nil : "About \(year)"
      if year % 5 == 1 { book.shelves = [Shelf("S\(year % 2)")] }
      context.insert(book)
      books.append(book)
    }
    try context.save()
    self.books = books
  }

  func check(
    _ predicate: Predicate<Book>, _ count: Int? = nil, sourceLocation: SourceLocation = #_sourceLocation
  ) throws {
    let found = try ModelContext(context.container).fetch(FetchDescriptor(predicate: predicate))
    let expected = try books.filter { try predicate.evaluate($0) }
    #expect(Set(found.map(\.year)) == Set(expected.map(\.year)), sourceLocation: sourceLocation)
    #expect(
      try context.fetchCount(FetchDescriptor(predicate: predicate)) == expected.count,
      sourceLocation: sourceLocation)
    #expect(
      !expected.isEmpty && expected.count < books.count, "it tells nothing apart",
      sourceLocation: sourceLocation)
    if let count { #expect(expected.count == count, sourceLocation: sourceLocation) }
  }

  // SWD-23
  @Test func `comparisons`() throws {
    let wanted = 7
    let limit: Double? = 1.5
    try check(#Predicate { $0.year == wanted }, 1)
    try check(#Predicate { $0.year != wanted })
    try check(#Predicate { $0.year < 7 })
    try check(#Predicate { $0.year <= 7 })
    try check(#Predicate { 7 > $0.year })
    try check(#Predicate { $0.year >= 30 })
    try check(#Predicate { $0.title == "beta" })
    try check(#Predicate { $0.title > "b" })
    try check(#Predicate { $0.rating == 1.5 })
    try check(#Predicate { $0.rating == limit })
    try check(#Predicate { $0.rating == nil })
    try check(#Predicate { $0.rating != nil && $0.rating! > 1 })
    try check(#Predicate { $0.price >= 2 })
    try check(#Predicate { $0.author == nil })
    try check(#Predicate { nil != $0.author })
    try check(#Predicate { $0.year == $0.pages - 50 })
  }

  // SWD-23
  @Test func `connectives, ternaries and conditions`() throws {
    try check(#Predicate { $0.year > 3 && $0.year < 20 || $0.title == "" })
    try check(#Predicate { !($0.year > 3) })
    try check(#Predicate { !$0.title.isEmpty && ($0.year > 30 || $0.author == nil) })
    try check(#Predicate { $0.year > 20 ? $0.title == "beta" : $0.title == "Alpha" })
    try check(
      #Predicate { book in
        if book.year < 10 {
          return true
        } else if book.year > 30 {
          return book.title == ""
        } else {
          return false
        }
      })
    try check(
      #Predicate { book in
        if let rating = book.rating { return rating > 2 } else { return book.year == 0 }
      })
    try check(
      #Predicate { book in
        if let author = book.author, author.name == "Ada" { return book.year > 5 } else { return false }
      })
  }

  // SWD-23
  @Test func `ten terms`() throws {
    let (a, b, c) = (1, 2, 3)
    let predicate = #Predicate<Book> {
      $0.year == a || $0.year == b || $0.year == c || $0.year == 11 || $0.year == 12 || $0.title == "none"
        || $0.pages == 57 || $0.pages > 140 || $0.title == "About 5" || $0.author?.name == "Bert"
    }
    try check(predicate)
  }

  // SWD-23
  @Test func `optional chains and values in place of nil`() throws {
    try check(#Predicate { $0.author?.name == "Ada" })
    try check(#Predicate { $0.author?.name != "Ada" })
    try check(#Predicate { ($0.author?.name ?? "none") == "none" })
    try check(#Predicate { ($0.rating ?? 0) > 1 })
    try check(#Predicate { $0.summary?.contains("1") == true })
    try check(#Predicate { $0.summary?.contains("1") ?? false })
    try check(#Predicate { ($0.summary ?? "").starts(with: "About 1") })
    try check(#Predicate { $0.summary.flatMap { $0.contains("2") } == true })
    try check(#Predicate { $0.author?.books.count ?? 0 > 3 })
    try check(#Predicate { $0.author != nil && $0.author!.name == "Bert" })
  }

  private struct Filter: Sendable {
    var titles: [String]?
    var years: ClosedRange<Int>?
    var title: String?
  }

  // SWD-23
  @Test func `optional chains of constants`() throws {
    let titles: [String]? = ["beta", "Alpha"]
    let noTitles: [String]? = nil
    let filter: Filter? = Filter(titles: ["beta"], years: 3...9, title: "beta and Alpha")
    let ids: Set<PersistentIdentifier>? = Set(books.prefix(3).map(\.persistentModelID))
    try check(#Predicate { titles?.contains($0.title) == true }, 16)
    try check(#Predicate { titles?.contains($0.title) ?? true }, 16)
    try check(#Predicate { noTitles?.contains($0.title) ?? ($0.year == 2) }, 1)
    try check(#Predicate { noTitles?.contains($0.title) == true || $0.year == 2 }, 1)
    try check(#Predicate { filter?.titles?.contains($0.title) == true }, 8)
    try check(#Predicate { filter?.years?.contains($0.year) == true }, 7)
    try check(#Predicate { $0.title != "" && filter?.title?.contains($0.title) == true }, 16)
    try check(#Predicate { filter?.title?.isEmpty == false && $0.year < 3 }, 3)
    try check(#Predicate { ids?.contains($0.persistentModelID) ?? false }, 3)
  }

  // SWD-23
  @Test func `texts`() throws {
    let part = "A"
    try check(#Predicate { $0.title.contains("e") })
    try check(#Predicate { $0.title.contains(part) })
    try check(#Predicate { $0.title.localizedStandardContains("GAM") })
    try check(#Predicate { $0.title.localizedStandardContains(part) })
    try check(#Predicate { $0.title.starts(with: "del") })
    try check(#Predicate { $0.title.hasPrefix("del") })
    try check(#Predicate { $0.title.isEmpty })
    try check(#Predicate { $0.title.count > 5 })
    try check(#Predicate { $0.title.caseInsensitiveCompare("ALPHA") == .orderedSame })
    try check(#Predicate { $0.title.localizedCompare("c") == .orderedAscending })
  }

  // SWD-23
  @Test func `collections of constants, and ranges`() throws {
    let years = [3, 5, 99]
    let titles: Set<String> = ["beta", "Alpha"]
    let range = 5..<9
    let ids = books.prefix(3).map(\.persistentModelID)
    try check(#Predicate { years.contains($0.year) }, 2)
    try check(#Predicate { titles.contains($0.title) })
    try check(#Predicate { [1, 2].contains($0.year) }, 2)
    try check(#Predicate { range.contains($0.year) }, 4)
    try check(#Predicate { (5...9).contains($0.year) }, 5)
    try check(#Predicate { ids.contains($0.persistentModelID) }, 3)
  }

  // SWD-23
  @Test func `relationships`() throws {
    let shelf = "S1"
    let author = try #require(try context.fetch(FetchDescriptor<Author>()).first)
    let id = author.persistentModelID
    try check(#Predicate { $0.shelves.isEmpty })
    try check(#Predicate { !$0.shelves.isEmpty })
    try check(#Predicate { $0.shelves.count == 1 })
    try check(#Predicate { $0.shelves.contains { $0.name == shelf } })
    try check(#Predicate { $0.shelves.contains(where: { $0.name == "S0" }) })
    try check(#Predicate { book in book.shelves.allSatisfy { $0.name == "S1" && book.year > 4 } })
    try check(#Predicate { $0.shelves.filter { $0.name == "S1" }.count > 0 })
    try check(#Predicate { $0.author?.persistentModelID == id })
    try check(#Predicate { $0.author?.books.contains { $0.year == 1 } == true })
    let book = books[7].persistentModelID
    try check(#Predicate { $0.author?.id == id })
    try check(#Predicate { $0.id == book }, 1)
  }

  // SWD-23
  @Test func `arithmetic`() throws {
    try check(#Predicate { $0.year * 2 + 1 > 40 })
    try check(#Predicate { $0.year % 3 == 1 })
    try check(#Predicate { $0.year / 4 == 2 })
    try check(#Predicate { -$0.year < -20 })
    try check(#Predicate { ($0.rating ?? 0) / 2 > 0.7 })
  }

  // SWD-23
  @Test func `predicates in predicates, and expressions`() throws {
    let late = #Predicate<Book> { $0.year > 20 }
    let named = #Predicate<Author> { $0.name == "Ada" }
    let double = #Expression<Book, Int> { $0.year * 2 }
    try check(#Predicate { late.evaluate($0) && $0.title == "beta" })
    try check(#Predicate { !late.evaluate($0) })
    try check(#Predicate { $0.author.flatMap { named.evaluate($0) } == true })
    try check(#Predicate { double.evaluate($0) > 50 })
  }

  // SWD-23
  @Test func `enumerations, structures and raw values`() throws {
    let context = try Library.context()
    for index in 0..<6 {
      let value = Values()
      value.mood = index % 2 == 0 ? .good : .bad
      value.size = index < 3 ? .small : .large
      value.point = Point(x: Double(index), y: 0)
      value.address =
        index == 5 ? nil : Address(city: index < 2 ? "Bern" : "Basel", zip: index == 3 ? nil : index)
      context.insert(value)
    }
    try context.save()
    let mood = Mood.bad
    let moods: [Mood] = [.bad]
    func count(_ predicate: Predicate<Values>) throws -> Int {
      let all = try context.fetch(FetchDescriptor<Values>())
      let expected = try all.filter { try predicate.evaluate($0) }.count
      let found = try ModelContext(context.container).fetchCount(FetchDescriptor(predicate: predicate))
      #expect(found == expected)
      return found
    }
    #expect(try count(#Predicate { $0.mood == mood }) == 3)
    #expect(try count(#Predicate { $0.mood.rawValue == "good" }) == 3)
    #expect(try count(#Predicate { moods.contains($0.mood) }) == 3)
    #expect(try count(#Predicate { $0.size.rawValue > 1 }) == 3)
    #expect(try count(#Predicate { $0.point.x > 2 }) == 3)
    #expect(try count(#Predicate { $0.address?.city == "Bern" }) == 2)
    #expect(try count(#Predicate { $0.address == nil }) == 1)
    #expect(try count(#Predicate { $0.address?.zip == nil }) == 2)
  }

  /// As the documentation lists them.
  // SWD-23
  @Test func `what differs from a closure: no numbers, division by zero, and the empty text`() throws {
    let context = try Library.context()
    let book = Book(title: "Alpha", year: 1)
    book.rating = .nan
    context.insert(book)
    try context.save()
    let (zero, none) = (0, "")
    func count(_ predicate: Predicate<Book>) throws -> Int {
      try context.fetchCount(FetchDescriptor(predicate: predicate))
    }
    #expect(try count(#Predicate { $0.rating == $0.rating }) == 1)
    #expect(try count(#Predicate { $0.year / zero > 0 }) == 0)
    #expect(try count(#Predicate { $0.year / zero != 1 }) == 1)
    #expect(try count(#Predicate { $0.title.contains(none) }) == 0)
    #expect(try count(#Predicate { $0.title.localizedStandardContains(none) }) == 0)
  }

  /// Random conditions over random terms, seeded.
  // SWD-23
  @Test func `random conditions`() throws {
    var random = SeededGenerator(seed: 20_261_127)
    for _ in 0..<120 {
      let condition = RandomCondition(&random, depth: 3)
      let predicate = condition.predicate
      let found = try context.fetch(FetchDescriptor(predicate: predicate))
      #expect(Set(found.map(\.year)) == Set(books.filter(condition.holds).map(\.year)), "\(predicate)")
    }
  }
}

struct SeededGenerator: RandomNumberGenerator {
  private var state: UInt64
  init(seed: UInt64) { state = seed }
  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }
}

/// A condition as a predicate and as a closure.
struct RandomCondition {
  let predicate: Predicate<Book>
  let holds: (Book) -> Bool

  init(_ random: inout SeededGenerator, depth: Int) {
    let number = Int.random(in: 0..<40, using: &random)
    switch Int.random(in: 0..<(depth > 0 ? 17 : 14), using: &random) {
    case 0: (predicate, holds) = (#Predicate { $0.year < number }, { $0.year < number })
    case 1: (predicate, holds) = (#Predicate { $0.pages >= number + 50 }, { $0.pages >= number + 50 })
    case 2:
      let rating = Double(number % 8) / 2
      (predicate, holds) = (#Predicate { $0.rating == rating }, { $0.rating == rating })
    case 3: (predicate, holds) = (#Predicate { $0.rating == nil }, { $0.rating == nil })
    case 4: (predicate, holds) = (#Predicate { $0.author?.name == "Ada" }, { $0.author?.name == "Ada" })
    case 5: (predicate, holds) = (#Predicate { $0.title.contains("a") }, { $0.title.contains("a") })
    case 6:
      (predicate, holds) = (
        #Predicate { $0.shelves.contains { $0.name == "S1" } }, { $0.shelves.contains { $0.name == "S1" } }
      )
    case 7: (predicate, holds) = (#Predicate { $0.year % 5 == number % 5 }, { $0.year % 5 == number % 5 })
    case 8:
      (predicate, holds) = (#Predicate { ($0.summary ?? "x").count > 7 }, { ($0.summary ?? "x").count > 7 })
    case 9:
      let titles = ["beta", "", "Alpha"].dropFirst(number % 3)
      let list = Array(titles)
      (predicate, holds) = (#Predicate { list.contains($0.title) }, { list.contains($0.title) })
    case 10:
      (predicate, holds) = (
        #Predicate { ($0.author?.books.count ?? 12) > 11 }, { ($0.author?.books.count ?? 12) > 11 }
      )
    case 11:
      (predicate, holds) = (
        #Predicate { $0.author?.books.contains { $0.year == number } ?? true },
        { $0.author?.books.contains { $0.year == number } ?? true }
      )
    case 12:
      (predicate, holds) = (
        #Predicate { $0.author?.books.filter { $0.year > number }.isEmpty != false },
        { $0.author?.books.filter { $0.year > number }.isEmpty != false }
      )
    case 13:
      (predicate, holds) = (
        #Predicate { ($0.rating.flatMap { $0 > 1 ? 1 : 0 } ?? 2) == number % 3 },
        { ($0.rating.flatMap { $0 > 1 ? 1 : 0 } ?? 2) == number % 3 }
      )
    case 14:
      let inner = RandomCondition(&random, depth: depth - 1)
      let other = inner.predicate
      (predicate, holds) = (#Predicate { !other.evaluate($0) }, { !inner.holds($0) })
    case 15:
      let (one, two) = (
        RandomCondition(&random, depth: depth - 1), RandomCondition(&random, depth: depth - 1)
      )
      let (first, second) = (one.predicate, two.predicate)
      predicate = #Predicate { first.evaluate($0) && second.evaluate($0) }
      holds = { one.holds($0) && two.holds($0) }
    default:
      let (one, two) = (
        RandomCondition(&random, depth: depth - 1), RandomCondition(&random, depth: depth - 1)
      )
      let (first, second) = (one.predicate, two.predicate)
      predicate = #Predicate { first.evaluate($0) || second.evaluate($0) }
      holds = { one.holds($0) || two.holds($0) }
    }
  }
}
