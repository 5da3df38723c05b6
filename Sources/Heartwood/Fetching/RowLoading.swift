/// Reading many rows in one pass.
extension RowLoader {
  /// How many keys may be passed over for each that is wanted: more cost more than finding it.
  private static let mostPassedOver: UInt64 = 4

  /// Whether to read all entries between the first and the last key, rather than each key's own.
  private static func isDense(_ keys: [UInt64]) -> Bool {
    guard let first = keys.first, let last = keys.last else { return false }
    return (last - first) / mostPassedOver <= UInt64(keys.count)
  }

  /// Loads the rows of faults that have none. They stay faults, and are read again if the store has a newer generation when they
  /// are used.
  ///
  /// - Parameter objects: Objects of one root entity.
  func loadRows(_ objects: [ManagedObject]) throws {
    guard let root = objects.first?.entity.rootEntity else { return }
    var waiting: [UInt64: ManagedObject] = [:]
    for object in objects {
      object.dropRowIfStale()
      if object.lacksRow { waiting[object.identifier.key] = object }
    }
    let view = try context.readingView().forOneReader()
    let stamp = Self.stamp(of: view)
    try forEachRow(root, waiting.keys.sorted(), in: view) { found in
      guard let object = waiting[found.key], found.row.entityNumber == object.entity.number else { return }
      object.prefetch(checkedRow: found.row.bytes, stamp: stamp)
    }
  }

  /// The registered objects with these keys, with rows: those that are not registered, or without a row, get it in one pass.
  ///
  /// - Parameter keys: Ascending, without repetitions. Keys without a row are left out.
  func objects(_ root: EntityDescription, _ keys: [UInt64]) throws -> [ManagedObject] {
    var objects: [ManagedObject] = []
    var missing: [UInt64] = []
    for key in keys {
      guard let object = context.registered(root, key) else {
        if key.isPermanentKey { missing.append(key) }
        continue
      }
      object.dropRowIfStale()
      if object.lacksRow { missing.append(object.identifier.key) } else { objects.append(object) }
    }
    guard !missing.isEmpty else { return objects }
    let view = try context.readingView().forOneReader()
    let (store, stamp) = (context.storeIdentity, Self.stamp(of: view))
    try forEachRow(root, missing, in: view) { found in
      let factory = try root.entity(numbered: found.row.entityNumber).factory
      let object = fault(factory, found.key, in: store)
      if object.lacksRow { object.prefetch(checkedRow: found.row.bytes, stamp: stamp) }
      objects.append(object)
    }
    return objects
  }

  /// Calls `body` with the rows of the keys, in their order.
  ///
  /// - Parameter keys: Ascending, without repetitions.
  private func forEachRow(
    _ root: EntityDescription, _ keys: [UInt64], in view: any StoreView, _ body: (FoundRow) throws -> Void
  ) throws {
    defer { withExtendedLifetime(view) {} }
    try view.stored.load(root, keys)
    // A parent's view scans the store's rows only.
    guard context.parent == nil, view.readsNeighbours(root), keys.count > 1, Self.isDense(keys),
      let last = keys.last
    else {
      for key in keys {
        guard let row = try view.row(root, key) else { continue }
        try body(FoundRow(key: key, row: row))
        view.releaseRows()
      }
      return
    }
    var waiting = keys[...]
    try view.scanRows(of: root, from: keys[0], reversed: false) { found in
      while let next = waiting.first, next < found.key { waiting.removeFirst() }
      guard let next = waiting.first else { return false }
      if next == found.key { try body(found) }
      return found.key < last
    }
  }

  /// Calls `body` with the keys of the destinations of each source.
  ///
  /// - Parameters:
  ///   - relationship: A to-many relationship.
  ///   - sources: Ascending, without repetitions.
  func forEachDestinations(
    _ relationship: RelationshipDescription, of sources: [UInt64], _ body: (UInt64, [UInt64]) -> Void
  ) throws {
    let view = try context.readingView().forOneReader()
    defer { withExtendedLifetime(view) {} }
    try view.stored.load(relationship, of: sources)
    guard context.parent == nil, let root = relationship.entity?.rootEntity, view.readsNeighbours(root),
      sources.count > 1, Self.isDense(sources), let last = sources.last
    else {
      for source in sources {
        body(source, try view.destinationKeys(relationship, of: source))
      }
      return
    }
    var waiting = sources[...]
    var keys: [UInt64] = []
    try view.links(relationship, from: sources[0], through: last) { source, destination in
      while let next = waiting.first, next < source {
        body(next, keys)
        keys.removeAll()
        waiting.removeFirst()
      }
      if waiting.first == source { keys.append(destination) }
      return true
    }
    for source in waiting {
      body(source, keys)
      keys.removeAll()
    }
  }
}

