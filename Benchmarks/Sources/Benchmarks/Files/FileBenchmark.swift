import BenchmarkHarness
import Foundation
import Heartwood

/// Stores of one file beside property lists and JSON that `Codable` makes of the same objects, and a model's file.
struct FileBenchmark {
  let options: Options

  /// One line for each form of a file, then one for the model.
  func run() throws -> [String] {
    let people = People(objects: options.objects ?? 100_000)
    var lines: [String] = []
    var sums: Set<Int64> = []
    for form in FileForm.allCases where options.includes(row: form.rawValue) {
      progress(form.rawValue)
      let runs = try (0..<(options.rounds ?? 3)).map { _ in
        let scratch = try Scratch(in: options.directory, named: "files")
        return try form.measure(people, scratch.path + "/people")
      }
      let least = FileTimes(
        save: runs.map(\.save).min() ?? .nan, read: runs.map(\.read).min() ?? .nan,
        change: runs.map(\.change).min() ?? .nan, bytes: runs[0].bytes, sum: runs[0].sum)
      sums.insert(least.sum)
      lines.append("\(form.rawValue): \(least.text)")
    }
    guard sums.count < 2 else { throw BenchmarkError("the forms read different objects") }
    if options.includes(row: "model") { lines.append(try modelLine()) }
    return lines
  }

  /// Measures how long reading a model of 200 entities in Xcode's form takes.
  private func modelLine() throws -> String {
    let scratch = try Scratch(in: options.directory, named: "model")
    let url = URL(fileURLWithPath: scratch.path).appending(path: "Large.xcdatamodeld")
    try ManagedObjectModel(entities: Self.entities(200)).writeXcodeModel(to: url)
    let times = try (0..<(options.rounds ?? 5)).map { _ in
      try timed { try ManagedObjectModel(contentsOf: url) }.seconds
    }
    return
      "reading a model of 200 entities with 2,000 attributes: \(decimal((times.min() ?? .nan) * 1e3, places: 1)) ms"
  }

  /// Entities with ten attributes, each related to the next.
  private static func entities(_ count: Int) -> [EntityDescription] {
    let types: [AttributeType] = [.string, .integer64, .double, .boolean, .date]
    let entities = (0..<count).map { number in
      EntityDescription(
        name: "Entity\(number)",
        properties: (0..<10).map {
          AttributeDescription(name: "attribute\($0)", type: types[$0 % types.count])
        })
    }
    for (number, entity) in entities.enumerated() {
      let next = entities[(number + 1) % count]
      let to = RelationshipDescription(name: "next", destination: next, isToMany: false)
      let from = RelationshipDescription(name: "previous", destination: entity, isToMany: true)
      to.inverseRelationship = from
      from.inverseRelationship = to
      entity.properties.append(to)
      next.properties.append(from)
    }
    return entities
  }
}

/// Seconds of one run, and what it read.
private struct FileTimes {
  let save: Double
  let read: Double
  let change: Double
  let bytes: Int
  let sum: Int64

  var text: String {
    let times = [("save", save), ("open and read", read), ("change one, save", change)]
    return times.map { "\($0.0) \(decimal($0.1 * 1e3, places: 0)) ms" }.joined(separator: ", ")
      + ", \(decimal(Double(bytes) / 1e6, places: 1)) MB"
  }
}

private enum FileForm: String, CaseIterable {
  case binary = "binary store"
  case json = "JSON store"
  case xml = "XML store"
  case propertyList = "Codable, binary property list"
  case codableJSON = "Codable, JSON"

