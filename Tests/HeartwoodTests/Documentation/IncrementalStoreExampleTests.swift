import Foundation
import Heartwood
import Testing

private final class Pupil: ManagedObject {
  @Attribute var name = ""
  @Relationship(inverse: { $0.pupils }) var school: School?
}

private final class School: ManagedObject {
  @Attribute var name = ""
  @Attribute(derived: "pupils.@count") var size: Int64 = 0
  @Relationship(inverse: { $0.school }) var pupils: Set<Pupil>
}

/// The contents of a server: rows at places, each a dictionary by numbers.
private final class RowServer: @unchecked Sendable {
  struct Row {
    var entity: String
    var version: UInt64
    var values: [String: Any] = [:]
    /// The numbers of the destinations of to-one relationships.
    var links: [String: Int64] = [:]
  }
  static let all = RowServer()
  private let lock = NSRecursiveLock()
  private var places: [URL: Database] = [:]

  func database(at url: URL) -> Database {
    lock.withLock {
      if let known = places[url] { return known }
      let made = Database(server: self)
      places[url] = made
      return made
    }
  }

  final class Database: @unchecked Sendable {
    private let server: RowServer
    var rows: [Int64: Row] = [:]
    var last: Int64 = 0
    var metadata: [String: any Sendable] = [:]

    init(server: RowServer) { self.server = server }

    func locked<Result>(_ body: () throws -> Result) rethrows -> Result { try server.lock.withLock(body) }

    func newPlace() -> URL { URL(fileURLWithPath: "/server/\(UUID().uuidString)") }

    func take(rowsAt place: URL, metadata: [String: any Sendable]) throws {
      let other = server.database(at: place)
      (rows, last, self.metadata) = (other.rows, other.last, metadata)
      server.places[place] = nil
    }
  }
}

private class ServerStore: IncrementalStore, @unchecked Sendable {
  var database: RowServer.Database { RowServer.all.database(at: url) }

  override func loadMetadata() throws {
    database.locked {
      if database.metadata.isEmpty { database.metadata[MetadataKey.storeUUID] = UUID().uuidString }
      storedMetadata = database.metadata
    }
  }
  override func saveMetadata() throws { database.locked { database.metadata = storedMetadata } }
  override func didAdd(to coordinator: PersistentStoreCoordinator) { database.metadata = storedMetadata }

  override func obtainPermanentIDs(for objects: [ManagedObject]) throws -> [ManagedObjectID] {
    database.locked {
      objects.map { object in
        database.last += 1
        return newObjectID(for: object.entity, referenceObject: database.last)
      }
    }
  }

  override func execute(
    _ request: PersistentStoreRequest, with context: ManagedObjectContext?
  ) throws -> Any {
    if let save = request as? SaveChangesRequest {
      try write(save)
      return []
    }
    guard let fetch = request as? FetchRequest<ManagedObject> else {
      return try super.execute(request, with: context)
    }
    let found = try select(allNodes(of: fetch.entity), for: fetch)
    switch fetch.resultType {
    case .countResultType: return [found.count]
    case .managedObjectIDResultType: return found.map(\.objectID)
    default: return found
    }
  }

  override func newValuesForObject(
    with objectID: ManagedObjectID, with context: ManagedObjectContext?
  ) throws -> IncrementalStoreNode {
    try database.locked {
      try #require(database.rows[number(objectID)].flatMap { node($0, number(objectID)) })
    }
  }

  override func newValue(
    forRelationship relationship: RelationshipDescription, forObjectWith objectID: ManagedObjectID,
    with context: ManagedObjectContext?
  ) throws -> Any {
    // To-one destinations are values of nodes.
    guard relationship.isToMany else { return NSNull() }
    return database.locked {
      let inverse = relationship.inverseRelationship?.name ?? ""
      return database.rows.filter { $1.links[inverse] == number(objectID) }.compactMap { number, row in
        managedObjectModel.entitiesByName[row.entity].map { newObjectID(for: $0, referenceObject: number) }
      }
    }
  }

  override func replaceContents(
    from source: ManagedObjectModel, _ make: (_ source: URL, _ destination: URL) throws -> Void
  ) throws {
    try database.locked {
      let beside = database.newPlace()
      try make(url, beside)
      try database.take(rowsAt: beside, metadata: storedMetadata)
    }
  }

  func number(_ objectID: ManagedObjectID) -> Int64 { referenceObject(for: objectID) as? Int64 ?? 0 }

