/// Executing requests.
extension ManagedObjectContext {
  /// Prepares a fetch: applies pending delete rules, and throws the error of an unreadable object if there is one.
  func beginReading() throws {
    processPendingChanges()
    try throwIfUnreadable()
  }

  /// Calls `body` with each object that a request finds until it returns false; each object is an `Object`.
  ///
  /// The work for every object is in methods without generic parameters, which are compiled once and need no
  /// specialisation.
  ///
  /// - Parameter expect: Called with the maximum number of results, if that is known without reading rows.
  func forEachResult<Object: ManagedObject>(
    of request: FetchRequest<Object>, expecting expect: (Int) -> Void = { _ in },
    _ body: (ManagedObject) throws -> Bool
  ) throws {
    try beginReading()
    try check(request)
    let view = try readingView().forOneReader()
    defer { withExtendedLifetime(view) {} }
    let classes = ClassCheck(wanted: Object.self) { $0 is Object }
    if let entity = try entityOfPlainRequest(request, in: view),
      let condition = try request.predicate?.conditionTree(for: entity), !condition.needsFetch,
      let lookup = try UniqueLookup(condition, of: entity, in: view)
    {
      let row = try lookup.row(of: entity, includingSubentities: request.includesSubentities, in: view)
      guard let row else { return }
      try hand(row, entity, classes, try delivery(of: request, entity), body)
      if !request.returnsObjectsAsFaults { try throwIfUnreadable() }
      return
    }
    let execution = try execution(resolve(request, of: view), in: view)
    if let most = execution.mostResults { expect(most) }
    try forEachResult(of: execution, classes, body)
    if !request.returnsObjectsAsFaults { try throwIfUnreadable() }
  }

  /// The entity of a request that has only a condition, and needs no merging of unsaved changes; nil for other requests.
  private func entityOfPlainRequest<Object: ManagedObject>(
    _ request: FetchRequest<Object>, in view: any StoreView
  ) throws -> EntityDescription? {
    guard request.predicate != nil, fetchLog == nil, request.affectedStores == nil, parent == nil,
      request.fetchOffset == 0,
      request.fetchLimit >= 0, !view.isOfSeveralStores,
      request.sortDescriptors?.isEmpty ?? true, changes.isEmptyForFetches || !request.includesPendingChanges
    else { return nil }
    return try entity(of: request)
  }

  private func hand(
    _ found: FoundRow, _ entity: EntityDescription, _ classes: ClassCheck, _ delivery: ObjectDelivery,
    _ body: (ManagedObject) throws -> Bool
  ) throws {
    var classes = classes
    var family = FamilyBuilder(entity.rootEntity, in: storeIdentity)
    guard let object = try object(for: found, entity.rootEntity, &family, refreshing: delivery.refreshes)
    else { return }
    try classes.check(object)
    if delivery.realises { object.willRead() }
    _ = try body(object)
  }

  private func forEachResult(
    of execution: FetchExecution, _ classes: ClassCheck, _ body: (ManagedObject) throws -> Bool
  ) throws {
    var classes = classes
    let delivery = execution.request.delivery
    if let fetch = execution.requested {
      return try fetch.forEachObject(of: self, execution.request) { object in
        try classes.check(object)
        return try body(object)
      }
    }
    guard !delivery.returnsWithoutRows else {
      return try forEachFault(of: execution) { object in
        try classes.check(object)
        return try body(object)
      }
    }
    let root = execution.request.entity.rootEntity
    var family = FamilyBuilder(root, in: storeIdentity)
    try execution.forEach { found in
      guard let object = try object(for: found, root, &family, refreshing: delivery.refreshes) else {
        return true
      }
      try classes.check(object)
      if delivery.realises { object.willRead() }
      return try body(object)
    }
  }

