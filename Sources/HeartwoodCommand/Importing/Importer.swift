import Heartwood

/// Writes prepared objects into a store with one save for each batch. The context is reset between saves to
/// limit memory.
struct Importer {
  private let store: CommandStore
  private let prepared: PreparedImport
  private let model: DocumentModel
  private let replaced: ReplacedDestinations
  private let batches: [[Int]]
  /// For each batch, the links to make in it. A link is made as soon as both its ends exist, as one of them may require it; those of an
  /// ordered relationship get their order in the last batch.
  private var links: [[LinkSchedule.Entry]]
  /// The destinations that ordered relationships had before, as long as not all their links are made.
  private var originals: [LinkSchedule.Owner: Set<ManagedObjectID>] = [:]
  private var entities: [String: EntityDescription] = [:]
  /// By entity and name.
  private var relationships: [String: [String: RelationshipDescription]] = [:]
  /// The objects of the current batch, by their indices in the file.
  private var made: [ManagedObject?]
  private var identifiers: [ManagedObjectID?]
  private var progress: ProgressLine
  private var doneCount = 0
  /// Whether saved batches remain if a later one fails.
  private let keepsPortions: Bool

  init(
    _ prepared: PreparedImport, model: DocumentModel, batchSize: Int, into store: CommandStore,
    keepsPortions: Bool, as verb: String = "importing", _ console: any Console
  ) {
    self.keepsPortions = keepsPortions
    self.store = store
    self.prepared = prepared
    self.model = model
    replaced = ReplacedDestinations(prepared)
    batches = ImportBatches(prepared, model: model, size: batchSize).batches
    links = LinkSchedule(prepared, model: model, batches).links
    identifiers = [ManagedObjectID?](repeating: nil, count: prepared.objects.count)
    made = [ManagedObject?](repeating: nil, count: prepared.objects.count)
    progress = ProgressLine(verb, total: prepared.objects.count, on: console)
  }

  /// Whether only saves show what the model refuses, of which those before one that fails would remain.
  var needsTrial: Bool { batches.count > 1 && model.hasRulesBetweenObjects }

  /// Checks that no two objects would have the same values where they must be unique, and, where saves before one that fails would remain,
  /// what the saves check.
  ///
  /// - Throws: A failure that names the first object that cannot be saved.
  mutating func check() throws {
    var uniqueness = UniqueCheck(prepared, batches: batches, in: store)
    try uniqueness.run(storeHasObjects: keepsPortions)
    guard keepsPortions, batches.count > 1 else { return }
    var counts = DestinationCheck(prepared, model: model)
    try counts.run()
    guard !model.hasRulesBetweenObjects else { return }
    for batch in batches { try checkValues(batch) }
  }

  /// Checks the values of objects by the rules of the model, without their relationships.
  private mutating func checkValues(_ batch: [Int]) throws {
    defer {
      for index in batch { made[index] = nil }
      store.context.reset()
    }
    for index in batch {
      let object = try withValues(prepared.objects[index])
      made[index] = object
      guard object.isInserted || object.isUpdated else { continue }
      do {
        try object.validateAttributes()
      } catch {
        throw placed(GraphFailure.failure(error, store.path))
      }
    }
  }

  /// Imports all objects.
  ///
  /// - Throws: Errors of the store or the model. If earlier batches were saved, the message states how many
  ///   objects remain.
  mutating func run() throws {
    defer { progress.finish() }
    for number in batches.indices {
      do {
        try write(number)
      } catch {
        let failure = placed(GraphFailure.failure(error, store.path))
        guard keepsPortions, number > 0 else { throw failure }
        let saved = batches[..<number].joined().count { $0 < prepared.fileCount }
        throw CommandFailure(
          failure.code, "\(failure.message); \(saved) of \(prepared.fileCount) objects were saved before")
      }
    }
  }

  /// The failure with the places of objects in the file, where it names some that were not saved, or will not remain.
  private func placed(_ failure: CommandFailure) -> CommandFailure {
    var places: [String: String] = [:]
    for (index, object) in prepared.objects.enumerated() where object.existing == nil {
      if let made = made[index] { places[made.objectID.description] = object.path }
      if !keepsPortions, let saved = identifiers[index] { places[ObjectName.text(saved)] = object.path }
    }
    let message = failure.message.replacing(/x-coredata:\/\/\/\S+?\/t[0-9A-Fa-f]+/) {
      places[String($0.output)] ?? "an object of the file"
    }.replacing(/([^\s,;:]+\/p[0-9]+)( in the store)?/) { places[String($0.output.1)] ?? String($0.output.0) }
    return CommandFailure(failure.code, message, isDamage: failure.isDamage)
  }

  private mutating func write(_ number: Int) throws {
    for index in batches[number] {
      made[index] = try make(prepared.objects[index])
      doneCount += 1
      progress.advance(to: doneCount)
    }
    for entry in links[number] {
      let source = entry.source
      guard let object = object(source), let relationship = relationship(entry.link.name, of: source) else {
        continue
      }
      let isNew = made[source] != nil && prepared.objects[source].existing == nil
      if relationship.isOrdered {
        try connectOrdered(object, entry, isNew: isNew)
      } else {
        try connect(object, relationship, entry.link, isNew: isNew)
      }
    }
    try store.context.save()
    guard batches.count > 1 else { return }
    for index in batches[number] {
      identifiers[index] = made[index]?.objectID
      made[index] = nil
    }
    store.context.reset()
  }

  private mutating func make(_ prepared: PreparedImport.Object) throws -> ManagedObject {
    let object = try withValues(prepared)
    for name in prepared.cleared { try object.assign(nil, forKey: name) }
    if prepared.existing != nil { try replaced.remove(from: object, prepared.given, in: store.context) }
    return object
  }

