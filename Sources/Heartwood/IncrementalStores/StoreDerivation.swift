import Foundation
import HeartwoodBytes

/// The derived attributes that a transaction of an ``IncrementalStore`` changes, also those of objects that it does not write itself:
/// `IncrementalStore.derivation(of:with:lock:)`.
///
/// A class notes what it changes before and after it writes, and writes the values that `forEachPart(_:)` gives in the same transaction. Other
/// objects are read by the class's own methods in between, which must see what the transaction has written.
///
/// Derived attributes that depend on the object itself only have their values already in a save and in the rows of a batch insert.
public final class StoreDerivation {
  /// The derived values of an object that are others than those in the store.
  public struct Values: Sendable {
    /// The object, with its own entity.
    public let objectID: ManagedObjectID
    /// The attributes and their values. The version of the object stays.
    public let changes: [(attribute: AttributeDescription, value: StoredValue)]

    /// By name, in the types of `ManagedObject.value(forKey:)`; nothing for missing values.
    public var valuesByName: [String: Any?] {
      let entity = objectID.entity
      return Dictionary(
        uniqueKeysWithValues: changes.map { attribute, value in
          let kind = entity.layout.columns[attribute.slot].kind
          let stored = value.value(kind)
          return (attribute.name, stored.flatMap { entity.anyValue($0, at: attribute.slot) })
        })
    }
  }

  /// The lock that a class takes on objects in its transaction, where several may change them at the same time.
  public enum Lock: Sendable {
    /// They are read, and must not change until the end of the transaction.
    case reading
    /// They are read and written.
    case writing
    /// They are deleted, and no other must begin to refer to them.
    case deleting
  }

  let plan: DerivationPlan
  let contents: IncrementalContents
  let request: SaveChangesRequest?
  let context: ManagedObjectContext?
  let lock: ([ManagedObjectID], Lock) throws -> Void
  let now = Date()
  /// The objects that the save writes.
  private(set) lazy var saved = Set(request?.plan.written.map(\.objectID) ?? [])
  /// By route, the keys of objects that have the route's last relationship to a changed object.
  private var owners: [Int: Set<UInt64>] = [:]
  /// By the number of the root entity, the keys of objects whose own rows have changed.
  private var own: [UInt16: Set<UInt64>] = [:]
  /// Those whose values that depend on their own rows are computed, too.
  private(set) var rewritten: [UInt16: Set<UInt64>] = [:]

  init(
    _ plan: DerivationPlan, _ contents: IncrementalContents, _ request: SaveChangesRequest?,
    _ context: ManagedObjectContext?, _ lock: @escaping ([ManagedObjectID], Lock) throws -> Void
  ) {
    (self.plan, self.contents, self.request, self.context, self.lock) = (
      plan, contents, request, context, lock
    )
    request?.derived = []
  }

  // MARK: A save

  /// Notes the objects of the save as they are before it. Does nothing for another request.
  public func noteBeforeSave() throws {
    guard let request else { return }
    try noteDeletion(request.plan.deleted.map(\.objectID))
    for (slots, objects) in changedObjects(request) { try note(objects, changed: slots, isBefore: true) }
  }

  /// Notes the objects of the save as it has left them. Does nothing for another request.
  public func noteAfterSave() throws {
    guard let request else { return }
    try noteInsertion(request.plan.inserted.map(\.objectID))
    for (slots, objects) in changedObjects(request) {
      // Their values may be out of date in the context.
      noteOwn(objects, changed: nil)
      try note(objects, changed: slots, isBefore: false)
    }
    for object in request.plan.written {
      for relationship in object.entity.relationshipsByName.values where relationship.isToMany {
        guard let inverse = relationship.inverseRelationship, inverse.isToMany else { continue }
        let (forward, back) = (plan.routes(over: relationship), plan.routes(over: inverse))
        guard !forward.isEmpty || !back.isEmpty, let changes = request.changes(of: relationship, in: object)
        else { continue }
        let targets = (changes.added + changes.removed).map(\.keyInItsStore)
        guard !targets.isEmpty else { continue }
        for route in forward { owners[route, default: []].insert(object.objectID.keyInItsStore) }
        for route in back { owners[route, default: []].formUnion(targets) }
      }
    }
  }

  private func changedObjects(_ request: SaveChangesRequest) -> [([Int], [ManagedObjectID])] {
    struct Kind: Hashable {
      let entity: UInt16
      let slots: [Int]
    }
    var groups: [Kind: [ManagedObjectID]] = [:]
    for (object, slots) in zip(request.plan.updated, request.plan.changedSlots) where !slots.isEmpty {
      groups[Kind(entity: object.entity.number, slots: slots), default: []].append(object.objectID)
    }
    return groups.map { ($0.slots, $1) }
  }

