import Foundation
import Heartwood
import Testing

@testable import HeartwoodPostgres

/// The ways in which a program gives the rows of a batch insert, and what they need.
enum BatchRows: String, CaseIterable {
  /// An array, under a merge policy: some take the place of stored objects.
  case array
  /// A closure that fills dictionaries with destinations by unique values: executed row by row.
  case dictionaries
  /// A closure that sets the attributes of an object: sent as they are.
  case object
  /// Encodable values: sent as they are.
  case encodable

  private struct Row: Encodable {
    let number: Int
    let text: String
  }

  /// A request for three rows.
  ///
  /// - Parameter calls: Counts the calls of a closure.
  func request(_ round: Int, _ calls: Counter) -> BatchInsertRequest {
    var next = 0
    func isAtEnd() -> Bool {
      _ = calls.next()
      defer { next += 1 }
      return next == 3
    }
    switch self {
    case .array:
      return BatchInsertRequest(
        entityName: "Company",
        objects: [
          ["code": "same", "name": "\(round)", "partners": ["counter"]], ["code": "A\(round)"],
          ["code": "B\(round)"],
        ])
    case .dictionaries:
      return BatchInsertRequest(entityName: "Person") { (row: inout [String: Any]) in
        if isAtEnd() { return true }
        row = ["name": "\(round) \(next)", "company": "counter"]
        return false
      }
    case .object:
      return BatchInsertRequest(entityName: "Thing") { (object: ManagedObject) in
        if isAtEnd() { return true }
        object.setValue(round, forKey: "number")
        object.setValue("\(next)", forKey: "text")
        return false
      }
    case .encodable:
      let rows = (1...3).lazy.map { place in
        _ = calls.next()
        return Row(number: round, text: "\(place)")
      }
      return BatchInsertRequest(entityName: "Thing", rows: rows)
    }
  }

  /// How often the closure is called for all rows.
  var calls: Int {
    switch self {
    case .array: 0
    case .dictionaries, .object: 4
    case .encodable: 3
    }
  }

  /// The objects of a round.
  func found(_ round: Int, _ context: ManagedObjectContext) throws -> (names: [String], ids: Set<URL>) {
    let objects: [(String, ManagedObject)]
    switch self {
    case .array:
      let names = ["A\(round)", "B\(round)"]
      objects = try context.fetch(Company.self, sort: [.ascending(\.code)])
        .filter { names.contains($0.code) || $0.code == "same" && $0.name == "\(round)" }
        .map { ("\($0.code.prefix(1))\($0.partners.count)", $0) }
    case .dictionaries:
      objects = try context.fetch(Person.self, sort: [.ascending(\.name)])
        .filter { $0.name.hasPrefix("\(round) ") && $0.company?.code == "counter" }
        .map { (String($0.name.suffix(1)), $0) }
    case .object, .encodable:
      objects = try context.fetch(Thing.self, where: { $0.number == round }, sort: [.ascending(\.text)])
        .map { ($0.text ?? "", $0) }
    }
    return (objects.map(\.0), Set(objects.map { $0.1.objectID.uriRepresentation() }))
  }

  var names: [String] { self == .array ? ["A0", "B0", "s1"] : ["1", "2", "3"] }
}

/// Transactions that are executed again as a whole: batch inserts and migrations.
@Suite struct `Batch inserts and migrations that are tried again` {
  /// Whether every message is tried: set HEARTWOOD_LONG for it.
  private static let isLong = ProcessInfo.processInfo.environment["HEARTWOOD_LONG"] != nil

  private func execute(_ rows: BatchRows, _ round: Int, in world: PostgresWorld, _ calls: Counter) throws
    -> Set<URL>
  {
    let context = world.context()
    context.mergePolicy = rows == .array ? .mergeByPropertyObjectTrump : .error
    let request = rows.request(round, calls)
    request.resultType = .objectIDs
    return Set(try context.execute(request).objectIDs.map { $0.uriRepresentation() })
  }

  private func historyCount(_ world: PostgresWorld) throws -> Int {
    try world.context().execute(.fetchHistory(after: nil as PersistentHistoryToken?)).transactions.count
  }

