import Foundation
import HeartwoodFiles
import Synchronization

/// An incremental store as contexts see it: rows that are made of nodes when they are read, with the store's own keys.
final class IncrementalContents: AskedStore {
  private struct Weak: @unchecked Sendable {
    weak var store: IncrementalStore?
  }

  let identity: StoreIdentity
  private let held: Weak
  private let path: String
  private let typeName: String
  private let saves = Atomic<UInt64>(1)
  /// Whether the store executes fetches itself.
  let executesFetches: Bool
  let hasHistory: Bool
  /// The numbers of the entities whose objects it may have, and of their superentities; nil for all.
  private let entities: Set<UInt16>?

  init(_ store: IncrementalStore, _ identity: StoreIdentity) {
    executesFetches = store.executesFetches
    hasHistory = store.hasHistory
    entities = store.storedEntities
    held = Weak(store: store)
    path = store.place
    typeName = store.type.rawValue
    self.identity = identity
  }

  /// - Throws: `.persistentStoreOperation` if it is not open any more.
  func openStore() throws -> IncrementalStore {
    if let store = held.store { return store }
    throw HeartwoodError(
      .persistentStoreOperation, "the store at \(path) is not open any more: add it to a coordinator again")
  }

  /// Counts the saves of this coordinator; those of others are seen when objects are read.
  var newestGeneration: UInt64 { saves.load(ordering: .acquiring) }

  /// - Returns: The generation after the save.
  func noteSave() -> UInt64 { saves.add(1, ordering: .acquiringAndReleasing).newValue }

  func require(_ feature: StoreFeature) throws(HeartwoodError) {
    guard feature == .history else { throw unsupported(feature.rawValue) }
    guard hasHistory else {
      throw HeartwoodError(
        .persistentStoreUnsupportedRequestType,
        "the store at \(path), of type \(typeName)"
          + (held.store?.historyLack.map { ": \($0)" }
            ?? ", has no history: no program has recorded one in it"))
    }
  }

  private func unsupported(_ what: String) -> HeartwoodError {
    HeartwoodError(
      .persistentStoreUnsupportedRequestType,
      "the store at \(path) is a custom store of type \(typeName), which does not have \(what): only stores of type Log do"
    )
  }

  var members: [StoreMember] { [] }

  func has(_ entity: EntityDescription) -> Bool { entities?.contains(entity.number) ?? true }

  func view() throws -> any StoreView { IncrementalView(self, newestGeneration) }

  func view(for context: ManagedObjectContext) throws -> any StoreView {
    IncrementalView(self, newestGeneration, context)
  }

  func view(at generations: StoreGenerations) throws -> any StoreView {
    throw unsupported(StoreFeature.generations.rawValue)
  }

  func savePendingMetadata() throws { try openStore().savePendingMetadata() }

  func execute(
    _ request: PersistentStoreRequest, in numbers: Set<Int>?, for context: ManagedObjectContext?
  ) throws -> [Any]? {
    let store = try openStore()
    let writes = request.requestType != .fetchRequestType
    guard !writes || !store.isReadOnly else { throw store.readOnly }
    let result = try store.execute(request, with: context)
    if writes { _ = noteSave() }
    return [result]
  }

  func memberView(readBy context: ManagedObjectContext?) -> any MemberView {
    IncrementalView(self, newestGeneration, context)
  }

  var countsUses: Bool { (try? openStore())?.countsUses == true }
  func makeUsedObjects() -> UsedObjects? { countsUses ? UsedObjects(self) : nil }

  func begin(using objects: [ManagedObjectID]) {
    try? openStore().managedObjectContextDidRegisterObjects(with: objects)
  }

  func end(using objects: [ManagedObjectID]) {
    try? openStore().managedObjectContextDidUnregisterObjects(with: objects)
  }

  /// - Throws: The error of the store; `.persistentStoreSave` if it has not given a new identifier of this store to each object.
  func reserveIdentifiers(
    for objects: [ManagedObject], of context: ManagedObjectContext
  ) throws -> [ManagedObjectID] {
    let store = try openStore()
    guard !store.isReadOnly else { throw store.readOnly }
    let identifiers = try store.obtainPermanentIDs(for: objects)
    let areFitting =
      identifiers.count == objects.count && Set(identifiers).count == objects.count
      && zip(identifiers, objects).allSatisfy {
        !$0.isTemporaryID && $0.store == identity && $0.entity === $1.entity
      }
    guard areFitting else {
      throw HeartwoodError(
        .persistentStoreSave,
        "\(type(of: store)).obtainPermanentIDs(for:) must return a different identifier of this store for each of the \(objects.count) "
          + "objects, with its entity, in their order: it returned \(identifiers)")
    }
    return identifiers
  }

