import Foundation
import GraphTestSupport
import HeartwoodFaults
import Testing

@testable import Heartwood

@Suite struct `Collections of related objects` {
  private func makeCompany(_ count: Int) throws -> (PersistentContainer, ManagedObjectContext, Company) {
    let container = try makeContainer()
    let writer = container.newBackgroundContext()
    let company = writer.makeCompany("A")
    for number in 0..<count { _ = writer.makePerson("P\(number)", in: company) }
    try writer.save()
    let context = container.newBackgroundContext()
    return (container, context, try #require(try context.fetch(Company.self).first))
  }

  @Test func `counting, testing and changing load no destination and no key`() throws {
    let (container, context, company) = try makeCompany(10)
    let ids = try context.fetchIdentifiers(Person.self)
    #expect(company.$people.count == 10 && !company.$people.isEmpty && company.$partners.isEmpty)
    #expect(company.hasFault(forRelationshipNamed: "people"))
    #expect(context.registeredObjects == [company])
    let (first, new) = (context.object(with: ids[0], as: Person.self), context.makePerson("New"))
    #expect(company.$people.contains(first) && !company.$people.contains(new) && first.isFault)
    company.$people.insert(first)
    company.$people.insert(new)
    company.$people.remove(first)
    #expect(company.hasFault(forRelationshipNamed: "people"))
    #expect(company.$people.contains(new) && !company.$people.contains(first))
    #expect(new.company === company && first.company == nil)
    #expect(company.$people.count == 10 && company.people.count == 10)
    try context.save()
    let other = container.newBackgroundContext()
    #expect(try other.count(Person.self, where: { $0.company != nil }) == 10)
  }

  @Test func `a many-to-many relationship is tested without loading it`() throws {
    let container = try makeContainer()
    let writer = container.newBackgroundContext()
    let (first, second) = (writer.makeCompany("A"), writer.makeCompany("B"))
    first.partners = [second]
    try writer.save()
    let context = container.newBackgroundContext()
    let companies = try context.fetch(Company.self, sort: [.ascending(\.code)])
    #expect(companies[0].$partners.contains(companies[1]) && companies[1].$partners.contains(companies[0]))
    #expect(!companies[0].$partners.contains(companies[0]))
    #expect(companies[0].hasFault(forRelationshipNamed: "partners"))
    companies[1].$partners.remove(companies[0])
    #expect(companies[0].$partners.isEmpty)
    try context.save()
    writer.refreshAllObjects()
    #expect(first.partners.isEmpty)
  }

  @Test func `an iteration makes one object at a time`() throws {
    let (_, context, company) = try makeCompany(10)
    var seen = 0
    for _ in company.$people {
      seen += 1
      #expect(context.anyObjectsInMemory.count == 1 + seen)
      if seen == 3 { break }
    }
  }

  @Test func `an array that is read after each change is not made again`() throws {
    let container = try PersistentContainer(
      name: "Albums", types: [Artist.self, Album.self, Track.self], at: URL(filePath: "/dev/null"))
    let context = container.newBackgroundContext()
    let album = Album(context: context)
    func storage() -> UnsafeRawPointer? { album.tracks.withUnsafeBytes { $0.baseAddress } }
    var (made, former): (Int, UnsafeRawPointer?) = (0, nil)
    for number in 0..<256 {
      Track(context: context).album = album
      #expect(album.tracks.count == number + 1)
      if storage() != former { made += 1 }
      former = storage()
    }
    // As often as its memory doubles.
    #expect(made < 20)
  }

  /// A key that counts how often keys are compared.
  private struct CountedKey: Hashable {
    final class Counter { var count = 0 }
    let key: Int
    let counter: Counter

    static func == (left: CountedKey, right: CountedKey) -> Bool {
      left.counter.count += 1
      return left.key == right.key
    }
    func hash(into hasher: inout Hasher) { hasher.combine(key) }
  }

  // REL-03
  @Test func `ten thousand insertions in the middle of a hundred thousand compare few keys and split chunks`()
  {
    let counter = CountedKey.Counter()
    let keys = OrderedKeys((0..<100_000).map { CountedKey(key: $0, counter: counter) })
    counter.count = 0
    for number in 0..<10_000 { keys.insert(CountedKey(key: 100_000 + number, counter: counter), at: 50_000) }
    for number in 0..<10_000 { keys.remove(CountedKey(key: 100_000 + number, counter: counter)) }
    // A list that is searched from its beginning would compare 50,000 keys for each.
    #expect(counter.count < 20_000 * 600)
    #expect(keys.count == 100_000 && keys.keys.map(\.key) == Array(0..<100_000))
  }

  @Test(arguments: [UInt64(1), 2, 3]) func `a list of keys in chunks equals a plain array`(_ seed: UInt64) {
    var random = Randomness(seed: seed)
    let keys = OrderedKeys<Int>([])
    var plain: [Int] = []
    for step in 0..<4000 {
      if plain.isEmpty || random.below(3) > 0 {
        let index = random.below(plain.count + 1)
        keys.insert(step, at: index)
        plain.insert(step, at: index)
      } else {
        keys.remove(plain.remove(at: random.below(plain.count)))
      }
      if let last = plain.last {
        #expect(keys.index(of: last) == plain.count - 1 && keys[plain.count - 1] == last)
      }
    }
    #expect(keys.keys == plain && keys.count == plain.count)
  }

  // REL-03
  @Test func `many insertions in the middle of an ordered relationship keep their order over a save`() throws
  {
    let container = try makeContainer()
    let context = container.newBackgroundContext()
    let company = context.makeCompany("A")
    company.ranking = (0..<2000).map { context.makePerson("P\($0)") }
    try context.save()
    var expected = company.ranking
    for number in 0..<500 {
      let person = context.makePerson("N\(number)")
      company.$ranking.insert(person, at: 1000)
      expected.insert(person, at: 1000)
    }
    #expect(company.ranking == expected)
    try context.save()
    let other = container.newBackgroundContext()
    let again = try #require(try other.fetch(Company.self).first)
    #expect(again.ranking.map(\.name) == expected.map(\.name))
  }

  // REL-14
  @Test func `delete rules work on faults alone, and pass over destinations that are gone`() throws {
    let (container, context, company) = try makeCompany(5)
    let other = container.newBackgroundContext()
    let someone = try #require(try other.fetch(Person.self, sort: [.ascending(\.name)], limit: 1).first)
    other.delete(someone)
    try other.save()
    #expect(company.hasFault(forRelationshipNamed: "people"))
    context.refresh(company, mergeChanges: false)
    context.delete(company)
    context.processPendingChanges()
    #expect(context.deletedObjects.count == 5)
    try context.save()
    #expect(try other.count(Person.self) == 0)
  }

  // REL-09
  @Test func `cascades follow a chain and a cycle without recursion`() throws {
    let isLong = ProcessInfo.processInfo.environment["HEARTWOOD_LONG"] != nil
    let count = isLong ? 1_000_000 : 100_000
    let container = try PersistentContainer(
      name: "Chain", types: [Link.self], at: URL(fileURLWithPath: "/dev/null"))
    let context = container.newBackgroundContext()
    let first = Link(context: context)
    var last = first
    for _ in 1..<count {
      let next = Link(context: context)
      last.next = next
      last = next
    }
    last.next = first
    context.delete(first)
    context.processPendingChanges()
    #expect(last.isDeleted && context.insertedObjects.isEmpty)
    try context.save()
    #expect(try context.count(Link.self) == 0)
  }
}

/// A link of a chain.
final class Link: ManagedObject {
  @Relationship(inverse: { $0.previous }, deleteRule: .cascade) var next: Link?
  @Relationship(inverse: { $0.next }) var previous: Link?
}