  @Test(arguments: BatchRows.allCases, [false, true])
  func `a batch insert is there once, whichever of its messages is the last one of the connection`(
    rows: BatchRows, arrives: Bool
  ) throws {
    let cut = try CutWorld(["reconnect_limit": "20"])
    defer { cut.proxy.close() }
    if rows == .array {
      let context = cut.direct.context()
      _ = context.makeCompany("same")
      try context.save()
    }
    let before = try historyCount(cut.direct)
    var (number, rounds, isMet) = (0, 0, true)
    while isMet {
      number += Self.isLong ? 1 : 5
      rounds += 1
      let (place, calls) = (Place(), Counter())
      cut.proxy.setRule { [number] _ in place.isAt(number) ? arrives ? .cutAfter : .cutBefore : .pass }
      let result = try execute(rows, number, in: cut.world, calls)
      cut.proxy.clear()
      isMet = place.isMet
      let found = try rows.found(number, cut.direct.context())
      #expect(found.names == rows.names, "message \(number)")
      #expect(found.ids == result, "message \(number)")
      // Each row is asked for once.
      #expect(calls.next() == rows.calls + 1)
    }
    #expect(try historyCount(cut.direct) == before + rounds)
    #expect(number > 20)
    print("\(rounds - 1) messages of a batch insert of \(rows.rawValue) were the last ones")
  }

  @Test(arguments: BatchRows.allCases, ["40001", "40P01"])
  func `a batch insert that others are in the way of is tried again as a whole`(
    rows: BatchRows, state: String
  ) throws {
    let cut = try CutWorld(["attempts": "3"])
    defer { cut.proxy.close() }
    if rows == .array {
      let context = cut.direct.context()
      _ = context.makeCompany("same")
      try context.save()
    }
    let seen = Seen()
    var number = 0
    repeat {
      number += 1
      seen.begin(at: number)
      cut.proxy.setRule { message in
        message.isFromClient && "QPB".contains(message.type) && seen.isThere(message) ? .refuse(state) : .pass
      }
      let result = try execute(rows, number, in: cut.world, Counter())
      cut.proxy.clear()
      let found = try rows.found(number, cut.direct.context())
      #expect(found.names == rows.names && found.ids == result, "statement \(number)")
    } while seen.wasMet
    #expect(number > 4)
  }

