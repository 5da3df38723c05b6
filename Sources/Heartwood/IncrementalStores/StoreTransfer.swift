import Foundation
import HeartwoodBytes
import HeartwoodEngine

/// Copies a store whose objects have numbers, and that the library executes fetches of, to an engine that has no store yet.
///
/// The objects keep their numbers, and the copy gets the identifier of the store: URIs of objects stay valid. Objects are copied in parts, in
/// three passes: which there are, their rows, their links. Memory holds one part, and the ranges of the numbers.
final class StoreTransfer: ObjectTransfer {
  private let source: IncrementalStore
  private let contents: IncrementalContents
  private let log: MigrationLog
  private let schema: StoreSchema
  private let record: SchemaRecord
  private let model: ManagedObjectModel
  /// The entities that are copied, by the numbers of their roots.
  private let roots: [EntityDescription]
  /// By the numbers of entities.
  private var keys: [UInt16: KeyRanges] = [:]
  private var references: [UInt16: [Reference]] = [:]
  private(set) var report = StoreTransferReport()

  /// A to-one relationship in the rows of an entity.
  private struct Reference {
    let place: Int
    let relationship: RelationshipDescription
    /// Whether its links are in the report: those of two sides that are to-one are counted on one.
    let isCounted: Bool

    init(_ place: Int, _ relationship: RelationshipDescription) {
      (self.place, self.relationship) = (place, relationship)
      let inverse = relationship.inverseRelationship
      isCounted =
        inverse.map { $0.isToMany || $0 === relationship || relationship.displayName < $0.displayName }
        ?? true
    }
  }

  private struct Row {
    let entity: EntityDescription
    let key: UInt64
    let bytes: [UInt8]
  }

  /// How many rows, and bytes of them, are written in one transaction.
  private static let (step, stepBytes) = (10_000, 8 << 20)

  init(_ source: IncrementalStore, _ model: ManagedObjectModel, _ log: MigrationLog) throws {
    self.source = source
    contents = source.openContents()
    self.model = model
    self.log = log
    let names = source.configuration.storedNames
    record = try SchemaRecord(numbering: model, names)
    schema = try StoreSchema(model, record)
    roots = model.entities.filter { entity in
      entity.superentity == nil && names?.contains(entity.displayName) != false
    }.sorted { $0.displayName < $1.displayName }
  }

  var identifier: StoreIdentifier? { contents.identity.uuid.map(StoreIdentifier.init) }

  /// - Throws: `.persistentStoreSave` if values that must be unique are not; what reading and writing throw.
  func run(_ engine: Engine) throws {
    try begin(engine)
    try findKeys()
    for root in roots { try copyRows(of: root, to: engine) }
    for entity in model.entities { try copyLinks(of: entity, to: engine) }
    try writeCounters(engine)
  }

  private func begin(_ engine: Engine) throws {
    let own = PersistentStore.MetadataKey.all
    let metadata = try StoreMetadata(settable: source.allMetadata().filter { !own.contains($0.key) })
    try engine.write { transaction in
      try transaction.put(KeySpace.schemaKey, record.encoded())
      if !metadata.values.isEmpty { try transaction.put(KeySpace.metadataKey, metadata.encoded()) }
    }
  }

  private func findKeys() throws {
    for root in roots {
      try source.enumerateObjectIDs(of: root) { id in
        keys[id.entity.number, default: KeyRanges()].insert(id.keyInItsStore)
        return true
      }
    }
    for entity in model.entities {
      report.objects[entity.displayName] = keys[entity.number]?.keyCount
      references[entity.number] = zip(0..., entity.storedProperties).compactMap { place, property in
        (property as? RelationshipDescription).map { Reference(place, $0) }
      }
    }
  }

  /// Whether there is an object of the destination of a relationship.
  private func isThere(_ key: UInt64, _ relationship: RelationshipDescription) -> Bool {
    guard let destination = relationship.destinationEntity else { return false }
    return isThere(key, destination)
  }

  private func isThere(_ key: UInt64, _ entity: EntityDescription) -> Bool {
    if keys[entity.number]?.contains(key) == true { return true }
    return entity.subentities.contains { isThere(key, $0) }
  }

