import Foundation
import GraphTestSupport
import HeartwoodFaults
import Testing

@testable import Heartwood
@testable import HeartwoodModel

/// Looks objects up by an indexed attribute, which needs no plan.
@Suite struct `Index look-ups` {
  let container: PersistentContainer
  let context: ManagedObjectContext

  init() throws {
    container = try makeLibrary()
    context = container.newBackgroundContext()
  }

  private func titles(_ isbn: String, limit: Int? = 1) throws -> [String] {
    try context.fetch(Book.self, where: { $0.isbn == isbn }, limit: limit).map(\.title)
  }

  @Test func `long values that begin alike find their own objects`() throws {
    let beginning = String(repeating: "x", count: 300)
    for end in ["a", "b", "c"] { context.makeBook(beginning + end, end) }
    try context.save()
    #expect(try titles(beginning + "b") == ["b"])
    #expect(try titles(beginning + "c", limit: nil) == ["c"])
    #expect(try titles(beginning) == [])
    #expect(try titles(beginning + "d") == [])
  }

  @Test func `an object of another entity is not found`() throws {
    context.makeBook("1", "a book")
    let comic = Comic(context: context)
    comic.isbn = "2"
    try context.save()
    #expect(try context.fetch(Comic.self, where: { $0.isbn == "1" }).isEmpty)
    #expect(try context.fetch(Comic.self, where: { $0.isbn == "2" }).count == 1)
    #expect(try context.fetch(Book.self, where: { $0.isbn == "2" }).first is Comic)
    let request = FetchRequest<Book>(where: { $0.isbn == "2" })
    request.includesSubentities = false
    #expect(try context.fetch(request).isEmpty)
  }

  @Test func `unsaved changes are seen, or left out if the request says so`() throws {
    let book = context.makeBook("1", "saved")
    try context.save()
    book.isbn = "2"
    #expect(try titles("2") == ["saved"])
    #expect(try titles("1") == [])
    let request = FetchRequest<Book>(where: { $0.isbn == "1" })
    request.includesPendingChanges = false
    #expect(try context.fetch(request).count == 1)
  }

  @Test func `a child finds what its parent has not saved`() throws {
    context.makeBook("1", "unsaved")
    let child = ManagedObjectContext(.privateQueue, parent: context)
    #expect(try child.performAndWait { try child.fetch(Book.self, where: { $0.isbn == "1" }).count } == 1)
  }

  @Test func `canonically equivalent texts are the same`() throws {
    context.makeBook("caf\u{E9}", "composed")
    try context.save()
    #expect(try titles("cafe\u{301}") == ["composed"])
  }

  @Test func `the first objects with a value are found, also if there are many`() throws {
    for number in 0..<100 { context.makeBook("\(number)", number % 4 == 0 ? "few" : "many") }
    try context.save()
    for (title, count) in [("few", 25), ("many", 75)] {
      let all = try context.fetch(Book.self).filter { $0.title == title }
      #expect(all.count == count)
      for limit in [nil, 1, 2, 24, 25, 64, 65, 200] {
        let found = try context.fetch(Book.self, where: { $0.title == title }, limit: limit)
        #expect(found == Array(all.prefix(limit ?? all.count)), "\(title), limit \(limit ?? 0)")
      }
    }
  }

  @Test func `a request without rows finds faults without rows`() throws {
    context.makeBook("1", "a")
    try context.save()
    context.reset()
    let request = FetchRequest<Book>(where: { $0.title == "a" })
    request.includesPropertyValues = false
    let found = try context.fetch(request)
    #expect(found.count == 1 && !found[0].hasRow)
    #expect(found.map(\.isbn) == ["1"])
  }

  @Test func `a request with groups is refused, as one that needs a plan`() throws {
    let request = FetchRequest<Book>(where: { $0.title == "a" })
    request.propertiesToGroupBy = ["title"]
    #expect(throws: HeartwoodError.self) { try context.fetch(request) }
  }