/// Loading the rows of several faults at once.
///
/// The faults of one relationship or list mostly have keys close to one another, and are mostly read one after the other. So
/// firing one also loads the rows of the faults in its block of sixteen keys, in one pass. They stay faults, and read the store
/// again if it has a newer generation when they are used: nothing shows older values than without.
struct RowLoader {
  let context: ManagedObjectContext

  init(_ context: ManagedObjectContext) { self.context = context }

  /// Loads the rows of faults with keys next to that of an object whose row was just read.
  func prefetchSiblings(of object: ManagedObject, in view: any StoreView) {
    // A parent's view scans the store's rows only, and an incremental store finds no neighbours.
    let root = object.entity.rootEntity
    guard context.parent == nil, view.readsNeighbours(root) else { return }
    var waiting: [UInt64: ManagedObject] = [:]
    context.identities.forEachNeighbour(root.number, object.identifier.key) { neighbour in
      guard !neighbour.hasRow else { return false }
      if !neighbour.isRealised, neighbour.identifier.key.isPermanentKey,
        neighbour.state.isDisjoint(with: [.inserted, .deleted, .unreadable, .inaccessible])
      {
        waiting[neighbour.identifier.key] = neighbour
      }
      return true
    }
    guard let first = waiting.keys.min(), let last = waiting.keys.max() else { return }
    // Without a row, or with an error, a sibling reads for itself when it is used, and reports what is wrong then.
    try? view.scanRows(of: root, from: first, reversed: false) { found in
      guard found.key <= last else { return false }
      if let sibling = waiting[found.key], found.row.entityNumber == sibling.entity.number {
        sibling.prefetch(checkedRow: found.row.bytes, stamp: Self.stamp(of: view))
      }
      return found.key < last
    }
  }

  /// The stamp of rows that are loaded now; 0 if the store cannot be read.
  func prefetchStamp() -> UInt32 { (try? context.readingView()).map(Self.stamp) ?? 0 }

  /// Never 0.
  static func stamp(of view: any StoreView) -> UInt32 {
    UInt32(truncatingIfNeeded: view.generation) | ManagedObject.prefetchMark
  }
}

/// Batches of fetches.
extension RowLoader {
  /// The fault for a found row, without its bytes; a realised or changed object keeps its values.
  func fault(_ factory: ObjectFactory, _ key: UInt64, in store: StoreIdentity) -> ManagedObject {
    guard let (object, isHeldOnce) = context.identities.find(factory.rootNumber, key) else {
      return context.makeFault(factory, key, in: store)
    }
    guard object.state.isDisjoint(with: ObjectState.kept) else { return object }
    if object.isRealised {
      // Only the map has the object: the program gets it as one that was just made.
      guard isHeldOnce, !context.retainsRegisteredObjects, !object.isObserved else { return object }
      object.turnIntoFault()
    }
    // A row that was loaded before may be older than what was just found.
    object.dropRow()
    return factory.makes(object) ? object : context.replaceMisnamed(object, nil, factory)
  }

  /// Loads the batch of an object if a relationship is loaded with it.
  ///
  /// - Returns: Whether it was.
  func loadBatch(prefetching slot: Int, of object: ManagedObject) -> Bool {
    guard !context.fetchBatches.isEmpty, let batch = context.fetchBatches[object.fetchBatch],
      batch.prefetching.contains(where: { $0.relationship.slot == slot })
    else { return false }
    _ = context.fetchBatches.take(object.fetchBatch)
    load(batch)
    return true
  }

  /// Loads the rows of a batch, one of whose objects was just read.
  func load(_ batch: FetchBatch) {
    load(
      batch.keys.compactMap { context.registered(batch.root, $0) }, realising: batch.realises,
      prefetching: batch.prefetching)
  }

  /// Loads the rows of objects of one root entity, and relationships with them. Objects that cannot be read are read again, alone, when
  /// they are used.
  func load(_ objects: [ManagedObject], realising: Bool, prefetching: [PrefetchedRelationship]) {
    try? loadRows(objects)
    if realising { for object in objects where object.hasRow { object.willRead() } }
    try? prefetch(prefetching, of: objects)
  }
}
