import Foundation
import Heartwood
import HeartwoodPostgres

/// The store beside hand-written libpq for the same work. `postgres-benchmark 'postgres://…'`: medians and minima of some rounds in milliseconds,
/// and their ratios. `postgres-benchmark load 'postgres://…'`: latencies of many contexts at once.
final class Team: ManagedObject {
  @Attribute var title = ""
  @Relationship(inverse: { $0.team }) var people: Set<Person>
}

final class Person: ManagedObject {
  @Attribute var name = ""
  @Attribute var mail = ""
  @Attribute(.indexed) var age: Int64 = 0
  @Attribute var score = 0.0
  @Attribute var born = Date()
  @Relationship(inverse: { $0.people }) var team: Team?
}

let (count, rounds) = (10_000, 15)
let isLoadTest = CommandLine.arguments.dropFirst().first == "load"
guard let url = CommandLine.arguments.dropFirst(isLoadTest ? 2 : 1).first.flatMap(URL.init(string:)),
  let parts = URLComponents(url: url, resolvingAgainstBaseURL: false)
else {
  print("usage: postgres-benchmark [load] 'postgres://user@host/database?host=/folder/of/socket'")
  exit(2)
}
var parameters = (parts.queryItems ?? []).filter { $0.name != "schema" }.map { ($0.name, $0.value ?? "") }
if let host = parts.host, !host.isEmpty { parameters.append(("host", host)) }
if let port = parts.port { parameters.append(("port", "\(port)")) }
if let user = parts.user { parameters.append(("user", user)) }
parameters.append(("dbname", String(parts.path.dropFirst())))

if isLoadTest {
  PostgresStore.register()
  try LoadTest.runByHand(parameters)
  try LoadTest.runStore(parts, tracksHistory: true)
  try LoadTest.runStore(parts, tracksHistory: false)
  exit(0)
}

func measured(_ body: () throws -> Void) rethrows -> Double {
  let duration = try ContinuousClock().measure(body)
  return Double(duration.components.seconds) * 1000 + Double(duration.components.attoseconds) / 1e15
}

var (own, hand) = ([String: [Double]](), [String: [Double]]())
PostgresStore.register()
let model = try ManagedObjectModel(types: [Person.self, Team.self])
for _ in 0..<rounds {
  let writer = HandWritten(parameters)
  writer.create()
  var people: [HandWritten.Person] = []
  for number in 1...count {
    let (score, born) = (Double(number) / 3, Double(number) * 1000)
    people.append(
      HandWritten.Person(
        id: Int64(number), name: "person \(number)", mail: "p\(number)@example.org", age: Int64(number % 90),
        score: score, born: born, team: Int64(number % 10 + 1)))
  }
  hand["1 insert", default: []].append(measured { writer.insert(people) })
  hand["2 fetch all, read all", default: []].append(
    measured {
      let sum = writer.fetch().reduce(into: Int64(0)) { $0 += $1.age + Int64($1.name.utf8.count) }
      precondition(sum > 0)
    })
  hand["3 fetch a tenth by age", default: []].append(
    measured { precondition(writer.fetch(where: "age < 9").count > 900) })
  for place in people.indices { people[place].age += 1 }
  hand["4 update", default: []].append(measured { writer.update(people) })
  writer.run("DROP SCHEMA IF EXISTS benchmark CASCADE")
  writer.close()

  var place = parts
  place.queryItems =
    (parts.queryItems ?? []).filter { $0.name != "schema" } + [
      URLQueryItem(name: "schema", value: "benchmark")
    ]
  let container = PersistentContainer(name: "Benchmark", managedObjectModel: model)
  let description = PersistentStoreDescription(url: place.url ?? url)
  description.type = .postgres
  try container.persistentStoreCoordinator.addPersistentStore(with: description)
  let context = container.newBackgroundContext()
  let teams = (1...10).map { number in
    let team = Team(context: context)
    team.title = "team \(number)"
    return team
  }
  try context.save()
  own["1 insert", default: []].append(
    try measured {
      for number in 1...count {
        let person = Person(context: context)
        person.name = "person \(number)"
        person.mail = "p\(number)@example.org"
        person.age = Int64(number % 90)
        person.score = Double(number) / 3
        person.born = Date(timeIntervalSinceReferenceDate: Double(number) * 1000)
        person.team = teams[number % 10]
      }
      try context.save()
    })
  let reading = container.newBackgroundContext()
  var kept: [Person] = []
  own["2 fetch all, read all", default: []].append(
    try measured {
      kept = try reading.fetch(Person.self)
      let sum = kept.reduce(into: Int64(0)) { $0 += $1.age + Int64($1.name.utf8.count) }
      precondition(kept.count == count && sum > 0)
    })
  let third = container.newBackgroundContext()
  own["3 fetch a tenth by age", default: []].append(
    try measured {
      let found = try third.fetch(Person.self, where: { $0.age < 9 })
      precondition(found.count > 900 && found[0].name != "")
    })
  own["4 update", default: []].append(
    try measured {
      for person in kept { person.age += 1 }
      try reading.save()
    })
  try container.close()
}

func median(_ values: [Double]) -> Double { values.sorted()[values.count / 2] }
print("10,000 objects, \(rounds) rounds, ms: medians of the store and by hand, ratio; minima, ratio")
for work in own.keys.sorted() {
  let (a, b) = (median(own[work] ?? []), median(hand[work] ?? []))
  let (c, d) = (own[work]?.min() ?? 0, hand[work]?.min() ?? 0)
  let name = work.padding(toLength: 26, withPad: " ", startingAt: 0)
  print("\(name) \(String(format: "%8.1f %8.1f %6.2f   %8.1f %8.1f %6.2f", a, b, a / b, c, d, c / d))")
}