  /// Calls `body` with each object of a request that returns them without rows, until it returns false.
  private func forEachFault(of execution: FetchExecution, _ body: (ManagedObject) throws -> Bool) throws {
    var builder = BatchBuilder(execution.request.entity.rootEntity, execution.request.delivery, self)
    defer { builder?.finish() }
    let (entity, store) = (execution.request.entity, storeIdentity)
    guard !execution.needsNoRows else {
      let factory = entity.factory
      return try execution.forEachKey { key in
        let object = fault(factory, key, in: store)
        builder?.add(object)
        return try body(object)
      }
    }
    var family = FamilyBuilder(entity.rootEntity, in: store)
    try execution.forEach { found in
      guard let object = try fault(for: found, entity.rootEntity, &family) else { return true }
      builder?.add(object)
      return try body(object)
    }
  }

  /// As `object(for:)`, without the row.
  private func fault(
    for found: FoundRow, _ root: EntityDescription, _ family: inout FamilyBuilder
  ) throws -> ManagedObject? {
    if !found.key.isPermanentKey, let object = registered(root, found.key) { return object }
    let factory = try family.factory(of: found.row)
    return fault(factory, found.key, in: family.store)
  }

  /// Calls `body` with each object that an execution finds, and its row, until it returns false.
  func forEachFound(
    by execution: FetchExecution, _ body: (ManagedObject, FoundRow) throws -> Bool
  ) throws {
    let root = execution.request.entity.rootEntity
    var family = FamilyBuilder(root, in: storeIdentity)
    let delivery = execution.request.delivery
    var builder = BatchBuilder(execution.request.entity.rootEntity, execution.request.delivery, self)
    var objects: [ManagedObject] = []
    try execution.forEach { found in
      let object =
        try delivery.returnsWithoutRows
        ? fault(for: found, root, &family) : object(for: found, root, &family, refreshing: delivery.refreshes)
      guard let object else { return true }
      builder?.add(object)
      if builder == nil, !delivery.prefetching.isEmpty { objects.append(object) }
      return try body(object, found)
    }
    builder?.finish()
    try prefetch(delivery.prefetching, of: objects)
  }

  /// The object for a found row, as a fetch has it.
  func object(
    for found: FoundRow, _ root: EntityDescription, refreshing: Bool = false
  ) throws -> ManagedObject? {
    var family = FamilyBuilder(root, in: storeIdentity)
    return try object(for: found, root, &family, refreshing: refreshing)
  }

  func identifiers(_ execution: FetchExecution) throws -> [ManagedObjectID] {
    let entity = execution.request.entity
    let store = storeIdentity
    var found: [ManagedObjectID] = []
    if let fetch = execution.requested {
      let identifiers = try fetch.identifiers().dropFirst(execution.request.offset)
      return execution.request.limit.map { Array(identifiers.prefix($0)) } ?? Array(identifiers)
    }
    if execution.needsNoRows {
      try execution.forEachKey { key in
        found.append(ManagedObjectID(entity: entity, key: key, store: store))
        return true
      }
    } else {
      try execution.forEach { row in
        let concrete = try entity.rootEntity.entity(numbered: row.row.entityNumber)
        found.append(ManagedObjectID(entity: concrete, key: row.key, store: store))
        return true
      }
    }
    return found
  }

  /// Plans a request against a view, with this context's changes if the request includes them.
  func execution(
    _ request: ResolvedRequest, in view: any StoreView, isCount: Bool = false
  ) throws -> FetchExecution {
    let reader = (request.stores.map(view.restricted) ?? view).forOneReader()
    var source: any RowSource = reader
    var pending = PendingMatches.none
    var changedRoots: Set<UInt16> = []
    if request.includesPendingChanges, !changes.isEmptyForFetches {
      let overlay = PendingOverlay(reader, self)
      source = overlay
      pending = try PendingMatches(request, self, overlay)
      changedRoots = rootsOfChanges
    }
    var execution = try FetchExecution(
      request, reader, source: source, pending: pending, changedRoots: changedRoots, isCount: isCount)
    (execution.log, execution.control) = (fetchLog, ScanControl.current)
    return execution
  }

  /// The numbers of the root entities of changed objects.
  private var rootsOfChanges: Set<UInt16> {
    if let pendingLookup { return pendingLookup.roots }
    var roots: Set<UInt16> = []
    for objects in changes.listsForFetches {
      for object in objects { roots.insert(object.entity.rootEntity.number) }
    }
    return roots
  }