  // MARK: A batch

  /// Notes objects that are about to be deleted.
  public func noteDeletion(_ objects: [ManagedObjectID]) throws {
    let concerned = objects.filter { plan.of($0.entity)?.readers.isEmpty == false }
    guard !concerned.isEmpty else { return }
    try lock(concerned, .deleting)
    try note(concerned, changed: nil, isBefore: true)
  }

  /// Notes objects that were inserted.
  public func noteInsertion(_ objects: [ManagedObjectID]) throws {
    noteOwn(objects, changed: nil)
    try note(objects, changed: nil, isBefore: false)
  }

  /// Notes objects some of whose attributes and to-one relationships are about to be changed.
  public func noteBefore(_ objects: [ManagedObjectID], changing properties: [PropertyDescription]) throws {
    for (entity, members) in Self.byEntity(objects) {
      try note(members, changed: Self.slots(properties, entity), isBefore: true)
    }
  }

  /// Notes objects some of whose attributes and to-one relationships were changed by a batch.
  public func noteAfter(_ objects: [ManagedObjectID], changing properties: [PropertyDescription]) throws {
    for (entity, members) in Self.byEntity(objects) {
      let slots = Self.slots(properties, entity)
      if plan.of(entity)?.ofOwnRow.isEmpty == false {
        rewritten[entity.rootEntity.number, default: []].formUnion(members.map(\.keyInItsStore))
      }
      noteOwn(members, changed: slots)
      try note(members, changed: slots, isBefore: false)
    }
  }

  /// Notes what a batch is about to write.
  public func noteBefore(_ changes: StoreRowChanges) throws {
    try noteDeletion(changes.deletedObjects)
    for (properties, objects) in Self.groups(changes.updatedRows) {
      try noteBefore(objects, changing: properties)
    }
  }

  /// Notes what a batch has written.
  public func noteAfter(_ changes: StoreRowChanges) throws {
    try noteInsertion(changes.insertedRows.map(\.objectID))
    for (properties, objects) in Self.groups(changes.updatedRows) {
      try noteAfter(objects, changing: properties)
    }
    // Those of the inverses are among them.
    for links in changes.relationships {
      for route in plan.routes(over: links.relationship) {
        owners[route, default: []].insert(links.objectID.keyInItsStore)
      }
    }
  }

  private static func groups(_ rows: [StoreRowChanges.Row]) -> [([PropertyDescription], [ManagedObjectID])] {
    struct Kind: Hashable {
      let entity: UInt16
      let slots: [Int]
    }
    return Dictionary(grouping: rows) {
      Kind(entity: $0.objectID.entity.number, slots: $0.properties.map(\.slot))
    }.values.map { ($0[0].properties, $0.map(\.objectID)) }
  }

  /// Notes objects whose derived values are all to be computed, as after a migration.
  public func noteAll(_ objects: [ManagedObjectID]) {
    for object in objects {
      let root = object.entity.rootEntity.number
      own[root, default: []].insert(object.keyInItsStore)
      rewritten[root, default: []].insert(object.keyInItsStore)
    }
  }

  private static func slots(_ properties: [PropertyDescription], _ entity: EntityDescription) -> [Int] {
    properties.compactMap { entity.slot(named: $0.name) }
  }

  private static func byEntity(
    _ objects: [ManagedObjectID]
  ) -> [(entity: EntityDescription, members: [ManagedObjectID])] {
    Dictionary(grouping: objects) { $0.entity.number }.sorted { $0.key < $1.key }
      .map { ($0.value[0].entity, $0.value) }
  }

  // MARK: Marks

  /// Notes objects whose own rows were written.
  private func noteOwn(_ objects: [ManagedObjectID], changed slots: [Int]?) {
    for (entity, members) in Self.byEntity(objects) {
      guard let known = plan.of(entity) else { continue }
      let root = entity.rootEntity.number
      let isRewritten = rewritten[root] != nil && !known.ofOwnRow.isEmpty
      let read = known.ownSlots.union(known.ofOthers.map(\.slot))
      guard
        isRewritten
          || !known.ofOthers.isEmpty && slots.map({ !read.isDisjoint(with: $0) }) != false
      else { continue }
      own[root, default: []].formUnion(members.map(\.keyInItsStore))
    }
  }

  /// How many objects one call asks for.
  private static let notedAtOnce = 5000

