import Foundation
import HeartwoodBytes

/// The execution of a request other than a fetch: by the store, if it executes such requests itself, otherwise a batch, in one transaction of
/// each store that it concerns.
struct RequestExecution {
  private let context: ManagedObjectContext

  init(_ context: ManagedObjectContext) { self.context = context }

  func insert(_ request: BatchInsertRequest, mergingInto contexts: [ManagedObjectContext]) throws
    -> BatchResult
  {
    let concerned = try concerned(request) { members in
      let entity = try self.entity(named: request.entityName)
      return [Self.place(of: entity, in: members)].compactMap { $0 }
    }
    if let result = try customResult(of: request, concerned, mergingInto: contexts) { return result }
    let entity = try entity(named: request.entityName)
    let stores = try insertionStore(request, entity)
    for store in stores { try store.require(.batchInserts) }
    return try run(request.resultType, contexts, stores) { transaction in
      try operation(transaction, request.validates).insert(request, entity, context.mergePolicy)
    }
  }

  func update(_ request: BatchUpdateRequest, mergingInto contexts: [ManagedObjectContext]) throws
    -> BatchResult
  {
    let concerned = try concerned(request) { members in
      let entity = try self.entity(named: request.entityName)
      return members.filter { $0.mayHave(entity) }
    }
    if let result = try customResult(of: request, concerned, mergingInto: contexts) { return result }
    let entity = try entity(named: request.entityName)
    return try run(request.resultType, contexts, batchStores(request, entity)) {
      try update(request, entity, $0)
    }
  }

  /// How many objects a batch update would change, by a transaction that is not committed.
  func rehearse(_ request: BatchUpdateRequest) throws -> Int {
    context.beginUse("rehearsing a batch request")
    defer { context.endUse() }
    let entity = try entity(named: request.entityName)
    var count = 0
    for store in try batchStores(request, entity) {
      count += try refusals(of: store) {
        try store.rehearse { try update(request, entity, $0).count }
      }
    }
    return count
  }

  private func update(
    _ request: BatchUpdateRequest, _ entity: EntityDescription, _ transaction: any StoreTransaction
  ) throws -> BatchOutcome {
    try operation(transaction, request.validates).update(request, entity) {
      try batchKeys($0, in: transaction.view())
    }
  }

  private func operation(_ transaction: any StoreTransaction, _ validates: Bool) throws -> BatchOperation {
    let view = try transaction.view()
    return BatchOperation(transaction, validates: validates, indexes: { view.indexes(of: $0) })
  }

  func delete(_ request: BatchDeleteRequest, mergingInto contexts: [ManagedObjectContext]) throws
    -> BatchResult
  {
    let concerned = try concerned(request) { members in
      switch request.selection {
      case .fetch(let resolve):
        let resolved = try resolve(context, context.storeIdentity)
        return members.filter {
          resolved.stores?.contains($0.number) ?? true && $0.mayHave(resolved.entity)
        }
      case .identifiers(let identifiers):
        return members.filter { member in identifiers.contains { $0.store == member.store.identity } }
      }
    }
    if let result = try customResult(of: request, concerned, mergingInto: contexts) { return result }
    let (stores, selection) = try deletion(request)
    return try run(request.resultType, contexts, stores) { transaction in
      let (root, keys) = try batchKeys(selection, in: transaction, ofAll: stores)
      return try operation(transaction, request.validates).delete(keys, of: root)
    }
  }

  /// The keys of what a batch delete selects, with their root entity; nil for no keys.
  private func batchKeys(
    _ selection: BatchDeleteRequest.Selection, in transaction: any StoreTransaction, ofAll stores: [LogStore]
  ) throws -> (EntityDescription?, [UInt64]) {
    switch selection {
    case .fetch(let resolve):
      var request = try resolve(context, transaction.identity)
      request.stores = nil
      return (request.entity.rootEntity, try batchKeys(request, in: transaction.view()))
    case .identifiers(let identifiers):
      let root = identifiers.first?.entity.rootEntity
      if let wrong = identifiers.first(where: { identifier in
        identifier.isTemporaryID || !stores.contains { $0.identity == identifier.store }
      }) {
        throw HeartwoodError.batchIdentifier(wrong, "is not an object that is saved in this store")
      }
      if let wrong = identifiers.first(where: { $0.entity.rootEntity !== root }) {
        throw HeartwoodError.batchIdentifier(wrong, "is not of the entities of \(root?.displayName ?? "?")")
      }
      return (root, identifiers.filter { $0.store == transaction.identity }.map(\.key.keyInStore))
    }
  }