  /// The object for a found row; nil for an unsaved object that the context no longer has.
  @inline(__always)
  private func object(
    for found: FoundRow, _ root: EntityDescription, _ family: inout FamilyBuilder, refreshing: Bool
  ) throws -> ManagedObject? {
    if !found.key.isPermanentKey, let object = registered(root, found.key) { return object }
    if refreshing, let object = registered(root, found.key) {
      try refresh(object, from: found)
      return object
    }
    return materialise(
      try family.factory(of: found.row), found.key, in: family.store, row: found.row.bytes)
  }

  /// Replaces the row of a registered object by the row that was just read, or, if it has unsaved changes, the values that
  /// were not edited by the newest saved ones.
  private func refresh(_ object: ManagedObject, from found: FoundRow) throws {
    guard object.state.isDisjoint(with: [.inserted, .deleted]) else { return }
    guard !object.state.contains(.updated) else {
      return refreshKeepingChanges(object, surfacingConflicts: true)
    }
    try object.adopt(row: found.row.bytes)
    object.forEachRelationshipState { $0.unload() }
  }

  // MARK: Requests

  /// - Throws: `.coreData` if a request has another result type than its class, or names properties that its objects cannot have alone.
  func check<Object: ManagedObject>(_ request: FetchRequest<Object>) throws {
    try request.checkResultType()
    if let properties = request.propertiesToFetch { try entity(of: request).checkPartial(properties) }
  }

  /// As `resolve(_:reading:in:of:)`, of a request for objects.
  func resolveObjects<Object: ManagedObject>(_ request: FetchRequest<Object>) throws -> ResolvedRequest {
    try check(request)
    return try resolve(request)
  }

  func request<Object: ManagedObject>(
    _ type: Object.Type, _ condition: ((ObjectQuery<Object>) -> Condition)?, _ sort: [Sort<Object>],
    _ limit: Int?, _ offset: Int
  ) -> FetchRequest<Object> {
    let request = FetchRequest<Object>()
    if let condition { request.predicate = condition(ObjectQuery<Object>()) }
    request.sortDescriptors = sort
    request.fetchLimit = limit ?? 0
    request.fetchOffset = offset
    return request
  }

  /// - Parameters:
  ///   - columns: The properties of rows that are read of the results; nil if the rows are needed.
  ///   - store: The store of a batch; nil for all of the context. A batch executes no other fetches.
  ///   - view: What other fetches read whose values are parts of the condition; nil for the newest state.
  func resolve<Object: FetchRequestResult>(
    _ request: FetchRequest<Object>, reading columns: Set<Int>? = nil, in store: StoreIdentity? = nil,
    of view: (any StoreView)? = nil
  ) throws -> ResolvedRequest {
    let stores = try affectedNumbers(request.affectedStores)
    let entity = try entity(of: request)
    // A count is of the objects, before they are in groups.
    let hasGroups = request.propertiesToGroupBy != nil || request.havingPredicate != nil
    guard columns?.isEmpty == true || !hasGroups else {
      throw HeartwoodError(
        .coreData,
        "the request for \(entity.displayName) has groups, which only dictionaries can be: use fetchDictionaries, or leave out "
          + "propertiesToGroupBy and havingPredicate")
    }
    var condition = try request.predicate?.conditionTree(for: entity)
    let needsFetch = condition?.needsFetch == true
    if needsFetch, store == nil { condition = try condition.map { try withFetchedValues($0, in: view) } }
    var resolved = try ResolvedRequest(
      entity: entity, predicate: condition, sorts: request.sortDescriptors ?? [],
      limit: request.fetchLimit == 0 ? nil : request.fetchLimit, offset: request.fetchOffset,
      includesSubentities: request.includesSubentities,
      includesPendingChanges: request.includesPendingChanges, store: store ?? storeIdentity)
    resolved.columns = columns
    resolved.stores = stores
    resolved.hasFetchedValues = needsFetch
    resolved.delivery = try delivery(of: request, entity)
    resolved.origin = request.origin
    return resolved
  }