  private func allNodes(of entity: EntityDescription?) -> [IncrementalStoreNode] {
    database.locked { database.rows.filter { $1.entity == entity?.name }.compactMap { node($1, $0) } }
  }

  private func node(_ row: RowServer.Row, _ number: Int64) -> IncrementalStoreNode? {
    managedObjectModel.entitiesByName[row.entity].map { entity in
      var values = row.values
      for relationship in entity.relationshipsByName.values where !relationship.isToMany {
        values[relationship.name] =
          row.links[relationship.name].flatMap { link in
            relationship.destinationEntity.map { newObjectID(for: $0, referenceObject: link) }
          } ?? NSNull()
      }
      return IncrementalStoreNode(
        objectID: newObjectID(for: entity, referenceObject: number), withValues: values, version: row.version)
    }
  }

  func write(_ save: SaveChangesRequest) throws {
    database.locked {
      for object in save.deletedObjects ?? [] { database.rows[number(object.objectID)] = nil }
      for object in (save.insertedObjects ?? []).union(save.updatedObjects ?? []) {
        var row = RowServer.Row(entity: object.entity.name ?? "", version: save.newVersion(of: object))
        for name in object.entity.attributesByName.keys { row.values[name] = object.value(forKey: name) }
        for relationship in object.entity.relationshipsByName.values where !relationship.isToMany {
          let destination = object.objectIDs(forRelationshipNamed: relationship.name).first
          row.links[relationship.name] = destination.map(number)
        }
        database.rows[number(object.objectID)] = row
      }
    }
  }

  func write(_ values: [String: Any?], to objectID: ManagedObjectID) throws {
    database.locked {
      for (name, value) in values { database.rows[number(objectID)]?.values[name] = value }
    }
  }
}

/// One with attributes that are derived of other objects.
private final class DerivingServerStore: ServerStore, @unchecked Sendable {
  override func execute(
    _ request: PersistentStoreRequest, with context: ManagedObjectContext?
  ) throws -> Any {
    guard let save = request as? SaveChangesRequest else { return try super.execute(request, with: context) }
    let derivation = derivation(of: save, with: context)
    try derivation?.noteBeforeSave()
    try write(save)
    try derivation?.noteAfterSave()
    try derivation?.forEachPart { part in
      for object in part { try write(object.valuesByName, to: object.objectID) }
    }
    return []
  }
}

@Suite struct `Examples of the article on incremental stores` {
  private static let deriving = PersistentStore.StoreType(rawValue: "Deriving server")

  @Test func `a store elsewhere saves, fetches and derives`() throws {
    PersistentStoreCoordinator.registerStoreClass(
      ServerStore.self, type: PersistentStore.StoreType(rawValue: "Server"))
    PersistentStoreCoordinator.registerStoreClass(DerivingServerStore.self, type: Self.deriving)
    for kind in [PersistentStore.StoreType(rawValue: "Server"), Self.deriving] {
      let url = URL(fileURLWithPath: "/server/\(kind.rawValue)")
      let coordinator = PersistentStoreCoordinator(
        managedObjectModel: try ManagedObjectModel(types: [Pupil.self, School.self]))
      let store = try coordinator.addPersistentStore(type: kind, at: url)
      try save(ManagedObjectContext(.privateQueue, coordinator: coordinator), derives: kind == Self.deriving)
      if kind == Self.deriving { try rewrite(try #require(store as? ServerStore)) }
      try coordinator.close()
    }
  }

  private func save(_ context: ManagedObjectContext, derives: Bool) throws {
    try context.performAndWait {
      let school = School(context: context)
      for name in ["Ann", "Bob"] {
        let pupil = Pupil(context: context)
        pupil.name = name
        pupil.school = school
      }
      try context.save()
      context.reset()
      #expect(try context.fetch(Pupil.self, where: { $0.name == "Bob" }).first?.school?.pupils.count == 2)
      #expect(try context.count(Pupil.self) == 2)
      if derives { #expect(try context.fetch(School.self).map(\.size) == [2]) }
    }
  }

  /// As the last step of a migration by a mapping model.
  private func rewrite(_ store: ServerStore) throws {
    try store.replaceContents(from: store.managedObjectModel) { source, destination in
      let made = RowServer.all.database(at: destination)
      made.rows = RowServer.all.database(at: source).rows.filter { $1.entity == "School" }
    }
    #expect(store.database.rows.count == 1)
  }
}