  @Test func `the least and greatest values of all objects are found, also of unsaved ones`() throws {
    var random = SplitMix64(seed: 86)
    for round in 0..<30 {
      for number in 0..<random.below(6) {
        let book = random.below(3) == 0 ? Comic(context: context) : Book(context: context)
        book.isbn = "\(round).\(number)"
        book.title = String(repeating: "x", count: random.below(3) * 120) + "\(random.below(40))"
        book.year = random.below(3) == 0 ? nil : Int64(random.below(80)) - 40
        book.price = Double(random.below(900)) / 8 - 50
      }
      for book in try context.fetch(Book.self) where random.below(4) == 0 { context.delete(book) }
      for isSaved in [false, true] {
        if isSaved { try context.save() }
        let books = try context.fetch(Book.self)
        let found = try context.fetchRows(
          Book.self,
          columns: { ($0.year.min(), $0.year.max(), $0.price.max(), $0.title.min(), $0.title.max()) })
        let place = "round \(round), saved \(isSaved)"
        #expect(found.count == 1, "\(place)")
        #expect(found[0].0 == books.compactMap(\.year).min(), "\(place)")
        #expect(found[0].1 == books.compactMap(\.year).max(), "\(place)")
        #expect(found[0].2 == books.map(\.price).max(), "\(place)")
        #expect(found[0].3 == books.map(\.title).min(), "\(place)")
        #expect(found[0].4 == books.map(\.title).max(), "\(place)")
        let prices = books.filter { $0 is Comic }.map(\.price)
        let ofComics = try context.fetchRows(Comic.self, columns: { ($0.price.min(), $0.price.max()) })
        #expect(ofComics[0].0 == prices.min() && ofComics[0].1 == prices.max(), "\(place)")
        let paged = try context.fetchRows(
          Book.self, columns: { ($0.pages.min(), $0.price.min()) }, limit: 1, offset: 1)
        #expect(paged.isEmpty, "\(place)")
      }
    }
  }

  @Test(arguments: [81, 82, 83] as [UInt64])
  func `values of all types find what a filter of all objects finds, in their order`(seed: UInt64) throws {
    var random = SplitMix64(seed: seed)
    let context = try PersistentContainer(
      name: "Samples", types: [Sample.self, SpecialSample.self], at: URL(fileURLWithPath: "/dev/null")
    ).newBackgroundContext()
    for round in 0..<8 {
      var samples = try context.fetch(Sample.self)
      for _ in 0..<60 {
        let isNew = samples.count < 60 || Bool.random(using: &random)
        let isSpecial = Int.random(in: 0..<4, using: &random) == 0
        let made = isNew ? isSpecial ? SpecialSample(context: context) : Sample(context: context) : nil
        if let made { samples.append(made) }
        guard let sample = made ?? samples.randomElement(using: &random), !sample.isDeleted else { continue }
        sample.setValues(&random)
        if Int.random(in: 0..<20, using: &random) == 0 { context.delete(sample) }
      }
      for isSaved in [false, true] {
        if isSaved { try context.save() }
        let all = try context.fetch(Sample.self)
        for _ in 0..<60 {
          let request = SampleRequest(&random)
          let expected = request.results(all)
          let place = "seed \(seed), round \(round), saved \(isSaved): \(request.text)"
          if isSaved {
            #expect(try context.fetch(request.request()) == expected, "\(place)")
          } else if request.limit == 0 {
            #expect(try Set(context.fetch(request.request())) == Set(expected), "\(place)")
          }
        }
      }
    }
  }
}

/// Has an index of each type of attribute.
private class Sample: ManagedObject {
  @Attribute(.indexed) var text: String?
  @Attribute(.indexed) var whole: Int64?
  @Attribute(.indexed) var middle: Int32 = 0
  @Attribute(.indexed) var small: Int16 = 0
  @Attribute(.indexed) var ratio: Double?
  @Attribute(.indexed) var part: Float = 0
  @Attribute(.indexed) var day: Date?
  @Attribute(.indexed) var isFlagged = false
  @Attribute(.indexed) var mark: UUID?