  @Test func `rows of a closure are kept up to a number, beyond which a lost batch is thrown`() throws {
    let cut = try CutWorld(["reconnect_limit": "20", "kept_rows": "3"])
    defer { cut.proxy.close() }
    for (count, isThere) in [(3, true), (4, false)] {
      let place = Place()
      cut.proxy.setRule { message in
        message.type == "Q" && message.text.contains("; COMMIT") && place.isAt(1) ? .cutBefore : .pass
      }
      var next = 0
      let request = BatchInsertRequest(entityName: "Thing") { (row: inout [String: Any]) in
        next += 1
        row["number"] = count
        return next > count
      }
      let error = heartwoodError { try cut.world.context().execute(request) }
      cut.proxy.clear()
      #expect(place.isMet && (error == nil) == isThere)
      #expect(error.map { $0.code == .persistentStoreSave && !$0.isOutcomeUnknown } ?? true)
      #expect(
        try cut.direct.context().count(Thing.self, where: { $0.number == count }) == (isThere ? count : 0))
    }
  }

  // MARK: Migrations

  private static func model(isLater: Bool) -> ManagedObjectModel {
    let name = AttributeDescription(name: isLater ? "title" : "name", type: .string)
    if isLater { name.renamingIdentifier = "name" }
    let age = AttributeDescription(name: "age", type: isLater ? .string : .integer32)
    let box = EntityDescription(name: "Box", properties: [name, age])
    let tag = EntityDescription(name: "Tag", properties: [AttributeDescription(name: "label", type: .string)])
    let tags = RelationshipDescription(name: "tags", destination: tag, isToMany: true)
    let boxes = RelationshipDescription(name: "boxes", destination: box, isToMany: true)
    (tags.inverseRelationship, boxes.inverseRelationship) = (boxes, tags)
    box.ownProperties.append(tags)
    tag.ownProperties.append(boxes)
    return ManagedObjectModel(entities: [box, tag])
  }

  private func open(_ url: URL, isLater: Bool, mapping: MappingModel? = nil) throws
    -> PersistentStoreCoordinator
  {
    PostgresStore.register()
    let coordinator = PersistentStoreCoordinator(managedObjectModel: Self.model(isLater: isLater))
    let description = PersistentStoreDescription(url: url)
    description.type = .postgres
    description.mappingModel = mapping
    try coordinator.addPersistentStore(with: description)
    return coordinator
  }

  private func fill(_ url: URL) throws {
    let coordinator = try open(url, isLater: false)
    let context = ManagedObjectContext(.privateQueue, coordinator: coordinator)
    let entities = coordinator.managedObjectModel.entitiesByName
    for number in 0..<3 {
      let box = ManagedObject(entity: try #require(entities["Box"]), insertInto: context)
      box.setValue("b\(number)", forKey: "name")
      box.setValue(number, forKey: "age")
      let tag = ManagedObject(entity: try #require(entities["Tag"]), insertInto: context)
      tag.setValue("t\(number)", forKey: "label")
      box.setValue([tag] as Set, forKey: "tags")
    }
    try context.save()
    try coordinator.close()
  }

  private func dump(_ coordinator: PersistentStoreCoordinator) throws -> [String] {
    let context = ManagedObjectContext(.privateQueue, coordinator: coordinator)
    return try context.fetch(FetchRequest<ManagedObject>(entityName: "Box")).map { box in
      let tags = box.value(forKey: "tags") as? Set<ManagedObject> ?? []
      let labels = tags.map { $0.value(forKey: "label") as? String ?? "-" }
      return "\(box.value(forKey: "title") ?? "-") \(box.value(forKey: "age") ?? "-") \(labels)"
    }.sorted()
  }

  /// The inferred mapping, with names in capitals.
  private func mapping(_ isWanted: Bool) throws -> MappingModel? {
    guard isWanted else { return nil }
    let mapping = try MappingModel.inferredMappingModel(
      forSourceModel: Self.model(isLater: false), destinationModel: Self.model(isLater: true))
    let box = try #require(mapping.entityMappings.first { $0.destinationEntityName == "Box" })
    let title = try #require(box.attributeMappings.first { $0.name == "title" })
    title.value = { box, _ in (box.value(forKey: "name") as? String)?.uppercased() }
    return mapping
  }

  /// Migrates a new store through a proxy with a rule.
  private func migrate(
    mapped: Bool, options: [String: String] = [:], _ rule: @escaping (WireProxy.Message) -> WireProxy.Action
  ) throws {
    let server = try PostgresServer.shared.get()
    let proxy = try WireProxy(to: server.folder.path)
    defer { proxy.close() }
    let direct = server.url()
    try fill(direct)
    let schema = try PostgresAddress(direct).schema
    let url = server.url(schema: schema, hosts: [proxy.folder], options: options)
    proxy.setRule(rule)
    let coordinator = try open(url, isLater: true, mapping: mapping(mapped))
    proxy.clear()
    let letter = mapped ? "B" : "b"
    #expect(try dump(coordinator) == (0..<3).map { "\(letter)\($0) \($0) [\"t\($0)\"]" })
    try coordinator.close()
    let connection = try PostgresConnection(PostgresAddress(direct))
    let left = try connection.query(
      "SELECT 1 FROM pg_namespace WHERE starts_with(nspname::text, '\(schema).')")
    #expect(left.count == 0)
    let again = try open(direct, isLater: true)
    #expect(try dump(again).count == 3)
    try again.close()
    try connection.run("DROP SCHEMA \"\(schema)\" CASCADE")
  }

  @Test(arguments: [false, true], [false, true])
  func `a migration is done once, whichever of its messages is the last one of the connection`(
    mapped: Bool, arrives: Bool
  ) throws {
    let counted = Counter()
    try migrate(mapped: mapped) { _ in
      _ = counted.next()
      return .pass
    }
    let total = counted.next() - 1
    // All at the end, where it commits; some of the others.
    var random = SplitMix64(seed: mapped ? 0xa1 : 0xa2)
    let lastCount = Self.isLong ? 40 : 8
    let others = (1..<max(2, total - lastCount)).shuffled(using: &random).prefix(Self.isLong ? 30 : 4)
    var places = 0
    for number in others.sorted() + (max(1, total - lastCount)...total) {
      let place = Place()
      try migrate(mapped: mapped, options: ["reconnect_limit": "20"]) { _ in
        place.isAt(number) ? arrives ? .cutAfter : .cutBefore : .pass
      }
      if place.isMet { places += 1 }
    }
    #expect(places > lastCount)
    print("\(places) of \(total) messages of a migration were the last ones")
  }

  @Test(arguments: ["40001", "40P01"])
  func `a migration that others are in the way of is tried again as a whole`(state: String) throws {
    let seen = Seen()
    var number = 0
    repeat {
      number += Self.isLong ? 1 : 5
      seen.begin(at: number)
      try migrate(mapped: false, options: ["attempts": "3"]) { message in
        message.isFromClient && "QPB".contains(message.type) && seen.isThere(message) ? .refuse(state) : .pass
      }
    } while seen.wasMet
    #expect(number > 10)
    print("\(number) statements of a migration were reached")
  }
}
