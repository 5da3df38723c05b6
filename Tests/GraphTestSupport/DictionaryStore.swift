import Foundation
import Heartwood

/// A kind of store of a program: rows in dictionaries, which stores at the same URL share.
///
/// It calls objects by numbers, has the links of relationships without a to-one inverse in the rows of both sides, and has the order of an
/// ordered relationship in the row that has it.
package final class DictionaryStore: IncrementalStore, @unchecked Sendable {
  package static let kind = PersistentStore.StoreType(rawValue: "Dictionaries")

  package struct Row {
    package var entity: String
    package var version: UInt64
    package var values: [String: Any] = [:]
    package var toOne: [String: Int64] = [:]
    package var lists: [String: [Int64]] = [:]
  }

  /// The contents that stores at one URL share.
  package final class Database {
    /// By number.
    package var rows: [Int64: Row] = [:]
    package var last: Int64 = 0
    package var metadata: [String: any Sendable] = [:]
    /// The calls since a test has emptied it.
    package var calls: [String] = []
    package var uses: [ManagedObjectID: Int] = [:]
    /// Called before a save.
    package var beforeSave: (() throws -> Void)?
    /// Called before the metadata are read.
    package var beforeMetadata: (() -> Void)?
    /// Called after the metadata were written.
    package var afterMetadata: (() -> Void)?
    /// The history that a test has written; nil for none.
    package var history: [StoreHistoryTransaction]?
    /// Called after the history was read, before it is delivered.
    package var afterHistory: (() -> Void)?
    /// Who is told of saves by a test.
    package weak var observer: Observer?
    /// The answer to a batch, which is no result.
    package var answerToBatches: (any Sendable)?
    package let lock = NSRecursiveLock()
  }

  package final class Observer: Sendable {
    package let tell: @Sendable () -> Void

    fileprivate init(_ tell: @escaping @Sendable () -> Void) { self.tell = tell }
  }

  nonisolated(unsafe) private static var databases: [URL: Database] = [:]
  private static let lock = NSLock()

  package static func database(at url: URL) -> Database {
    lock.withLock {
      if let known = databases[url] { return known }
      let made = Database()
      databases[url] = made
      return made
    }
  }

  /// A place that no other store has.
  package static func newPlace() -> URL { URL(string: "dictionaries://test/\(UUID().uuidString)")! }

  private var database: Database { Self.database(at: url) }

  private func note<Result>(_ call: String, _ body: (Database) throws -> Result) rethrows -> Result {
    let database = database
    return try database.lock.withLock {
      database.calls.append(call)
      return try body(database)
    }
  }

  package override func loadMetadata() throws {
    database.beforeMetadata?()
    note("metadata") { database in
      if database.metadata.isEmpty { database.metadata[MetadataKey.storeUUID] = UUID().uuidString }
      storedMetadata = database.metadata
    }
  }
  package override func saveMetadata() throws {
    note("save metadata") { $0.metadata = storedMetadata }
    database.afterMetadata?()
  }

  package override class func withCopy(ofStoreAt url: URL, options: Options, _ body: (URL) throws -> Void)
    throws
  {
    let place = newPlace()
    let (own, copy) = (database(at: url), database(at: place))
    defer { lock.withLock { databases[place] = nil } }
    (copy.rows, copy.last, copy.metadata) = (own.rows, own.last, own.metadata)
    try body(place)
  }

  // MARK: History

  package override var hasHistory: Bool { database.history != nil }

  package override func enumerateHistory(
    after number: UInt64, _ body: (StoreHistoryTransaction) throws -> Bool
  ) throws {
    let found = note("history") { ($0.history ?? []).filter { $0.number > number } }
    database.afterHistory?()
    for transaction in found { guard try body(transaction) else { return } }
  }

  package override func newestHistoryNumber() throws -> UInt64 { database.history?.last?.number ?? 0 }

  package override func observeSaves(_ body: @escaping @Sendable () -> Void) throws -> AnyObject? {
    guard hasHistory else { return nil }
    let observer = Observer(body)
    database.observer = observer
    return observer
  }

  package override func obtainPermanentIDs(for objects: [ManagedObject]) throws -> [ManagedObjectID] {
    note("identifiers") { database in
      objects.map { object in
        database.last += 1
        return newObjectID(for: object.entity, referenceObject: database.last)
      }
    }
  }

  // MARK: Reading

  package override func execute(_ request: PersistentStoreRequest, with context: ManagedObjectContext?) throws
    -> Any
  {
    if let save = request as? SaveChangesRequest {
      try self.save(save, context)
      return []
    }
    guard let fetch = request as? FetchRequest<ManagedObject> else {
      if let answer = database.answerToBatches { return answer }
      return try super.execute(request, with: context)
    }
    return try note("fetch") { database in
      let found = try select(database.rows.compactMap { node($1, $0) }, for: fetch)
      switch fetch.resultType {
      case .countResultType: return [found.count]
      case .managedObjectIDResultType: return found.map(\.objectID)
      default: return found
      }
    }
  }

  package override func newValuesForObject(
    with objectID: ManagedObjectID, with context: ManagedObjectContext?
  ) throws -> IncrementalStoreNode {
    try note("values") { database in
      let number = number(objectID)
      guard let row = database.rows[number], let node = node(row, number) else {
        throw missingObject(objectID)
      }
      return node
    }
  }

  package override func newValue(
    forRelationship relationship: RelationshipDescription, forObjectWith objectID: ManagedObjectID,
    with context: ManagedObjectContext?
  ) throws -> Any {
    note("relationship \(relationship.name)") { database in
      let (number, others) = (number(objectID), database.rows)
      let row = others[number]
      func identifier(_ number: Int64) -> ManagedObjectID? {
        others[number].flatMap { managedObjectModel.entitiesByName[$0.entity] }.map {
          newObjectID(for: $0, referenceObject: number)
        }
      }
      if !relationship.isToMany {
        return row?.toOne[relationship.name].flatMap(identifier) ?? NSNull()
      }
      var numbers = row?.lists[relationship.name] ?? []
      if let inverse = relationship.inverseRelationship, !inverse.isToMany {
        let referring = others.filter { $1.toOne[inverse.name] == number }.keys
        numbers = numbers.filter(referring.contains)
        numbers += Set(referring).subtracting(numbers).sorted()
      }
      return numbers.compactMap(identifier)
    }
  }

  private func number(_ objectID: ManagedObjectID) -> Int64 { referenceObject(for: objectID) as? Int64 ?? 0 }

  private func node(_ row: Row, _ number: Int64) -> IncrementalStoreNode? {
    managedObjectModel.entitiesByName[row.entity].map { entity in
      var values = row.values
      for relationship in entity.relationshipsByName.values where !relationship.isToMany {
        // One is left out, so that it is asked for.
        guard relationship.name != "idol" else { continue }
        values[relationship.name] =
          row.toOne[relationship.name].map {
            newObjectID(for: relationship.destinationEntity!, referenceObject: $0)
          } ?? NSNull()
      }
      return IncrementalStoreNode(
        objectID: newObjectID(for: entity, referenceObject: number), withValues: values, version: row.version)
    }
  }

  // MARK: Saving

  private func save(_ request: SaveChangesRequest, _ context: ManagedObjectContext?) throws {
    try database.beforeSave?()
    try note("save") { database in
      let derivation = derivation(of: request, with: context)
      try derivation?.noteBeforeSave()
      for object in request.deletedObjects ?? [] {
        database.rows[number(object.objectID)] = nil
      }
      for object in (request.insertedObjects ?? []).union(request.updatedObjects ?? []) {
        let number = number(object.objectID)
        var row = database.rows[number] ?? Row(entity: object.entity.name ?? "", version: 0)
        row.version = request.newVersion(of: object)
        for case let attribute as AttributeDescription in object.entity.columnsByName.values
        where !attribute.isTransient && attribute.type != .composite {
          row.values[attribute.name] = object.value(forKey: attribute.name)
        }
        for relationship in object.entity.relationshipsByName.values {
          if !relationship.isToMany {
            let id = object.objectIDs(forRelationshipNamed: relationship.name).first
            row.toOne[relationship.name] = id.map(self.number)
          } else if let changes = request.changes(of: relationship, in: object) {
            let inverse = relationship.inverseRelationship
            guard relationship.isOrdered || inverse?.isToMany != false else { continue }
            let kept = (row.lists[relationship.name] ?? []).filter { number in
              !changes.removed.contains { self.number($0) == number }
            }
            let added = changes.added.map(self.number).filter { !kept.contains($0) }
            row.lists[relationship.name] = changes.order?.map(self.number) ?? kept + added
          }
        }
        database.rows[number] = row
      }
      try derivation?.noteAfterSave()
      try derivation?.forEachPart { part in
        for object in part {
          for (name, value) in object.valuesByName {
            database.rows[number(object.objectID)]?.values[name] = value
          }
        }
      }
    }
  }

  // MARK: Migrating

  /// With the model, so that the store can be migrated.
  package override func didAdd(to coordinator: PersistentStoreCoordinator) {
    if !isReadOnly { database.metadata = storedMetadata }
  }

  package override func migrate(_ migration: InferredMigration) throws {
    note("migrate") { database in
      database.rows = database.rows.compactMapValues { row in
        let entity = managedObjectModel.entities.first { migration.source(of: $0)?.name == row.entity }
        guard let entity else { return nil }
        var made = Row(entity: entity.name ?? "", version: row.version)
        for property in Array(entity.attributesByName.values) + Array(entity.relationshipsByName.values) {
          guard let former = migration.source(of: property, in: entity)?.name else {
            made.values[property.name] = (property as? AttributeDescription)?.defaultValue
            continue
          }
          made.values[property.name] = row.values[former]
          made.toOne[property.name] = row.toOne[former]
          made.lists[property.name] = row.lists[former]
        }
        return made
      }
      database.metadata = storedMetadata
    }
  }

  package override func replaceContents(
    from source: ManagedObjectModel, _ make: (_ source: URL, _ destination: URL) throws -> Void
  ) throws {
    let place = Self.newPlace()
    defer { Self.lock.withLock { Self.databases[place] = nil } }
    try make(url, place)
    let made = Self.database(at: place)
    note("replace") { database in
      database.rows = made.rows
      database.last = made.last
      database.metadata = storedMetadata
    }
  }

  package override var countsUses: Bool { true }

  package override func managedObjectContextDidRegisterObjects(with objectIDs: [ManagedObjectID]) {
    note("register") { database in for id in objectIDs { database.uses[id, default: 0] += 1 } }
  }

  package override func managedObjectContextDidUnregisterObjects(with objectIDs: [ManagedObjectID]) {
    note("unregister") { database in for id in objectIDs { database.uses[id, default: 0] -= 1 } }
  }
}