  private func batchKeys(_ request: ResolvedRequest, in view: any StoreView) throws -> [UInt64] {
    let planner = Planner(request: request, view: view, indexes: view.indexes(of:), changedRoots: [])
    let execution = FetchExecution(
      request: request, plan: try planner.choose(), view: view, source: view, pending: .none,
      changedRoots: [])
    var keys: [UInt64] = []
    if execution.needsNoRows {
      try execution.forEachKey { key in
        keys.append(key)
        return true
      }
    } else {
      try execution.forEach { found in
        keys.append(found.key)
        return true
      }
    }
    return keys
  }

  private func entity(named name: String) throws -> EntityDescription {
    let model = context.persistentStoreCoordinator?.managedObjectModel
    if let entity = model?.entitiesByName[name] { return entity }
    throw HeartwoodError.unknownEntity(name, model?.entities.map(\.displayName).sorted() ?? [])
  }

  /// Makes rows of dictionaries outside of a transaction.
  func rowReader(_ entityName: String) throws -> BatchRowReader {
    let store = try context.objectStore()
    let view = try store.view()
    return BatchRowReader(
      entity: try entity(named: entityName), store: store.identity, indexes: { view.indexes(of: $0) })
  }

  // MARK: Stores that execute requests themselves

  /// The results of a request of the stores that execute it themselves; nil for other stores.
  ///
  /// - Parameter concerned: The stores that the request concerns, where there are several; nil for all that it names.
  func resultsOfStores(
    _ request: PersistentStoreRequest, _ concerned: [StoreMember]? = nil
  ) throws -> [Any]? {
    context.beginUse("executing a request")
    defer { context.endUse() }
    let store = try context.objectStore()
    let named = try store.numbers(of: request.affectedStores)
    let results = try store.execute(
      request, in: concerned.map { Set($0.map(\.number)) } ?? named,
      for: context.parent == nil ? context : nil)
    if results != nil { context.view.held = nil }
    return results
  }

  /// The stores of a batch where some of several are incremental; nil otherwise.
  ///
  /// - Parameter choose: Chooses those that it concerns of those that it names.
  /// - Throws: `.persistentStoreUnsupportedRequestType` if it concerns an incremental store and others.
  private func concerned(
    _ request: PersistentStoreRequest, _ choose: ([StoreMember]) throws -> [StoreMember]
  ) throws -> [StoreMember]? {
    let store = try context.objectStore()
    guard store.identity.isOfSeveral, store.members.contains(where: { $0.log == nil }) else { return nil }
    let concerned = try choose(members(of: request))
    guard concerned.count > 1, concerned.contains(where: { $0.log == nil }) else { return concerned }
    throw HeartwoodError(
      .persistentStoreUnsupportedRequestType,
      "the batch concerns the stores at \(concerned.map(\.place).joined(separator: ", ")), of which one is an incremental store: the class "
        + "of such a store executes batches of its own objects only; name one of the stores in affectedStores"
    )
  }

  /// The result of a batch request that an incremental store has executed; nil for other stores.
  private func customResult(
    of request: PersistentStoreRequest, _ concerned: [StoreMember]?,
    mergingInto contexts: [ManagedObjectContext]
  ) throws -> BatchResult? {
    guard let executed = try resultsOfStores(request, concerned)?.first else { return nil }
    guard let result = executed as? BatchResult else {
      let only = context.persistentStoreCoordinator?.persistentStores.first?.place
      throw HeartwoodError(
        .persistentStoreOperation,
        "execute(_:with:) of the store at \(concerned?.first?.place ?? only ?? "?") must return a BatchResult "
          + "for a batch request, and returned \(executed)"
      )
    }
    if !contexts.isEmpty {
      ManagedObjectContext.mergeChanges(fromRemoteContextSave: result.changes.userInfo, into: contexts)
    }
    let namesObjects = result.resultType == .objectIDs
    return BatchResult(
      resultType: result.resultType, count: result.count, objectIDs: namesObjects ? result.objectIDs : [],
      changes: namesObjects ? result.changes : ObjectIDChanges())
  }

