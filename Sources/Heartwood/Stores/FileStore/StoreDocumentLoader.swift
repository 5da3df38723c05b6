import Foundation
import HeartwoodEngine

/// Writes the objects of a readable file to an engine, and checks that they fit together.
final class StoreDocumentLoader {
  /// Why a file cannot be a store.
  struct Mistake: Error {
    let message: String
  }

  enum Field {
    case json(JSONValue)
    /// Text of an XML element.
    case text(String)
  }

  struct Object {
    let entity: String
    let key: Int64
    /// Nil if the file has something else than a number.
    let version: Int64?
    let values: [(name: String, field: Field)]
  }

  private struct Link {
    let relationship: RelationshipDescription
    let source: UInt64
    let targets: [UInt64]
  }

  private struct Row {
    let entity: EntityDescription
    let key: UInt64
    let version: UInt32
    let cells: [(slot: Int, value: Value)]
  }

  private let engine: Engine
  private let header: StoreFileHeader
  let schema: StoreSchema
  let identity: StoreIdentity
  private let entities: [String: EntityDescription]
  private var waiting: [Row] = []
  private var links: [Link] = []
  /// By root entity.
  private var nextKeys: [UInt16: UInt64] = [:]

  /// How many objects are written in one transaction.
  private static let step = 10_000

  convenience init(_ document: StoreDocument, _ make: (StoreIdentifier?) throws -> Engine) throws {
    let model = try Array(JSONWriter.line(document.model).utf8).withUnsafeBytes {
      try ManagedObjectModel(decoding: $0)
    }
    guard let metadata = MetadataValue.values(document.metadata) else {
      throw Mistake(message: "its metadata have values that no metadata can have")
    }
    try self.init(model, document.identifier, saves: document.saves, metadata, make)
    for (name, key) in document.nextKeys {
      guard let entity = entities[name] else { continue }
      nextKeys[entity.rootEntity.number] = key
    }
  }

  init(
    _ model: ManagedObjectModel, _ uuid: UUID, saves: UInt64, _ metadata: [String: MetadataValue],
    _ make: (StoreIdentifier?) throws -> Engine
  ) throws {
    let record = try SchemaRecord(numbering: model)
    schema = try StoreSchema(model, record)
    entities = model.entitiesByName
    let identifier = StoreIdentifier(uuid)
    header = StoreFileHeader(identifier: identifier, saves: saves)
    identity = StoreIdentity(uuid: uuid)
    engine = try make(identifier)
    try engine.write { transaction in
      try transaction.put(KeySpace.schemaKey, record.encoded())
      if !metadata.isEmpty { try transaction.put(KeySpace.metadataKey, StoreMetadata(metadata).encoded()) }
    }
  }

  /// Adds an object with values that fit its columns.
  func add(_ entity: EntityDescription, _ key: UInt64, version: UInt32, _ cells: [(slot: Int, value: Value)])
    throws
  {
    let root = entity.rootEntity.number
    nextKeys[root] = max(nextKeys[root] ?? 1, key + 1)
    waiting.append(Row(entity: entity, key: key, version: version, cells: cells))
    if waiting.count >= Self.step { try writeWaiting() }
  }

  /// Adds the destinations of a to-many relationship.
  func add(_ relationship: RelationshipDescription, of source: UInt64, _ targets: [UInt64]) {
    links.append(Link(relationship: relationship, source: source, targets: targets))
  }

  func add(_ object: Object) throws {
    let name = "\(object.entity) \(object.key)"
    guard let entity = entities[object.entity], !entity.isAbstract else {
      throw Mistake(message: "\(name): the model has no such entity, or it is abstract")
    }
    // The next save adds 1 to a version.
    guard object.key > 0, let key = UInt64(exactly: object.key) else {
      throw Mistake(message: "\(name): the key of an object is a positive number up to \(Int64.max)")
    }
    guard let version = object.version.flatMap({ UInt32(exactly: $0) }), 1..<UInt32.max ~= version else {
      throw Mistake(message: "\(name): the version of an object is a positive number up to \(UInt32.max - 1)")
    }
    var cells: [(slot: Int, value: Value)] = []
    var seen: Set<Int> = []
    for (property, field) in object.values {
      guard let slot = entity.slot(named: property), entity.layout.columns[slot].kind != .transient else {
        throw Mistake(message: "\(name): \(object.entity) has no stored property \(property)")
      }
      guard seen.insert(slot).inserted else {
        throw Mistake(message: "\(name) has two values of \(property)")
      }
      if let cell = try cell(field, slot, entity, key, "\(name), \(property)") { cells.append((slot, cell)) }
    }
    try checkComposites(of: entity, cells, name)
    try add(entity, key, version: version, cells)
  }