  static let texts: [String] =
    ["", "a", "A", "a\0b", "caf\u{E9}", "cafe\u{301}", "\u{212A}", "K"]
    + [0, 1, 2].map { String(repeating: "x", count: 250) + "\($0)" }
  static let ratios: [Double?] = [nil, 0, -0.0, 0.1, 1, 2, .infinity]
  static let marks = (UInt8(0)..<5).map { UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, $0)) }

  func setValues(_ random: inout SplitMix64) {
    text = Self.texts.randomElement(using: &random)
    whole = Bool.random(using: &random) ? nil : Int64.random(in: -2...20, using: &random)
    middle = Int32.random(in: 0...20, using: &random)
    small = Int16.random(in: 0...20, using: &random)
    ratio = Self.ratios.randomElement(using: &random) ?? nil
    part = [0, -0.0, 0.1, 1, 2].randomElement(using: &random) ?? 0
    day =
      [nil, Date(timeIntervalSinceReferenceDate: 0), Date(timeIntervalSinceReferenceDate: 1.5)]
      .randomElement(using: &random) ?? nil
    isFlagged = Bool.random(using: &random)
    mark = Self.marks.randomElement(using: &random)
  }
}

private final class SpecialSample: Sample {}

/// A request for samples with one value, and its expected result.
private struct SampleRequest {
  let name: String
  let value: (any PredicateArgument)?
  let holds: (Sample) -> Bool
  let isSpecial: Bool
  let includesSubentities: Bool
  let limit: Int

  init(_ random: inout SplitMix64) {
    isSpecial = Int.random(in: 0..<4, using: &random) == 0
    includesSubentities = Int.random(in: 0..<4, using: &random) > 0
    limit = Bool.random(using: &random) ? 0 : Int.random(in: 1...70, using: &random)
    (name, value, holds) = Self.term(&random)
  }

  private static func term(
    _ random: inout SplitMix64
  ) -> (String, (any PredicateArgument)?, (Sample) -> Bool) {
    let number = Int.random(in: 0...3, using: &random)
    switch Int.random(in: 0..<18, using: &random) {
    case 0...3:
      let text = Sample.texts.randomElement(using: &random)
      return ("text", text, { $0.text == text })
    case 4: return ("text", nil, { $0.text == nil })
    case 5: return ("whole", number, { $0.whole == Int64(number) })
    case 6: return ("whole", Double(number) + 0.5, { _ in false })
    case 7: return ("whole", Double(number), { $0.whole == Int64(number) })
    case 8: return ("middle", number, { $0.middle == number })
    case 9: return ("small", number, { $0.small == number })
    case 10: return ("small", 70_000 + number, { _ in false })
    case 11: return ("middle", Int64.max, { _ in false })
    case 12: return ("ratio", number, { $0.ratio == Double(number) })
    case 13: return ("ratio", number == 0 ? -0.0 : 0.1, { $0.ratio == (number == 0 ? 0 : 0.1) })
    case 14: return ("part", 0.1, { $0.part == 0.1 })
    case 15:
      let day = Date(timeIntervalSinceReferenceDate: Double(number) / 2)
      return ("day", day, { $0.day == day })
    case 16: return ("isFlagged", number > 1, { $0.isFlagged == (number > 1) })
    default:
      let mark = Sample.marks[number]
      return ("mark", mark, { $0.mark == mark })
    }
  }

  func request() throws -> FetchRequest<Sample> {
    let request = FetchRequest<Sample>()
    if isSpecial { request.entityName = "SpecialSample" }
    request.predicate = try FormatPredicate("%K == %@", name, value)
    request.includesSubentities = includesSubentities
    request.fetchLimit = limit
    return request
  }

  func results(_ all: [Sample]) -> [Sample] {
    let found = all.filter { sample in
      (isSpecial ? sample is SpecialSample : includesSubentities || !(sample is SpecialSample))
        && holds(sample)
    }
    return limit == 0 ? found : Array(found.prefix(limit))
  }

  var text: String {
    "\(name) == \(value.map { "\($0)" } ?? "nil") special \(isSpecial) subentities \(includesSubentities) limit \(limit)"
  }
}