  // MARK: Rows

  private func copyRows(of root: EntityDescription, to engine: Engine) throws {
    let total = model.entities.reduce(0) { sum, entity in
      entity.rootEntity === root ? sum + (keys[entity.number]?.keyCount ?? 0) : sum
    }
    let counter = log.counter("objects of \(root.displayName)", of: total)
    var (waiting, bytes) = ([Row](), 0)
    try source.enumerateNodes(of: root, from: nil, reversed: false, with: nil) { node in
      let entity = node.objectID.entity
      for reference in references[entity.number] ?? [] {
        guard let key = node.destinationKey(at: reference.place) else { continue }
        guard !isThere(key, reference.relationship) else {
          if reference.isCounted { report.links += 1 }
          continue
        }
        node.removeDestination(at: reference.place)
        report.missingDestinations[reference.relationship.displayName, default: 0] += 1
      }
      let row = try contents.row(of: node, nil)
      bytes += row.count
      waiting.append(Row(entity: entity, key: node.objectID.keyInItsStore, bytes: row))
      if waiting.count >= Self.step || bytes >= Self.stepBytes {
        try write(waiting, to: engine)
        counter?.advance(by: waiting.count)
        (waiting, bytes) = ([], 0)
      }
      return true
    }
    try write(waiting, to: engine)
    counter?.advance(by: waiting.count)
    counter?.finish()
  }

  private func write(_ rows: [Row], to engine: Engine) throws {
    guard !rows.isEmpty else { return }
    try write(to: engine) { transaction in
      for row in rows {
        var bytes = try withExternalData(row, in: transaction)
        try transaction.insert(row.entity, row.key, row: &bytes)
      }
    }
  }

  /// The row with references in the place of data that is stored outside it.
  private func withExternalData(_ row: Row, in transaction: LogStoreTransaction) throws -> [UInt8] {
    let layout = row.entity.layout
    guard !layout.externalSlots.isEmpty else { return row.bytes }
    return try row.bytes.withUnsafeBytes { bytes in
      let view = RowView(unchecked: bytes)
      var external: [Int: ExternalReference] = [:]
      for slot in layout.externalSlots {
        let data = view.bytes(layout.columns[slot])
        guard data.count > ExternalReference.largestInRow, let attribute = row.entity.attribute(at: slot)
        else {
          continue
        }
        external[slot] = try transaction.putExternal(Data(data), of: attribute, row.key)
      }
      guard !external.isEmpty else { return row.bytes }
      var builder = RowBuilder(layout)
      for column in layout.columns where external[Int(column.slot)] == nil {
        builder.copy(from: view, Int(column.slot))
      }
      return builder.finish(version: view.version, external: external)
    }
  }

  // MARK: Links

  /// Links of relationships that rows do not imply. Of two sides that are to-many, one writes both.
  private func copyLinks(of entity: EntityDescription, to engine: Engine) throws {
    guard schema.has(entity) else { return }
    for case let relationship as RelationshipDescription in entity.ownProperties
    where relationship.hasEntries {
      let inverse = relationship.inverseRelationship
      let isSecond =
        inverse.map { $0.isToMany && $0 !== relationship && isFirst($0, of: relationship) } ?? false
      guard !isSecond || relationship.isOrdered else { continue }
      try copyLinks(relationship, links: !isSecond && !relationship.isOrderOfToOne, to: engine)
    }
  }

  private func isFirst(_ one: RelationshipDescription, of other: RelationshipDescription) -> Bool {
    one.displayName < other.displayName
  }

  private func copyLinks(
    _ relationship: RelationshipDescription, links: Bool, to engine: Engine
  ) throws {
    guard let entity = relationship.entity else { return }
    let sources = sources(entity)
    let counter = log.counter(
      "links of \(relationship.displayName)", of: sources.reduce(0) { $0 + $1.keyCount })
    var parts = LinkParts()
    for range in sources {
      try range.forEachPart(of: Self.mostSources) { part in
        var rest = part[...]
        while !rest.isEmpty {
          let asked = Array(rest.prefix(parts.sources))
          rest.removeFirst(asked.count)
          let found = try contents.destinations(relationship, of: asked, nil)
          parts.note(asked.count, links: found.values.reduce(0) { $0 + $1.count })
          try copy(relationship, asked, found, links: links, to: engine)
          counter?.advance(by: asked.count)
        }
      }
    }
    counter?.finish()
  }