  /// Elements have values only where the composite attribute has one.
  private func checkComposites(
    of entity: EntityDescription, _ cells: [(slot: Int, value: Value)], _ name: String
  ) throws {
    guard !entity.compiled.composites.isEmpty else { return }
    let present = Set(cells.filter { !$0.value.isNull }.map(\.slot))
    for cell in cells.sorted(by: { $0.slot < $1.slot }) where present.contains(cell.slot) {
      guard let missing = entity.compositeSlots(around: cell.slot).first(where: { !present.contains($0) })
      else {
        continue
      }
      let (element, whole) = (entity.property(at: cell.slot).name, entity.property(at: missing).name)
      throw Mistake(
        message:
          "\(name), \(element) has a value, but \(whole) has none: \(whole) is true where its elements have values"
      )
    }
  }

  /// The value of a column; nil for a to-many relationship, whose links are kept for later.
  private func cell(
    _ field: Field, _ slot: Int, _ entity: EntityDescription, _ key: UInt64, _ name: String
  ) throws -> Value? {
    let kind = entity.layout.columns[slot].kind
    let json: JSONValue?
    switch field {
    case .json(let value): json = value
    case .text(let text): json = StoreDocumentValue.json(text: text, kind)
    }
    guard let json else { throw Mistake(message: "\(name): the text is no value of this property") }
    switch kind {
    case .toOne:
      if json == .null { return nil }
      guard let keys = StoreDocumentValue.keys(json), keys.count == 1 else {
        throw Mistake(
          message: "\(name): \(json.kind) is no key of one object, a positive number up to \(Int64.max)")
      }
      return .object(entity.layout.identifier(at: slot, key: keys[0], store: identity))
    case .toMany:
      guard let keys = StoreDocumentValue.keys(json), Set(keys).count == keys.count else {
        throw Mistake(
          message: "\(name): \(json.kind) is no list of different keys, positive numbers up to \(Int64.max)")
      }
      add(entity.relationship(at: slot), of: key, keys)
      return nil
    default:
      guard let value = StoreDocumentValue.value(json, kind) else {
        throw Mistake(message: "\(name): \(json.kind) is no value of this property")
      }
      return value
    }
  }

  func finish() throws -> StoreFileReader.Contents {
    try writeWaiting()
    try writeLinks()
    try engine.write { transaction in
      for root in schema.rootEntities {
        guard let next = nextKeys[root.number], next > 1, next.isPermanentKey else { continue }
        try transaction.put(KeySpace.counterKey(schema.keyNumber(of: root)), KeySpace.value(next))
      }
    }
    let findings = try StoreVerifier(LogStoreView(engine.snapshot(), schema)).run()
    if let first = findings.first { throw Mistake(message: "its objects do not fit together: \(first)") }
    return StoreFileReader.Contents(engine: engine, header: header)
  }

  private func writeWaiting() throws {
    let rows = waiting
    waiting = []
    try write { transaction in
      for row in rows {
        var builder = RowBuilder(row.entity.layout)
        var external: [Int: ExternalReference] = [:]
        for (slot, value) in row.cells {
          if case .data(let data) = value, data.count > ExternalReference.largestInRow,
            row.entity.layout.externalSlots.contains(slot), let attribute = row.entity.attribute(at: slot)
          {
            external[slot] = try transaction.putExternal(data, of: attribute, row.key)
          } else {
            builder.set(slot, value)
          }
        }
        do {
          var bytes = builder.finish(version: row.version, external: external)
          try transaction.insert(row.entity, row.key, row: &bytes)
        } catch let error as HeartwoodError where error.code == .persistentStoreSave {
          throw Mistake(message: "\(row.entity.displayName) \(row.key) occurs twice")
        }
      }
    }
  }

  private func writeLinks() throws {
    let links = links
    self.links = []
    try write { transaction in
      for link in links {
        for target in link.targets { try transaction.link(link.relationship, link.source, target) }
      }
      for link in links where link.relationship.isOrdered {
        try transaction.setOrder(link.relationship, link.source, link.targets)
      }
      _ = try transaction.reconcileOrders()
    }
  }

  private func write(_ body: (LogStoreTransaction) throws -> Void) throws {
    var info = TransactionInfo()
    info.tracksHistory = false
    try engine.write { writer in
      let transaction = LogStoreTransaction(writer, schema, identity, derives: false)
      try body(transaction)
      _ = try transaction.finish(info)
      // `finish` writes entries only if rows were written.
      try transaction.writeEntries()
    }
  }
}

extension StoreIdentifier {
  init(_ uuid: UUID) {
    let (low, high) = withUnsafeBytes(of: uuid.uuid) {
      ($0.loadUnaligned(as: UInt64.self), $0.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
    }
    self.init(low: UInt64(littleEndian: low), high: UInt64(littleEndian: high))
  }
}