  func measure(_ people: People, _ path: String) throws -> FileTimes {
    let url = URL(fileURLWithPath: path)
    let times =
      switch self {
      case .binary: try measureStore(people, url, .binary)
      case .json: try measureStore(people, url, .json)
      case .xml: try measureStore(people, url, .xml)
      case .propertyList:
        try measureCodable(people, url) {
          let encoder = PropertyListEncoder()
          encoder.outputFormat = .binary
          return try encoder.encode($0)
        } _: {
          try PropertyListDecoder().decode(CodablePeople.self, from: $0)
        }
      case .codableJSON:
        try measureCodable(people, url) {
          try JSONEncoder().encode($0)
        } _: {
          try JSONDecoder().decode(CodablePeople.self, from: $0)
        }
      }
    let bytes = try url.resourceValues(forKeys: [.fileSizeKey]).fileSize ?? 0
    return FileTimes(save: times.save, read: times.read, change: times.change, bytes: bytes, sum: times.sum)
  }

  private typealias Times = (save: Double, read: Double, change: Double, sum: Int64)

  private func measureStore(
    _ people: People, _ url: URL, _ type: PersistentStore.StoreType
  ) throws -> Times {
    func container() throws -> PersistentContainer {
      let description = PersistentStoreDescription(url: url)
      description.type = type
      let container = PersistentContainer(
        name: "People", managedObjectModel: try ManagedObjectModel(types: [Company.self, Person.self]))
      container.persistentStoreDescriptions = [description]
      try container.loadPersistentStores()
      return container
    }
    let save = try timed {
      let container = try container()
      let context = container.newBackgroundContext()
      try context.performAndWait { try people.save(in: context) }
      try container.close()
    }.seconds
    let (read, opened) = try timed {
      let container = try container()
      let context = container.newBackgroundContext()
      let sum = try context.performAndWait { () throws -> Int64 in
        let request = FetchRequest<Person>()
        request.relationshipKeyPathsForPrefetching = ["company"]
        return try context.fetch(request).reduce(0) {
          $0 + $1.age + Int64($1.name.utf8.count + ($1.company?.name.utf8.count ?? 0))
        }
      }
      return (container: container, sum: sum)
    }
    let context = opened.container.newBackgroundContext()
    let change = try timed {
      try context.performAndWait {
        let request = FetchRequest<Person>()
        request.fetchLimit = 1
        try context.fetch(request).first?.age += 1
        try context.save()
      }
    }.seconds
    try opened.container.close()
    return (save, read, change, opened.sum)
  }

  private func measureCodable(
    _ people: People, _ url: URL, _ encode: (CodablePeople) throws -> Data,
    _ decode: (Data) throws -> CodablePeople
  ) throws -> Times {
    func write(_ people: CodablePeople) throws {
      try encode(people).write(to: url, options: .atomic)
      // As durable as a store.
      let handle = try FileHandle(forUpdating: url)
      try handle.synchronize()
      try handle.close()
    }
    let save = try timed { try write(CodablePeople(people)) }.seconds
    let (read, opened) = try timed {
      let people = try decode(Data(contentsOf: url))
      let sum = people.persons.reduce(Int64(0)) {
        $0 + $1.age + Int64($1.name.utf8.count + people.companies[$1.company].name.utf8.count)
      }
      return (people: people, sum: sum)
    }
    var changed = opened.people
    let change = try timed {
      changed.persons[0].age += 1
      try write(changed)
    }.seconds
    return (save, read, change, opened.sum)
  }
}

private struct CodablePeople: Codable {
  struct Company: Codable {
    var number: Int64
    var name: String
    var city: String
  }

  struct Person: Codable {
    var number: Int64
    var email: String
    var name: String
    var age: Int64
    var score: Double
    var joined: Int64
    var team: Int64
    /// The place in `companies`.
    var company: Int
  }

  var companies: [Company]
  var persons: [Person]

  init(_ people: People) {
    companies = people.companies.map { Company(number: $0.number, name: $0.name, city: $0.city) }
    persons = people.persons.map {
      Person(
        number: $0.number, email: $0.email, name: $0.name, age: $0.age, score: $0.score, joined: $0.joined,
        team: $0.team, company: $0.company)
    }
  }
}