  // MARK: Transactions

  /// The author and the context name that the history notes of a batch: the root context writes it, also for a child.
  private var transactionInfoOfRoot: TransactionInfo {
    var root = context
    while let parent = root.parent { root = parent }
    return root.waitForQueue { [root] in
      TransactionInfo(author: root.transactionAuthor, contextName: root.name)
    }
  }

  /// Runs a batch in one transaction of each store, and makes its result.
  private func run(
    _ resultType: BatchRequestResultType,
    _ contexts: [ManagedObjectContext], _ stores: @autoclosure () throws -> [LogStore],
    _ body: (any StoreTransaction) throws -> BatchOutcome
  ) throws -> BatchResult {
    context.beginUse("executing a batch request")
    defer { context.endUse() }
    let stores = try stores()
    var part = BatchPart()
    var written: [StoreGenerations.Member] = []
    for (place, store) in stores.enumerated() {
      do {
        try run(in: store, resultType == .objectIDs, !contexts.isEmpty, &part, body)
        written.append(StoreGenerations.Member(store: store.identity, number: part.generation))
      } catch {
        context.view.held = nil
        guard !written.isEmpty else { throw error }
        throw HeartwoodError.incompleteBatch(stores, from: place, because: error)
      }
    }
    part.changes.queryGeneration = written.isEmpty ? nil : QueryGenerationToken(StoreGenerations(written))
    context.view.held = nil
    if !contexts.isEmpty {
      ManagedObjectContext.mergeChanges(fromRemoteContextSave: part.changes.userInfo, into: contexts)
    }
    return BatchResult(
      resultType: resultType, count: part.count, objectIDs: part.identifiers,
      changes: resultType == .objectIDs ? part.changes : ObjectIDChanges())
  }

  private func run(
    in store: LogStore, _ namesObjects: Bool, _ merges: Bool, _ part: inout BatchPart,
    _ body: (any StoreTransaction) throws -> BatchOutcome
  ) throws {
    let info = transactionInfoOfRoot
    let (made, generation) = try refusals(of: store) {
      try store.save(info) { transaction in
        let outcome = try body(transaction)
        var made = BatchPart()
        made.count = outcome.count
        if namesObjects { made.identifiers = try outcome.identifiers() }
        if namesObjects || merges {
          made.changes = ObjectIDChanges(transaction.changes, transaction.identity)
          made.changes.keepNetUpdates()
        }
        return made
      }
    }
    part.add(made, generation)
  }

  /// Runs a transaction of a store, and has its errors name the store.
  private func refusals<Result>(of store: LogStore, _ body: () throws -> Result) throws -> Result {
    let text = store.identity.text
    do {
      return try body()
    } catch let refused as ConstraintViolations {
      throw HeartwoodError.batchConstraints(refused.violations, store.identity).affecting(text)
    } catch let error as HeartwoodError {
      throw error.affecting(text)
    }
  }

  // MARK: Stores

  /// The stores that a request names, which are all if it names none.
  private func members(of request: PersistentStoreRequest) throws -> [StoreMember] {
    let store = try context.objectStore()
    let numbers = try store.numbers(of: request.affectedStores)
    return store.members.filter { numbers?.contains($0.number) ?? true }
  }

  /// The store that gets inserted objects: the first one that may be written and has the entity.
  private static func place(of entity: EntityDescription, in members: [StoreMember]) -> StoreMember? {
    members.first { $0.configuration.has(entity) && !$0.isReadOnly }
  }

  /// The stores of a request that may have objects of an entity.
  private func batchStores(
    _ request: PersistentStoreRequest, _ entity: EntityDescription?
  ) throws -> [LogStore] {
    try members(of: request).compactMap(\.log).filter { log in entity.map { log.schema.has($0) } ?? true }
  }

  private func insertionStore(
    _ request: BatchInsertRequest, _ entity: EntityDescription
  ) throws -> [LogStore] {
    guard try context.objectStore().identity.isOfSeveral else { return try batchStores(request, entity) }
    if let log = try Self.place(of: entity, in: members(of: request))?.log { return [log] }
    throw HeartwoodError(
      .persistentStoreIncompatibleSchema,
      "no row of \(entity.displayName) can be inserted: no store of the request that may be written has this entity in its configuration"
    )
  }

