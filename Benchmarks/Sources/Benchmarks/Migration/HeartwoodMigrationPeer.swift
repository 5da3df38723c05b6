import Foundation
import Heartwood
import HeartwoodEngine

struct HeartwoodMigrationPeer: MigrationPeer {
  private let url: URL

  init(directory: String) { url = URL(fileURLWithPath: directory).appending(path: "people.heartwood") }

  func make(_ people: People) throws {
    let container = try PersistentContainer(name: "People", schema: FormerPeople.self, at: url)
    let context = container.newBackgroundContext()
    try context.performAndWait {
      for start in stride(from: 0, to: people.persons.count, by: 20_000) {
        for data in people.persons[start..<min(start + 20_000, people.persons.count)] {
          let person = FormerPeople.Human(context: context)
          (person.number, person.email, person.name) = (data.number, data.address, data.name)
          (person.age, person.score, person.joined) = (data.age, data.score, data.joined)
        }
        try context.save()
        context.reset()
      }
    }
    try container.close()
  }

  func addOptional() throws {
    try PersistentContainer(name: "People", schema: NotedPeople.self, at: url).close()
  }

  func addDefault() throws {
    let container = try PersistentContainer(name: "People", schema: RankedPeople.self, at: url)
    try container.persistentStoreCoordinator.finishDeferredLightweightMigration()
    try container.close()
  }

  func addComputed() throws { try rank(by: RankingPlan.self) }

  func updateComputed() throws { try rank(by: BatchRankingPlan.self) }

  private func rank(by plan: any SchemaMigrationPlan.Type) throws {
    let container = try PersistentContainer(
      name: "People", schema: RankedPeople.self, migrationPlan: plan, at: url)
    try container.close()
  }

  func copyComputed() throws {
    let mapping = EntityMapping(from: "Human", to: "Human")
    mapping.attributeMappings = ["number", "email", "name", "age", "score", "joined"].map {
      PropertyMapping(name: $0, from: $0)
    }
    mapping.attributeMappings.append(
      PropertyMapping(name: "rank") { person, _ in
        guard let age = person.value(forKey: "age") as? Int64,
          let number = person.value(forKey: "number") as? Int64
        else { return nil }
        return age * 100 + number % 100
      })
    let coordinator = PersistentStoreCoordinator(
      managedObjectModel: try ManagedObjectModel(types: RankedPeople.models))
    let description = PersistentStoreDescription(url: url)
    description.mappingModel = MappingModel(entityMappings: [mapping])
    try coordinator.addPersistentStore(with: description)
    try coordinator.close()
  }

  func copyBytes() throws {
    var options = EngineOptions(access: .readOnly)
    options.acceptsOtherContent = true
    let source = try Engine(at: url.path, options: options)
    let copy = try Engine(at: url.path + ".copy")
    try copy.write { transaction in
      try source.snapshot().scan { key, value in
        try transaction.put(Array(key), Array(value))
        return true
      }
    }
    try copy.close()
    try source.close()
  }

  func digest(_ row: MigrationRow) throws -> UInt64 {
    var digest = PersonsDigest()
    switch row {
    case .bytes:
      try each(FormerPeople.self) { (person: FormerPeople.Human) in digest.add(person.number, person.name, 0)
      }
    case .optional:
      try each(NotedPeople.self) { (person: NotedPeople.Human) in
        digest.add(person.number, person.name, person.note == nil ? 0 : 1)
      }
    case .fallback, .computed, .updated, .copied:
      try each(RankedPeople.self) { (person: RankedPeople.Human) in
        digest.add(person.number, person.name, person.rank)
      }
    }
    return digest.value
  }

  private func each<Person: ManagedObject>(
    _ schema: any VersionedSchema.Type, _ body: (Person) -> Void
  ) throws {
    let container = try PersistentContainer(name: "People", schema: schema, at: url)
    let context = container.newBackgroundContext()
    try context.performAndWait {
      try context.enumerate(FetchRequest<Person>(entityName: "Human"), batchSize: 10_000) { $0.forEach(body) }
    }
    try container.close()
  }
}
