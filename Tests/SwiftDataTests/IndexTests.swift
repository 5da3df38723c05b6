import Foundation
import class Heartwood.ManagedObject
import Testing

@testable import SwiftData

private enum Town {
  struct Place: Codable {
    var zip = 0
    var street: String?
  }

  @Model final class Site {
    #Index<Site>([\.place.zip], [\.place.street, \.number])
    var number: Int
    var place = Place()
    init(_ number: Int, _ place: Place) { (self.number, self.place) = (number, place) }
  }
}

/// That fetches use the indexes of `#Index`, as the graph says how it would fetch.
struct IndexTests {
  private func plan<Model: PersistentModel>(
    _ descriptor: FetchDescriptor<Model>, _ context: ModelContext
  ) throws -> String {
    let request = try ModelFetch(descriptor, in: context).request(ManagedObject.self)
    return try context.objects.plan(for: request).steps.joined(separator: "\n")
  }

  // SWD-08
  @Test func `a fetch uses an index for equality, a range, a beginning and an order`() throws {
    let context = try Library.context()
    for year in 0..<200 { context.insert(Book(title: "Title \(year)", year: year)) }
    try context.save()
    let equal = FetchDescriptor<Book>(predicate: #Predicate { $0.title == "Title 7" })
    #expect(try plan(equal, context).contains("index") && context.fetch(equal).map(\.year) == [7])
    let range = FetchDescriptor<Book>(
      predicate: #Predicate { $0.year >= 10 && $0.year < 13 }, sortBy: [SortDescriptor(\.year)])
    #expect(try plan(range, context).contains("index") && context.fetch(range).map(\.year) == [10, 11, 12])
    let start = FetchDescriptor<Book>(predicate: #Predicate { $0.title.starts(with: "Title 19") })
    #expect(try plan(start, context).contains("index") && context.fetchCount(start) == 11)
    // No index has it.
    let pages = FetchDescriptor<Book>(predicate: #Predicate { $0.pages == 100 })
    #expect(try !plan(pages, context).contains("index") && context.fetchCount(pages) == 200)
  }

  // SWD-08
  @Test func `a fetch uses an index of parts of a structure`() throws {
    let context = try Library.context(of: Town.Site.self)
    for number in 0..<200 {
      context.insert(Town.Site(number, .init(zip: 3000 + number, street: "\(number % 9)")))
    }
    try context.save()
    let zip = FetchDescriptor<Town.Site>(predicate: #Predicate { $0.place.zip == 3007 })
    #expect(try plan(zip, context).contains("index") && context.fetch(zip).map(\.number) == [7])
    let street = FetchDescriptor<Town.Site>(
      predicate: #Predicate { $0.place.street == "3" }, sortBy: [SortDescriptor(\.number)])
    #expect(try plan(street, context).contains("index") && context.fetch(street).first?.number == 3)
  }

  // SWD-08
  @Test func `a fetch uses an index of areas for two ranges`() throws {
    let context = try Library.context()
    for x in 0..<15 {
      for y in 0..<15 { context.insert(Place("\(x) \(y)", Double(x), Double(y))) }
    }
    try context.save()
    // Two predicates and constants with a type: the compiler takes seconds for four comparisons of `Double` with whole numbers.
    let (south, north, west, east) = (3.0, 4.0, 7.0, 8.0)
    let latitudes = #Predicate<Place> { $0.latitude >= south && $0.latitude <= north }
    let area = FetchDescriptor<Place>(
      predicate: #Predicate { latitudes.evaluate($0) && $0.longitude >= west && $0.longitude <= east })
    let steps = try plan(area, context)
    #expect(steps.hasPrefix("ranges: ") && steps.contains("of the index"))
    #expect(try Set(context.fetch(area).map(\.name)) == ["3 7", "3 8", "4 7", "4 8"])
  }
}