  /// The stores of a batch delete, and what is deleted in them: where a limit counts for several stores, by identifiers.
  private func deletion(_ request: BatchDeleteRequest) throws -> ([LogStore], BatchDeleteRequest.Selection) {
    let own = try batchStores(request, nil)
    let store = try context.objectStore()
    guard store.identity.isOfSeveral else { return (own, request.selection) }
    switch request.selection {
    case .fetch(let resolve):
      var resolved = try resolve(context, context.storeIdentity)
      let members = store.members.filter { member in
        own.contains { $0 === member.log } && resolved.stores?.contains(member.number) ?? true
          && member.log?.schema.has(resolved.entity) == true
      }
      let stores = members.compactMap(\.log)
      guard stores.count > 1, resolved.limit != nil || resolved.offset > 0 else {
        return (stores, request.selection)
      }
      resolved.stores = Set(members.map(\.number))
      let found = try batchKeys(resolved, in: store.view().restricted(to: Set(members.map(\.number))))
      let identifiers = found.map { ManagedObjectID(entity: resolved.entity, key: $0, store: store.identity) }
      return (
        stores.filter { store in identifiers.contains { $0.store == store.identity } },
        .identifiers(identifiers)
      )
    case .identifiers(let identifiers):
      let named = own.filter { store in identifiers.contains { $0.store == store.identity } }
      return (named.isEmpty ? own : named, request.selection)
    }
  }
}

/// The part of a batch that is done in the stores so far.
private struct BatchPart {
  var count = 0
  var identifiers: [ManagedObjectID] = []
  var changes = ObjectIDChanges()
  var generation: UInt64 = 0

  mutating func add(_ other: BatchPart, _ generation: UInt64) {
    count += other.count
    identifiers += other.identifiers
    changes.insertedObjectIDs.formUnion(other.changes.insertedObjectIDs)
    changes.updatedObjectIDs.formUnion(other.changes.updatedObjectIDs)
    changes.deletedObjectIDs.formUnion(other.changes.deletedObjectIDs)
    self.generation = generation
  }
}

extension ObjectIDChanges {
  /// Leaves out updates of objects that are new or gone.
  fileprivate mutating func keepNetUpdates() {
    updatedObjectIDs.subtract(insertedObjectIDs)
    updatedObjectIDs.subtract(deletedObjectIDs)
  }
}

extension HeartwoodError {
  /// The error of a batch that some stores have done, and the others from `place` have not.
  fileprivate static func incompleteBatch(
    _ stores: [LogStore], from place: Int, because error: any Error
  ) -> HeartwoodError {
    let done = stores[..<place].map(\.path).joined(separator: ", ")
    let failed = stores[place...].map(\.path).joined(separator: ", ")
    return HeartwoodError(
      .persistentStoreIncompleteSave,
      "the batch is done in the stores at \(done), and not in those at \(failed): \(error); name these in affectedStores to go on",
      underlying: error, isOutcomeUnknown: (error as? HeartwoodError)?.isOutcomeUnknown ?? false
    ).affecting(stores[place...].compactMap(\.identity.text))
  }

  fileprivate static func batchIdentifier(_ id: ManagedObjectID, _ what: String) -> HeartwoodError {
    HeartwoodError(
      .coreData, "a batch delete cannot delete \(id): it \(what)", objectIDs: [id])
  }

  fileprivate static func batchConstraints(
    _ violations: [ConstraintViolation], _ store: StoreIdentity
  ) -> HeartwoodError {
    let first = violations[0]
    let values = zip(first.constraint, first.values).map { "\($0) = \($1.predicateText)" }.joined(
      separator: ", ")
    let others = violations.count > 1 ? ", and \(violations.count - 1) more" : ""
    return HeartwoodError(
      .managedObjectConstraintMerge,
      "\(first.entity.displayName) must be unique by \(first.constraint.joined(separator: ", ")): two rows have \(values)\(others); "
        + "change the values, or let a batch insert with a merge policy update the stored ones",
      objectIDs: violations.map { ManagedObjectID(entity: $0.entity, key: $0.existingKey, store: store) })
  }
}
