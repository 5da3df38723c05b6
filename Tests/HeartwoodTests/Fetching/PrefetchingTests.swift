import Foundation
import GraphTestSupport
import Testing

@testable import Heartwood

@Suite struct `Prefetching` {
  private struct World {
    let container: PersistentContainer
    let context: ManagedObjectContext
    let view: CountingView

    /// Forty companies, each with five persons, partners, a ranking, and clubs of its persons.
    init() throws {
      container = try makeContainer()
      let writer = container.newBackgroundContext()
      let clubs = (0..<7).map { number in
        let club = Club(context: writer)
        club.title = "club \(number)"
        return club
      }
      var companies: [Company] = []
      for number in 0..<40 {
        let company = writer.makeCompany("\(number)")
        for index in 0..<5 {
          let person = writer.makePerson("\(number).\(index)", age: Int64(index), in: company)
          person.clubs = [clubs[(number + index) % 7], clubs[(number + 2 * index + 1) % 7]]
          company.ranking.insert(person, at: 0)
        }
        if let last = companies.last { company.partners = [last, companies[0]] }
        companies.append(company)
      }
      try writer.save()
      context = container.newBackgroundContext()
      view = try CountingView.pin(context)
    }

    /// Everything that the relationships lead to.
    func read(_ companies: [Company]) -> [String] {
      companies.map { company in
        let people = company.people.sorted { $0.name < $1.name }
          .map { "\($0.name) \($0.clubs.map(\.title).sorted()) \($0.company?.code ?? "-")" }
        return
          "\(company.code) \(people) \(company.partners.map(\.code).sorted()) \(company.ranking.map(\.name))"
      }
    }

    static let paths: [any PrefetchPath] = ["people.clubs", "people.company", "partners", "ranking"]
  }

  // FET-14
  @Test func `relationships of every kind are loaded in one pass each, and reading them reads nothing more`()
    throws
  {
    let world = try World()
    let plain = world.container.newBackgroundContext()
    let expected = world.read(try plain.fetch(Company.self))
    let request = FetchRequest<Company>()
    request.relationshipKeyPathsForPrefetching = World.paths
    let companies = try world.context.fetch(request)
    #expect(world.view.links == 4)
    #expect(world.view.all < 20)
    let reads = world.view.all
    #expect(world.read(companies) == expected)
    #expect(world.view.all == reads)
  }

  // FET-14
  @Test func `paths of key paths are paths of names`() throws {
    let world = try World()
    let request = FetchRequest<Company>()
    request.relationshipKeyPathsForPrefetching = [
      RelationshipPath(\Company.people).then(\.clubs), RelationshipPath(\Company.ranking),
      RelationshipPath(\Company.$partners).then(\.houses),
    ]
    let companies = try world.context.fetch(request)
    let reads = world.view.all
    #expect(companies.map { $0.people.map { $0.clubs.count }.max() ?? 0 }.max() == 2)
    #expect(companies[3].ranking.map(\.name) == (0..<5).reversed().map { "3.\($0)" })
    #expect(companies.allSatisfy { $0.partners.allSatisfy { $0.houses.isEmpty } })
    #expect(world.view.all == reads)
  }

  // FET-14, FET-18
  @Test func `with a batch size the relationships of a batch are loaded with its rows`() throws {
    let world = try World()
    let request = FetchRequest<Company>()
    request.relationshipKeyPathsForPrefetching = World.paths
    request.fetchBatchSize = 10
    let companies = try world.context.fetch(request)
    #expect(world.view.links == 0)
    _ = world.read(Array(companies[10..<20]))
    #expect(world.view.links == 4)
    let reads = world.view.all
    _ = world.read(Array(companies[10..<20]))
    #expect(world.view.all == reads)
    #expect(!companies[30].hasRow)
  }

  // FET-14
  @Test func `enumerated batches have their relationships`() throws {
    let world = try World()
    let request = FetchRequest<Company>()
    request.relationshipKeyPathsForPrefetching = ["people"]
    var links: [Int] = []
    try world.context.enumerate(request, batchSize: 15) { batch in
      let before = world.view.all
      #expect(batch.allSatisfy { $0.people.map(\.age).reduce(0, +) == 10 })
      #expect(world.view.all == before)
      links.append(world.view.links)
    }
    #expect(links == [1, 2, 3])
  }

  // FET-14
  @Test func `unsaved changes of relationships stay as they are, also in a child`() throws {
    let world = try World()
    world.context.view.pinned = nil
    let companies = try world.context.fetch(Company.self, sort: [.ascending(\.code)])
    let person = try #require(companies[0].people.first)
    person.company = companies[1]
    companies[2].partners = []
    world.context.delete(try #require(companies[3].people.first))
    let added = world.context.makePerson("new", in: companies[4])
    added.ranked = companies[4]
    let child = ManagedObjectContext(.privateQueue, parent: world.context)
    let request = FetchRequest<Company>(where: { _ in .true }, sort: [.ascending(\.code)])
    for context in [world.context, child] {
      request.relationshipKeyPathsForPrefetching = nil
      let plain = world.read(try context.fetch(request))
      context.refreshAllObjects()
      request.relationshipKeyPathsForPrefetching = World.paths
      #expect(world.read(try context.fetch(request)) == plain)
    }
  }

  // FET-14
  @Test func `a path that is no relationship is refused`() throws {
    let world = try World()
    for path in ["name", "people.name", "peple", "people.", ""] {
      let request = FetchRequest<Company>()
      request.relationshipKeyPathsForPrefetching = [path]
      let error = heartwoodError { _ = try world.context.fetch(request) }
      #expect(error?.message.contains("no relationship") == true, "\(path)")
    }
  }
}
