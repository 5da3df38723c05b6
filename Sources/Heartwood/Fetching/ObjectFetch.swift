/// Fetches of objects: from a request or a condition to the objects of a context.
struct ObjectFetch {
  let context: ManagedObjectContext

  init(_ context: ManagedObjectContext) { self.context = context }

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
    try context.beginReading()
    try check(request)
    let view = try context.readingView().forOneReader()
    defer { withExtendedLifetime(view) {} }
    let classes = ClassCheck(wanted: Object.self) { $0 is Object }
    if let lookup = try lookup(for: request, in: view) {
      let delivery = try delivery(of: request, lookup.entity)
      let limit = request.fetchLimit == 0 ? nil : request.fetchLimit
      if !delivery.returnsWithoutRows, try forEachResult(of: lookup, in: view, limit, delivery, classes, body)
      {
        if !request.returnsObjectsAsFaults { try context.throwIfUnreadable() }
        return
      }
    }
    let execution = try execution(resolve(request, of: view), in: view)
    if let most = execution.mostResults { expect(most) }
    try forEachResult(of: execution, classes, body)
    if !request.returnsObjectsAsFaults { try context.throwIfUnreadable() }
  }

  // MARK: Look-ups

  /// The objects of a class with one value of an attribute, found in an index without a request; nil if a plan is needed.
  ///
  /// - Parameter limit: The maximum number of objects; nil for all.
  func lookedUp<Object: ManagedObject>(
    _ type: Object.Type, where condition: Condition, limit: Int?
  ) throws -> [Object]? {
    guard let equality = condition.equality, limit ?? 0 >= 0 else { return nil }
    context.beginUse("fetching")
    defer { context.endUse() }
    try context.beginReading()
    let view = try context.readingView().forOneReader()
    defer { withExtendedLifetime(view) {} }
    guard mayLookUp(in: view), context.changes.isEmptyForFetches, let entity = context.knownEntity(of: type),
      let lookup = try IndexLookup(equality, of: entity, includingSubentities: true, in: view)
    else { return nil }
    let classes = ClassCheck(wanted: Object.self) { $0 is Object }
    var objects: [ManagedObject] = []
    let isFound = try forEachResult(of: lookup, in: view, limit, ObjectDelivery(), classes) { object in
      objects.append(object)
      return true
    }
    return isFound ? objects.ofCheckedClass(type) : nil
  }

  /// The least or greatest values of properties of all objects of a class, at the ends of indexes; nil if a plan is needed.
  func ends(_ extremes: RowQuery.Extremes, in view: any StoreView) throws -> [Value]? {
    guard mayLookUp(in: view), context.changes.isEmptyForFetches,
      let entity = context.knownEntity(of: extremes.type)
    else { return nil }
    let ends = try extremes.values.map { property, isGreatest in
      try IndexLookup.slot(property, entity).flatMap { try view.end(of: $0, entity, isGreatest) }
    }
    return ends.contains { $0 == nil } ? nil : ends.compactMap { $0 }
  }

  /// The look-up of a request that has only a condition, and needs no merging of unsaved changes; nil for other requests.
  private func lookup<Object: ManagedObject>(
    for request: FetchRequest<Object>, in view: any StoreView
  ) throws -> IndexLookup? {
    guard let predicate = request.predicate, mayLookUp(in: view), request.affectedStores == nil,
      request.fetchOffset == 0, request.fetchLimit >= 0, request.sortDescriptors?.isEmpty ?? true,
      request.propertiesToGroupBy == nil, request.havingPredicate == nil,
      context.changes.isEmptyForFetches || !request.includesPendingChanges
    else { return nil }
    let entity = try entity(of: request)
    guard let equality = try predicate.conditionTree(for: entity).equality else { return nil }
    return try IndexLookup(
      equality, of: entity, includingSubentities: request.includesSubentities, in: view)
  }

  /// Whether fetches may do without a plan, which is logged, merges stores, and can be cancelled.
  private func mayLookUp(in view: any StoreView) -> Bool {
    // The view was just made, so that the log is that of its store.
    context.parent == nil && context.view.fetchLog == nil && !view.isOfSeveralStores
      && ScanControl.current == nil
  }

  /// - Returns: false, before any call, if a plan is needed.
  @inline(__always)
  private func forEachResult(
    of lookup: IndexLookup, in view: any StoreView, _ limit: Int?, _ delivery: ObjectDelivery,
    _ classes: ClassCheck, _ body: (ManagedObject) throws -> Bool
  ) throws -> Bool {
    let root = lookup.entity.rootEntity
    var classes = classes
    var family = FamilyBuilder(root, in: context.view.identity)
    return try lookup.forEachRow(in: view, limit: limit) { found in
      try hand(found, root, &family, &classes, delivery, body)
    }
  }

  /// Calls `body` with the object for a found row.
  ///
  /// - Returns: Whether to continue.
  @inline(__always)
  private func hand(
    _ found: FoundRow, _ root: EntityDescription, _ family: inout FamilyBuilder, _ classes: inout ClassCheck,
    _ delivery: ObjectDelivery, _ body: (ManagedObject) throws -> Bool
  ) throws -> Bool {
    guard let object = try object(for: found, root, &family, refreshing: delivery.refreshes) else {
      return true
    }
    try classes.check(object)
    if delivery.realises { object.willRead() }
    return try body(object)
  }

  // MARK: Plans

  private func forEachResult(
    of execution: FetchExecution, _ classes: ClassCheck, _ body: (ManagedObject) throws -> Bool
  ) throws {
    var classes = classes
    let delivery = execution.request.delivery
    if let fetch = execution.requested {
      return try fetch.forEachObject(of: context, execution.request) { object in
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
    var family = FamilyBuilder(root, in: context.storeIdentity)
    try execution.forEach { try hand($0, root, &family, &classes, delivery, body) }
  }

  /// Calls `body` with each object of a request that returns them without rows, until it returns false.
  private func forEachFault(of execution: FetchExecution, _ body: (ManagedObject) throws -> Bool) throws {
    var builder = BatchBuilder(execution.request.entity.rootEntity, execution.request.delivery, context)
    defer { builder?.finish() }
    let (entity, store) = (execution.request.entity, context.storeIdentity)
    guard !execution.needsNoRows else {
      let (factory, loader) = (entity.factory, RowLoader(context))
      return try execution.forEachKey { key in
        let object = loader.fault(factory, key, in: store)
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
    if !found.key.isPermanentKey, let object = context.registered(root, found.key) { return object }
    let factory = try family.factory(of: found.row)
    return RowLoader(context).fault(factory, found.key, in: family.store)
  }

  /// Calls `body` with each object that an execution finds, and its row, until it returns false.
  func forEachFound(
    by execution: FetchExecution, _ body: (ManagedObject, FoundRow) throws -> Bool
  ) throws {
    let root = execution.request.entity.rootEntity
    var family = FamilyBuilder(root, in: context.storeIdentity)
    let delivery = execution.request.delivery
    var builder = BatchBuilder(execution.request.entity.rootEntity, execution.request.delivery, context)
    var objects: [ManagedObject] = []
    try execution.forEach { found in
      let object =
        try delivery.returnsWithoutRows
        ? fault(for: found, root, &family) : object(for: found, root, &family, refreshing: delivery.refreshes)
      guard let object else { return true }
      builder?.add(object)
      if builder == nil, !delivery.prefetching.isEmpty { objects.append(object) }
      if builder == nil, delivery.realises { object.willRead() }
      return try body(object, found)
    }
    builder?.finish()
    try RowLoader(context).prefetch(delivery.prefetching, of: objects)
  }

  /// The object for a found row, as a fetch has it.
  func object(
    for found: FoundRow, _ root: EntityDescription, refreshing: Bool = false
  ) throws -> ManagedObject? {
    var family = FamilyBuilder(root, in: context.storeIdentity)
    return try object(for: found, root, &family, refreshing: refreshing)
  }

  func identifiers(_ execution: FetchExecution) throws -> [ManagedObjectID] {
    let entity = execution.request.entity
    let store = context.storeIdentity
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
    if request.includesPendingChanges, !context.changes.isEmptyForFetches {
      let overlay = PendingOverlay(reader, context)
      source = overlay
      pending = try PendingMatches(request, context, overlay, isCount: isCount)
      changedRoots = rootsOfChanges
    }
    var execution = try FetchExecution(
      request, reader, source: source, pending: pending, changedRoots: changedRoots, isCount: isCount)
    (execution.log, execution.control) = (context.fetchLog, ScanControl.current)
    return execution
  }

  /// The numbers of the root entities of changed objects.
  private var rootsOfChanges: Set<UInt16> {
    if let pendingLookup = context.pendingLookup { return pendingLookup.roots }
    var roots: Set<UInt16> = []
    for objects in context.changes.listsForFetches {
      for object in objects { roots.insert(object.entity.rootEntity.number) }
    }
    return roots
  }

  /// The object for a found row; nil for an unsaved object that the context no longer has.
  @inline(__always)
  private func object(
    for found: FoundRow, _ root: EntityDescription, _ family: inout FamilyBuilder, refreshing: Bool
  ) throws -> ManagedObject? {
    if !found.key.isPermanentKey, let object = context.registered(root, found.key) { return object }
    if refreshing, let object = context.registered(root, found.key) {
      try refresh(object, from: found)
      return object
    }
    return context.materialise(
      try family.factory(of: found.row), found.key, in: family.store, row: found.row.bytes)
  }

  /// Replaces the row of a registered object by the row that was just read, or, if it has unsaved changes, the values that
  /// were not edited by the newest saved ones.
  private func refresh(_ object: ManagedObject, from found: FoundRow) throws {
    guard object.state.isDisjoint(with: [.inserted, .deleted]) else { return }
    guard !object.state.contains(.updated) else {
      return context.refreshKeepingChanges(object, surfacingConflicts: true)
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
    request(type, where: condition?(ObjectQuery<Object>()), sort, limit, offset)
  }

  func request<Object: ManagedObject>(
    _ type: Object.Type, where condition: Condition?, _ sort: [Sort<Object>], _ limit: Int?, _ offset: Int
  ) -> FetchRequest<Object> {
    let request = FetchRequest<Object>()
    if let condition { request.predicate = condition }
    if sort.count > 0 { request.sortDescriptors = sort }
    request.fetchLimit = limit ?? 0
    request.fetchOffset = offset
    return request
  }

  /// - Parameters:
  ///   - columns: The properties of rows that are read of the results; nil if the rows are needed.
  ///   - store: The store of a batch; nil for all of the context. A batch executes no other fetches.
  ///   - view: The view that other fetches read whose values are parts of the condition; nil for the newest state.
  func resolve<Object: FetchRequestResult>(
    _ request: FetchRequest<Object>, reading columns: Set<Int>? = nil, in store: StoreIdentity? = nil,
    of view: (any StoreView)? = nil
  ) throws -> ResolvedRequest {
    let stores = try request.affectedStores.flatMap { try context.objectStore().numbers(of: $0) }
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
    if needsFetch, store == nil {
      condition = try condition.map { try RowFetching(context).withFetchedValues($0, in: view) }
    }
    var resolved = try ResolvedRequest(
      entity: entity, predicate: condition, sorts: request.sortDescriptors ?? [],
      limit: request.fetchLimit == 0 ? nil : request.fetchLimit, offset: request.fetchOffset,
      includesSubentities: request.includesSubentities,
      includesPendingChanges: request.includesPendingChanges, store: store ?? context.storeIdentity)
    resolved.columns = columns
    resolved.stores = stores
    resolved.hasFetchedValues = needsFetch
    resolved.delivery = try delivery(of: request, entity)
    (resolved.origin, resolved.isEnumeration) = (request.origin, request.isEnumeration)
    return resolved
  }

  /// How the objects of a request are returned.
  func delivery<Object: FetchRequestResult>(of request: FetchRequest<Object>) throws -> ObjectDelivery {
    try delivery(of: request, entity(of: request))
  }

  /// The same, of a request for an entity that is known.
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
    guard let model = context.persistentStoreCoordinator?.managedObjectModel else {
      _ = try context.objectStore()
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