  /// Notes the objects that read changed ones, as the relationships are now.
  ///
  /// - Parameters:
  ///   - slots: The slots that have changed; nil for a row that is new or is deleted.
  ///   - isBefore: Whether the change comes later: only relationships that change then are of interest.
  private func note(_ objects: [ManagedObjectID], changed slots: [Int]?, isBefore: Bool) throws {
    for (entity, members) in Self.byEntity(objects) {
      guard let known = plan.of(entity) else { continue }
      var found: [ObjectIdentifier: Set<UInt64>] = [:]
      for reader in known.readers {
        guard let inverse = plan.routes[reader.route].last?.inverseRelationship else { continue }
        if let slots {
          let moves = slots.contains(inverse.slot)
          guard moves || !isBefore && !reader.slots.isDisjoint(with: slots) else { continue }
        }
        let name = ObjectIdentifier(inverse)
        let keys = try found[name] ?? destinations(of: inverse, members.map(\.keyInItsStore))
        found[name] = keys
        owners[reader.route, default: []].formUnion(keys)
      }
    }
  }

  private func destinations(
    of relationship: RelationshipDescription, _ keys: some Collection<UInt64>
  ) throws -> Set<UInt64> {
    var found: Set<UInt64> = []
    for part in Array(keys).inParts(of: Self.notedAtOnce) {
      for list in try contents.destinations(relationship, of: Array(part), context).values {
        found.formUnion(list)
      }
    }
    return found
  }

  // MARK: Values

  /// How many objects are computed at once.
  private static let derivedAtOnce = 500

  /// Computes the derived values of all objects that were noted, some at a time.
  ///
  /// - Parameter body: Writes values that differ from those in the store.
  /// - Throws: `.managedObjectValidation` if a value does not fit its attribute; the errors of reading, of locking and of `body`.
  public func forEachPart(_ body: ([Values]) throws -> Void) throws {
    var keys = own
    for (number, route) in plan.routes.enumerated() {
      guard var found = owners[number], let last = route.last else { continue }
      if last.isToMany { try lock(found.sorted().map { identifier(last.entity, $0) }, .writing) }
      for relationship in route.dropLast().reversed() {
        guard let inverse = relationship.inverseRelationship else { continue }
        found = try destinations(of: inverse, found.sorted())
      }
      guard let root = route.first?.entity?.rootEntity else { continue }
      keys[root.number, default: []].formUnion(found)
    }
    (own, owners) = ([:], [:])
    for (root, concerned) in keys.sorted(by: { $0.key < $1.key }) {
      guard
        let entity = try contents.openStore().managedObjectModel.entities.first(where: { $0.number == root })
      else { continue }
      for part in concerned.sorted().inParts(of: Self.derivedAtOnce) {
        try derive(entity, Array(part), body)
      }
    }
    rewritten = [:]
  }

  func identifier(_ entity: EntityDescription?, _ key: UInt64) -> ManagedObjectID {
    guard let entity else { programError("A relationship without an entity has no objects.") }
    return contents.identifier(entity.rootEntity, key)
  }
}

extension IncrementalStore {
  /// The derived attributes that a save or a batch changes; nil if the model has none.
  ///
  /// - Parameters:
  ///   - request: The request that `execute(_:with:)` got.
  ///   - context: Its context.
  ///   - lock: Locks objects until the end of the transaction, before they are read or written. Needed where several transactions may run at the same time.
  public final func derivation(
    of request: PersistentStoreRequest, with context: ManagedObjectContext?,
    lock: @escaping ([ManagedObjectID], StoreDerivation.Lock) throws -> Void = { _, _ in }
  ) -> StoreDerivation? {
    derivations.map { plan in
      StoreDerivation(
        plan, IncrementalContents(self, identityOfObjects), request as? SaveChangesRequest, context, lock)
    }
  }
}

extension InferredMigration {
  /// Whether an entity of the destination has derived attributes that are new, have another expression, or may read objects that the migration
  /// removes: the values of all its objects are computed after the migration.
  public func derivesAnew(_ entity: EntityDescription) -> Bool {
    let removesObjects = sourceModel.entities.contains { inferred.destination(of: $0) == nil }
    return entity.slots.contains { slot in
      guard let derivation = entity.property(at: slot).derivation else { return false }
      return removesObjects || inferred.sourceProperty(at: slot, of: entity)?.derivation != derivation
    }
  }
}

extension IncrementalStore {
  /// The derived attributes that a migration of the store computes; nil if none has other values after it.
  public final func derivation(of migration: InferredMigration) -> StoreDerivation? {
    guard migration.destinationModel.entities.contains(where: migration.derivesAnew) else { return nil }
    return derivations.map {
      StoreDerivation($0, IncrementalContents(self, identityOfObjects), nil, nil) { _, _ in }
    }
  }
}