  /// An object of the store or a new one, with the attributes that the file gives it.
  private mutating func withValues(_ prepared: PreparedImport.Object) throws -> ManagedObject {
    let entity = try entities[prepared.entity] ?? store.entity(named: prepared.entity)
    entities[prepared.entity] = entity
    let object =
      try prepared.existing.map { try store.context.existingObject(with: $0) }
      ?? ManagedObject(entity: entity, insertInto: store.context)
    for (name, value) in prepared.attributes { try object.assign(value, forKey: name) }
    return object
  }

  /// An object of this batch or of an earlier one.
  private func object(_ index: Int) -> ManagedObject? {
    made[index] ?? identifiers[index].map { store.context.object(with: $0) }
  }

  private mutating func relationship(_ name: String, of index: Int) -> RelationshipDescription? {
    let entity = prepared.objects[index].entity
    if let known = relationships[entity] { return known[name] }
    relationships[entity] = entities[entity]?.relationshipsByName
    return relationships[entity]?[name]
  }

  /// Makes links of an ordered relationship: some of those of a batch, or the last, with which all are brought into the order of the file.
  /// Destinations from before the import stay in front, unless the file gives the relationship for this object: it decides the order then.
  private mutating func connectOrdered(_ object: ManagedObject, _ entry: LinkSchedule.Entry, isNew: Bool)
    throws
  {
    let name = entry.link.name
    let present = object.objectIDs(forRelationshipNamed: name)
    let decides = entry.isLast && prepared.objects[entry.source].given[name] != nil
    let front = decides ? [] : front(present, of: object, entry, isNew: isNew).map(store.context.object)
    let back = decides ? present.map(store.context.object) : []
    let destinations = entry.link.destinations.compactMap(self.object)
    var known: Set<ManagedObjectID> = []
    let order = (front + destinations + back).filter { known.insert($0.objectID).inserted }
    try object.assign(order, forKey: name)
  }

  /// The destinations of an ordered relationship that stay in front of those of the file.
  private mutating func front(
    _ present: [ManagedObjectID], of object: ManagedObject, _ entry: LinkSchedule.Entry, isNew: Bool
  ) -> [ManagedObjectID] {
    let name = entry.link.name
    let owner = LinkSchedule.Owner(source: entry.source, name: name)
    // Inverses may have added some already.
    let committed = isNew ? [] : object.committedValues(forKeys: [name])[name] as? [ManagedObjectID]
    let original = originals[owner] ?? Set(committed ?? [])
    originals[owner] = entry.isLast ? nil : original
    return entry.isLast ? present.filter(original.contains) : present
  }

  private func connect(
    _ object: ManagedObject, _ relationship: RelationshipDescription, _ link: PreparedImport.Link, isNew: Bool
  ) throws {
    guard relationship.isToMany else {
      return try object.assign(link.destinations.first.flatMap(self.object), forKey: link.name)
    }
    var destinations = link.destinations.compactMap(self.object)
    // A link is written from one side, so a new object has none of the relationship yet, unless it is its own inverse.
    let mayHaveOthers = !isNew || relationship.inverseRelationship === relationship
    if mayHaveOthers {
      let present = object.objectIDs(forRelationshipNamed: link.name).map { store.context.object(with: $0) }
      let known = Set(present)
      destinations = present + destinations.filter { !known.contains($0) }
    }
    try object.assign(destinations, forKey: link.name)
  }
}

/// Determines the batch in which each link can be made.
private struct LinkSchedule {
  struct Entry {
    let source: Int
    let link: PreparedImport.Link
    /// Whether all links of the relationship exist with these. If it is ordered, the link has all of them.
    var isLast = true
  }

  /// A relationship of an object.
  struct Owner: Hashable {
    let source: Int
    let name: String
  }

  private(set) var links: [[Entry]]

  init(_ prepared: PreparedImport, model: DocumentModel, _ batches: [[Int]]) {
    links = [[Entry]](repeating: [], count: batches.count)
    var batchOf = [Int](repeating: 0, count: prepared.objects.count)
    for (number, batch) in batches.enumerated() { for index in batch { batchOf[index] = number } }
    for (source, object) in prepared.objects.enumerated() {
      for link in object.links {
        for (number, entry) in Self.parts(of: link, from: source, object, model, batchOf) {
          links[number].append(entry)
        }
      }
    }
  }

  private static func parts(
    of link: PreparedImport.Link, from source: Int, _ object: PreparedImport.Object, _ model: DocumentModel,
    _ batchOf: [Int]
  ) -> [(Int, Entry)] {
    let batches = link.destinations.map { max(batchOf[source], batchOf[$0]) }
    guard let first = batches.first, let last = batches.max() else { return [] }
    guard !batches.allSatisfy({ $0 == first }) else { return [(last, Entry(source: source, link: link))] }
    let isOrdered = isOrdered(link, object, model)
    let groups = Dictionary(grouping: zip(batches, link.destinations), by: \.0)
    return groups.sorted { $0.key < $1.key }.map { number, pairs in
      if isOrdered, number == last { return (number, Entry(source: source, link: link)) }
      let part = PreparedImport.Link(name: link.name, isToMany: link.isToMany, destinations: pairs.map(\.1))
      return (number, Entry(source: source, link: part, isLast: number == last))
    }
  }

  private static func isOrdered(
    _ link: PreparedImport.Link, _ object: PreparedImport.Object, _ model: DocumentModel
  ) -> Bool {
    let all = model.lineage(of: object.entity).lazy.flatMap(\.relationships)
    return all.first { $0.name == link.name }?.isOrdered == true
  }
}