  /// How the objects of a request are returned.
  func delivery<Object: FetchRequestResult>(
    of request: FetchRequest<Object>, _ entity: EntityDescription
  ) throws(HeartwoodError) -> ObjectDelivery {
    ObjectDelivery(
      refreshes: request.shouldRefreshRefetchedObjects, realises: !request.returnsObjectsAsFaults,
      hasRows: request.includesPropertyValues, batchSize: max(0, request.fetchBatchSize),
      prefetching: try request.relationshipKeyPathsForPrefetching.map(entity.prefetched) ?? [])
  }

  /// The entity of a request in the model of this context's coordinator.
  func entity<Object: FetchRequestResult>(of request: FetchRequest<Object>) throws -> EntityDescription {
    guard let model = persistentStoreCoordinator?.managedObjectModel else {
      _ = try objectStore()
      throw HeartwoodError.unknownEntity(String(describing: Object.self), [])
    }
    if let known = request.knownEntity, known.model === model { return known }
    let entity: EntityDescription?
    if let name = request.entityName {
      entity = model.entitiesByName[name]
    } else if let type = Object.self as? ManagedObject.Type {
      entity = model.entity(of: type)
    } else {
      throw HeartwoodError(
        .coreData, "a fetch request for \(Object.self) has no class that names its entity: set its entityName"
      )
    }
    guard let entity else {
      throw HeartwoodError.unknownEntity(
        request.entityName ?? String(describing: Object.self), model.entities.map(\.displayName).sorted())
    }
    request.knownEntity = entity
    return entity
  }
}

/// Checks that objects have the requested class. It remembers the class of the last one: most objects have the same
/// class, and a cast by the runtime costs more than reading a row.
private struct ClassCheck {
  let wanted: ManagedObject.Type
  let isFitting: (ManagedObject) -> Bool
  private var lastClass: ObjectIdentifier?

  init(wanted: ManagedObject.Type, isFitting: @escaping (ManagedObject) -> Bool) {
    self.wanted = wanted
    self.isFitting = isFitting
  }

  @inline(__always)
  mutating func check(_ object: ManagedObject) throws {
    let objectClass = ObjectIdentifier(type(of: object))
    guard objectClass != lastClass else { return }
    guard isFitting(object) else { throw HeartwoodError.wrongClass(object, wanted) }
    lastClass = objectClass
  }
}

/// The object factories for the rows of one root entity. It remembers the last one: most rows have the same entity.
private struct FamilyBuilder {
  let store: StoreIdentity
  private let root: EntityDescription
  private var last: ObjectFactory

  init(_ root: EntityDescription, in store: StoreIdentity) {
    self.root = root
    self.store = store
    last = root.factory
  }

  @inline(__always)
  mutating func factory(of row: RowView) throws -> ObjectFactory {
    let number = row.entityNumber
    if number != last.number { last = try root.entity(numbered: number).factory }
    return last
  }
}

extension Array where Element == ManagedObject {
  /// The array as one of `type`.
  ///
  /// - Precondition: Every object was checked to be of `type`. A cast would check every object again.
  func ofCheckedClass<Object: ManagedObject>(_ type: Object.Type) -> [Object] {
    CheckedCast.objects(self, of: type)
  }
}

extension HeartwoodError {
  static func unknownEntity(_ name: String, _ known: [String]) -> HeartwoodError {
    HeartwoodError(
      .coreData,
      "\(name) does not identify exactly one entity of the context's model, which has "
        + "\(known.joined(separator: ", ")); add the class to the model, or name the entity in the request")
  }

  static func wrongClass(_ object: ManagedObject, _ wanted: ManagedObject.Type) -> HeartwoodError {
    HeartwoodError(
      .coreData,
      "objects of \(object.entity.displayName) are of class \(type(of: object)), not \(wanted); "
        + "use FetchRequest<\(type(of: object))>",
      objectIDs: [object.objectID])
  }
}