  /// Writes the links of some sources, so many in one transaction that its memory is bounded. Those of a source that are ordered are in one
  /// transaction, as the order is of all of them.
  private func copy(
    _ relationship: RelationshipDescription, _ sources: [UInt64], _ found: [UInt64: [UInt64]], links: Bool,
    to engine: Engine
  ) throws {
    var (waiting, count) = ([(source: UInt64, targets: [UInt64])](), 0)
    func flush() throws {
      guard !waiting.isEmpty else { return }
      try write(to: engine) { transaction in
        for (source, targets) in waiting {
          if links { for target in targets { try transaction.link(relationship, source, target) } }
          if relationship.isOrdered { try transaction.setOrder(relationship, source, targets) }
        }
        _ = try transaction.reconcileOrders()
      }
      (waiting, count) = ([], 0)
    }
    for source in sources {
      let all = found[source] ?? []
      let targets = all.filter { isThere($0, relationship) }
      if targets.count < all.count {
        report.missingDestinations[relationship.displayName, default: 0] += all.count - targets.count
      }
      if links { report.links += targets.count }
      guard !all.isEmpty else { continue }
      let size = relationship.isOrdered ? max(1, targets.count) : LinkParts.mostLinks
      for part in targets.inParts(of: size) {
        waiting.append((source, Array(part)))
        count += part.count
        if count >= LinkParts.mostLinks { try flush() }
      }
    }
    try flush()
  }

  private static let mostSources = 2000

  /// The keys of the objects of an entity and its subentities.
  private func sources(_ entity: EntityDescription) -> [KeyRanges] {
    ([keys[entity.number]].compactMap { $0 }) + entity.subentities.flatMap(sources)
  }

  // MARK: Transactions

  private func writeCounters(_ engine: Engine) throws {
    try engine.write { transaction in
      for root in roots {
        let known =
          model.entities.filter { $0.rootEntity === root }.compactMap { keys[$0.number]?.last }.max() ?? 0
        let last = max(known, try source.greatestNumber(of: root))
        guard last > 0, (last + 1).isPermanentKey else { continue }
        try transaction.put(KeySpace.counterKey(schema.keyNumber(of: root)), KeySpace.value(last + 1))
      }
    }
  }

  private func write(to engine: Engine, _ body: (LogStoreTransaction) throws -> Void) throws {
    var info = TransactionInfo()
    info.tracksHistory = false
    do {
      try engine.write { writer in
        // Derived values are those that the store has.
        let transaction = LogStoreTransaction(writer, schema, contents.identity, derives: false)
        try body(transaction)
        _ = try transaction.finish(info)
        // `finish` writes entries only if rows were written.
        try transaction.writeEntries()
      }
    } catch let violations as ConstraintViolations {
      throw HeartwoodError(
        .persistentStoreSave,
        "the store at \(source.place) was not copied: values that must be unique are not: "
          + violations.violations.prefix(3).map { violation in
            "\(violation.constraint.joined(separator: ", ")) of \(violation.entity.displayName) p\(violation.existingKey) and "
              + "p\(violation.newKey)"
          }.joined(separator: "; "))
    }
  }
}

/// How many sources' links are read at once: so many that there are about as many links as one transaction writes.
private struct LinkParts {
  static let mostLinks = 10_000

  private(set) var sources = 16

  /// - Parameters:
  ///   - count: How many sources were read.
  ///   - links: How many links they have.
  mutating func note(_ count: Int, links: Int) {
    let fitting = links == 0 ? Int.max : Self.mostLinks * count / links
    // The sources that follow may have more.
    sources = max(1, min(fitting, 2 * count, 2000))
  }
}