  // MARK: Reading

  func nodes(
    _ root: EntityDescription, _ keys: [UInt64], _ context: ManagedObjectContext?
  ) throws -> [IncrementalStoreNode] {
    let store = try openStore()
    let root = store.own(root)
    let nodes: [IncrementalStoreNode]
    if keys.count == 1 {
      do {
        nodes = [try store.newValuesForObject(with: identifier(root, keys[0]), with: context)]
      } catch let error as HeartwoodError where error.code == .managedObjectReferentialIntegrity {
        nodes = []
      }
    } else {
      nodes = try store.newValues(forObjectsWith: keys.map { identifier(root, $0) }, with: context)
    }
    for node in nodes {
      guard node.objectID.store == identity, node.objectID.entity.rootEntity === root else {
        throw HeartwoodError(
          .persistentStoreDamaged,
          "\(type(of: store)) returned a node of \(node.objectID) for an object of \(root.displayName)",
          objectIDs: [node.objectID])
      }
    }
    return nodes
  }

  func identifier(_ entity: EntityDescription, _ key: UInt64) -> ManagedObjectID {
    let own = entity.hasSubentities ? held.store?.ownEntity(of: key, entity) : nil
    return ManagedObjectID(entity: own ?? entity, key: key, store: identity)
  }

  /// A node as a row.
  func row(of node: IncrementalStoreNode, _ context: ManagedObjectContext?) throws -> [UInt8] {
    try node.row { relationship in
      let value = try openStore().newValue(
        forRelationship: relationship, forObjectWith: node.objectID, with: context)
      if value is NSNull { return nil }
      if let id = value as? ManagedObjectID { return id }
      throw wrong(value, relationship, "an identifier or NSNull")
    }
  }

  func destinations(
    _ relationship: RelationshipDescription, of keys: [UInt64], _ context: ManagedObjectContext?
  ) throws -> [UInt64: [UInt64]] {
    guard let given = relationship.entity else { return [:] }
    let store = try openStore()
    let entity = store.own(given)
    let relationship =
      entity === given ? relationship : entity.relationshipsByName[relationship.name] ?? relationship
    var found: [UInt64: [UInt64]] = [:]
    if keys.count == 1 {
      let value = try store.newValue(
        forRelationship: relationship, forObjectWith: identifier(entity, keys[0]), with: context)
      found[keys[0]] = try self.keys(value, relationship)
    } else {
      let values = try store.newValues(
        forRelationship: relationship, forObjectsWith: keys.map { identifier(entity, $0) }, with: context)
      for (id, value) in values { found[id.keyInItsStore] = try self.keys(value, relationship) }
    }
    return found
  }

  /// The keys of destinations; those of an unordered relationship ascending.
  private func keys(_ value: Any, _ relationship: RelationshipDescription) throws -> [UInt64] {
    guard relationship.isToMany else {
      if value is NSNull { return [] }
      if let id = value as? ManagedObjectID { return [id.keyInItsStore] }
      throw wrong(value, relationship, "an identifier or NSNull")
    }
    let identifiers: [ManagedObjectID]
    if let list = value as? [ManagedObjectID] {
      identifiers = list
    } else if let set = value as? Set<ManagedObjectID> {
      identifiers = Array(set)
    } else {
      throw wrong(value, relationship, "an array or a set of identifiers")
    }
    let keys = identifiers.map(\.keyInItsStore)
    return relationship.isOrdered ? keys : keys.sorted()
  }

  private func wrong(_ value: Any, _ relationship: RelationshipDescription, _ wanted: String)
    -> HeartwoodError
  {
    HeartwoodError(
      .persistentStoreDamaged,
      "newValue(forRelationship: \(relationship.displayName)) must return \(wanted), and returned \(value)",
      property: relationship.name)
  }
}

extension IncrementalStore {
  /// The entity of the store's model: an identifier of another coordinator has one of an equal model.
  fileprivate func own(_ entity: EntityDescription) -> EntityDescription {
    guard entity.model !== managedObjectModel else { return entity }
    return managedObjectModel.entitiesByName[entity.displayName] ?? entity
  }
}

extension IncrementalStore {
  /// The error of a write to a store that is read only.
  var readOnly: HeartwoodError {
    guard !Swift.type(of: self).isAlwaysReadOnly else {
      return HeartwoodError(
        .persistentStoreSave,
        "the store at \(place) is of type \(type.rawValue), which is read and not written: move it to a store of type Log with "
          + "migratePersistentStore(_:to:options:type:), and save there")
    }
    return .openReadOnly(place)
  }
}
