/// A relationship whose destinations a fetch loads with its objects.
struct PrefetchedRelationship {
  let relationship: RelationshipDescription
  /// What is loaded with the destinations.
  var next: [PrefetchedRelationship] = []
}

/// Objects of a fetch whose rows are loaded together, when the first of them is read.
struct FetchBatch {
  let root: EntityDescription
  var keys: [UInt64] = []
  /// Whether the objects become realised when their rows are loaded.
  let realises: Bool
  /// What is loaded with them.
  let prefetching: [PrefetchedRelationship]
}

/// The batches of a context's fetches whose rows are not loaded yet, by their numbers.
struct FetchBatches {
  private var batches: [UInt32: FetchBatch] = [:]
  private var lastNumber: UInt32 = 0

  /// A number for the objects of a batch. Never 0, and without the mark of `prefetchStamp`.
  mutating func makeNumber() -> UInt32 {
    lastNumber = lastNumber % (ManagedObject.prefetchMark - 1) + 1
    return lastNumber
  }

  mutating func add(_ batch: FetchBatch, _ number: UInt32) { batches[number] = batch }

  /// Removes and returns a batch; nil if there is none of this number.
  mutating func take(_ number: UInt32) -> FetchBatch? { batches.removeValue(forKey: number) }

  var isEmpty: Bool { batches.isEmpty }

  subscript(_ number: UInt32) -> FetchBatch? { batches[number] }

  /// Removes batches of which no object is registered any more.
  mutating func sweep(_ isRegistered: (EntityDescription, UInt64) -> Bool) {
    guard !batches.isEmpty else { return }
    batches = batches.filter { _, batch in batch.keys.contains { isRegistered(batch.root, $0) } }
  }
}

extension ManagedObject {
  /// Set in `prefetchStamp` if it is that of a row, not the number of a batch.
  static let prefetchMark: UInt32 = 0x8000_0000

  /// The number of the batch with which the row is loaded; 0 if there is none.
  final var fetchBatch: UInt32 {
    get { prefetchStamp & Self.prefetchMark == 0 ? prefetchStamp : 0 }
    set { prefetchStamp = newValue }
  }

  /// Whether the object is a fault whose row the store has, and that was not loaded.
  final var lacksRow: Bool {
    !hasRow && !isRealised && identifier.key.isPermanentKey
      && state.isDisjoint(with: [.inserted, .deleted, .unreadable, .inaccessible])
  }
}

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
