import Foundation
import Heartwood
import Testing

@testable import HeartwoodPostgres

/// Results that are read in parts.
@Suite struct `Large results of PostgreSQL` {
  private func world(_ count: Int, pool: Int = 4) throws -> PostgresWorld {
    let world = try PostgresWorld(at: try PostgresServer.shared.get().url(pool: pool))
    let table = "\"\(world.schema)\".\"Person\""
    _ = try world.sql(
      "INSERT INTO \(table) (_id, _version, name, age) SELECT n, 1, 'person ' || n, n % 100 FROM generate_series(1, \(count)) n"
    )
    // The numbers that new objects get come after these.
    _ = try world.sql("SELECT setval('\"\(world.schema)\".\"Person_ids\"', 1000001)")
    return world
  }

  @Test func `an enumeration delivers every object in its order, whatever is saved meanwhile`() throws {
    let world = try world(5_000, pool: 1)
    let context = world.context()
    let request = FetchRequest<Person>(entityName: "Person")
    request.sortDescriptors = [Sort<Person>.descending(\.age), Sort<Person>.ascending(\.name)]
    var (ages, count) = ([Int64](), 0)
    let other = world.context()
    try context.enumerate(request, batchSize: 700) { batch in
      ages += batch.map(\.age)
      count += batch.filter { $0.company == nil }.count
      // Saves of another context, on this thread, with the only connection of the pool in use.
      _ = other.makePerson("new", age: 200)
      try other.save()
      #expect(try other.count(Person.self) > 0)
    }
    #expect(count == 5_000)
    #expect(ages == ages.sorted(by: >))
    #expect(try world.context().count(Person.self) > 5_000)
  }

  @Test func `enumerations within each other, and ended ones, leave the connection usable`() throws {
    let world = try world(3_000, pool: 1)
    let context = world.context()
    struct Stop: Error {}
    var pairs = 0
    #expect(throws: Stop.self) {
      try context.enumerateRows(Person.self, columns: { ($0.name, $0.age) }) { _, _ in
        try context.enumerateRows(Person.self, columns: { ($0.age, $0.name) }) { _, _ in
          pairs += 1
          return pairs < 2_000
        }
        throw Stop()
      }
    }
    #expect(pairs == 2_000)
    #expect(try context.count(Person.self) == 3_000)
    var seen = 0
    try context.enumerateRows(Person.self, columns: { ($0.name, $0.age) }) { _, _ in
      seen += 1
      return seen < 1_500
    }
    #expect(seen == 1_500)
    _ = context.makePerson("new")
    try context.save()
    #expect(try context.count(Person.self) == 3_001)
  }

  @Test func `rows of an enumeration with a limit and an offset are those of a fetch`() throws {
    let world = try world(2_500)
    let context = world.context()
    for (limit, offset) in [(10, 0), (0, 2_000), (1_200, 600), (500, 0), (501, 0), (0, 3_000)] {
      let request = FetchRequest<Person>(entityName: "Person")
      (request.fetchLimit, request.fetchOffset) = (limit, offset)
      let wanted = try world.context().fetch(request).map(\.name)
      var found: [String] = []
      try context.enumerate(request) { found += $0.map(\.name) }
      #expect(found == wanted)
    }
    let batched = FetchRequest<Person>(entityName: "Person")
    batched.fetchBatchSize = 100
    #expect(try context.fetch(batched).map(\.name).count == 2_500)
  }

  @Test func `objects of a family come with their own entities`() throws {
    let world = try PostgresWorld()
    let context = world.context()
    for number in 0..<1_200 {
      let animal: Animal =
        number % 3 == 0
        ? Dog(context: context) : number % 3 == 1 ? Parrot(context: context) : Animal(context: context)
      animal.name = "\(number)"
    }
    try context.save()
    var kinds: [String: Int] = [:]
    let reading = world.context()
    try reading.enumerate(FetchRequest<Animal>(entityName: "Animal")) { batch in
      for animal in batch { kinds[animal.entity.name ?? "", default: 0] += 1 }
    }
    #expect(kinds == ["Dog": 400, "Parrot": 400, "Animal": 400])
  }
}
