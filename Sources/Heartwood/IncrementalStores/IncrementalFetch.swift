import Foundation

/// A fetch that an incremental store executes.
final class IncrementalFetch: RequestedObjects {
  /// An object that it has found.
  struct Found {
    let objectID: ManagedObjectID
    /// Nil if the store has not returned its values.
    let node: IncrementalStoreNode?
  }

  let view: IncrementalView
  private let entity: EntityDescription
  private let condition: Condition?
  private let sorts: [any FetchSort]
  private let includesSubentities: Bool
  private let origin: (any Sendable)?
  /// How many of the first objects are needed; nil for all.
  let most: Int?

  /// Whether objects are wanted in parts.
  let isEnumeration: Bool
  /// The rows and identifiers that it delivers have it; those of the store do not.
  let number: MemberNumber

  /// - Parameter hidden: How many of the objects may be left out afterwards.
  init(
    _ request: ResolvedRequest, _ view: IncrementalView, hidden: Int, _ number: MemberNumber = .none
  ) {
    (self.view, self.number) = (view, number)
    entity = request.entity
    condition = request.predicate?.condition
    sorts = request.sorts
    includesSubentities = request.includesSubentities
    origin = request.origin
    isEnumeration = request.isEnumeration
    most = request.window.map { $0.addingReportingOverflow(hidden) }.map {
      $0.overflow ? .max : $0.partialValue
    }
  }

  init(all entity: EntityDescription, _ view: IncrementalView) {
    (self.view, self.entity, condition, sorts, includesSubentities, most) = (view, entity, nil, [], true, nil)
    (origin, isEnumeration, number) = (nil, false, .none)
  }

  private func execute(_ type: FetchRequestResultType, from offset: Int = 0) throws -> Any {
    try view.contents.openStore().execute(request(type, from: offset), with: view.context)
  }

  /// The store, if it delivers rows.
  func deliveringStore() throws -> IncrementalStore? {
    let store = try view.contents.openStore()
    return store.deliversRows ? store : nil
  }

  func request(_ type: FetchRequestResultType, from offset: Int) -> FetchRequest<ManagedObject> {
    let request = FetchRequest<ManagedObject>()
    request.entity = entity
    request.predicate = condition
    request.sortDescriptors = sorts.isEmpty ? nil : sorts
    request.fetchOffset = offset
    // A limit of 0 is none.
    request.fetchLimit = type == .countResultType ? 0 : most.map { max(0, $0 - offset) } ?? 0
    request.includesSubentities = includesSubentities
    request.includesPendingChanges = false
    request.origin = origin
    request.resultType = type
    return request
  }

  /// The objects after the first `offset`, in order.
  func found(from offset: Int) throws -> [Found] {
    if let most, most <= offset { return [] }
    let result = try execute(.managedObjectResultType, from: offset)
    if let nodes = result as? [IncrementalStoreNode] {
      return nodes.map { Found(objectID: $0.objectID, node: $0) }
    }
    return try identifiers(result).map { Found(objectID: $0, node: nil) }
  }

  /// The identifiers of the objects, in order.
  func identifiers() throws -> [ManagedObjectID] {
    if let most, most <= 0 { return [] }
    let found = try identifiers(try execute(.managedObjectIDResultType))
    return number.number == 0 ? found : found.map(number.identifier)
  }

  private func identifiers(_ result: Any) throws -> [ManagedObjectID] {
    if let identifiers = result as? [ManagedObjectID] { return identifiers }
    if let objects = result as? [ManagedObject] { return objects.map(\.objectID) }
    throw wrong(result, "an array of nodes, identifiers or objects")
  }

  func count() throws -> Int {
    let result = try execute(.countResultType)
    if let number = result as? any BinaryInteger { return Int(clamping: number) }
    if let number = (result as? [any BinaryInteger])?.first { return Int(clamping: number) }
    if let numbers = result as? [Int], let number = numbers.first { return number }
    throw wrong(result, "an array of one integer")
  }

  private func wrong(_ result: Any, _ wanted: String) -> HeartwoodError {
    HeartwoodError(
      .persistentStoreOperation,
      "execute(_:with:) of the store at \((try? view.contents.openStore())?.place ?? "?") must return \(wanted) for a fetch of "
        + "\(entity.displayName), and returned \(String(describing: result).prefix(200))")
  }

  // MARK: As an access of a plan

  /// How many rows are read at once that the store has not returned with the objects.
  private static let readAtOnce = 500

  /// The object of a row.
  func objectID(_ row: any IncrementalStoreRow) -> ManagedObjectID {
    row.objectID ?? ManagedObjectID(entity: row.entity, key: row.number, store: view.contents.identity)
  }

  /// The bytes of a row.
  @inline(__always)
  static func bytes(of row: any IncrementalStoreRow, _ id: ManagedObjectID) throws -> [UInt8] {
    do {
      return try row.entity.row(version: row.version) { try row.value(at: $0) }
    } catch let unfit as UnfitValue {
      throw unfit.error(of: id)
    }
  }

  /// Calls `body` with the rows of the objects after the first `count`, until it returns false.
  func forEachRow(_ root: EntityDescription, skipping count: Int, _ body: (FoundRow) throws -> Bool) throws {
    if let store = try deliveringStore() {
      if let most, most <= count { return }
      let request = request(.managedObjectResultType, from: count)
      request.fetchBatchSize = Self.readAtOnce
      return try store.enumerateRows(for: request, with: view.context) { row in
        let id = objectID(row)
        return try Self.bytes(of: row, id).withUnsafeBytes {
          try number.withRow(id.keyInItsStore, RowView(unchecked: $0), body)
        }
      }
    }
    for part in try found(from: count).inParts(of: Self.readAtOnce) {
      let missing = part.filter { $0.node == nil }.map(\.objectID.keyInItsStore)
      let rows = missing.isEmpty ? [] : try view.rows(root, missing)
      let byKey = Dictionary(rows.map { ($0.key, $0.row) }, uniquingKeysWith: { first, _ in first })
      for object in part {
        // An object that was deleted since it was found is none.
        let key = object.objectID.keyInItsStore
        guard let row = try object.node.map(view.row) ?? byKey[key] else { continue }
        guard try number.withRow(key, row.view, body) else { return }
      }
    }
  }
}

extension IncrementalFetch {
  /// The plan of a request that the store alone executes.
  func plan(_ request: ResolvedRequest, isCount: Bool) throws -> ChosenPlan {
    try ChosenPlan(self, request.sort == nil ? .any : .index, count: isCount ? count() : nil)
  }
}

extension ChosenPlan {
  /// - Parameter count: The number of results; nil if it is not asked for.
  init(_ fetch: any RequestedFetch, _ order: PlanOrder, count: Int?) {
    self.init(
      access: .requested(fetch), order: order, filter: nil, checksEntity: false, count: count ?? 0,
      matches: count ?? 0, exactCount: count)
  }
}

extension IncrementalView: RequestingView, RequestingMember {
  func plan(
    _ request: ResolvedRequest, hidden: Int, isCount: Bool, _ source: any RowSource,
    _ changedRoots: Set<UInt16>
  ) throws -> ChosenPlan? { try fetch(request, hidden: hidden, .none)?.plan(request, isCount: isCount) }

  func fetch(_ request: ResolvedRequest, hidden: Int, _ number: MemberNumber) -> IncrementalFetch? {
    contents.executesFetches ? IncrementalFetch(request, self, hidden: hidden, number) : nil
  }
}

extension IncrementalView {
  /// The stored rows of an entity with any of these values in some properties.
  func rows(
    of entity: EntityDescription, with names: [String], in values: [[Value]]
  ) throws -> [(key: UInt64, row: StoredRow)] {
    func path(_ name: String) -> ConditionExpression { .path(PropertyPath(names: name)) }
    let condition: Condition =
      names.count == 1
      ? .comparing(path(names[0]), .isIn, .list(values.map { $0[0] }))
      : .any(values.map { one in .all(zip(names, one).map { .comparing(path($0), .equal, .value($1)) }) })
    let request = try ResolvedRequest(
      entity: entity, predicate: condition, sorts: [], limit: nil, offset: 0, includesPendingChanges: false,
      store: contents.identity)
    var rows: [(key: UInt64, row: StoredRow)] = []
    let fetch = IncrementalFetch(request, self, hidden: 0)
    var slab: RowSlab?
    try fetch.forEachRow(entity.rootEntity, skipping: 0) { found in
      rows.append((found.key, StoredRow(copying: found.row.bytes, into: &slab)))
      return true
    }
    return rows
  }
}

/// Stores that cannot evaluate conditions have it done in memory.
extension IncrementalStore {
  /// The nodes that a fetch request selects of all those of its entity and the subentities of it, in the order of the request, with its offset
  /// and limit. Other objects that the condition or the order reads are asked for by `newValuesForObject(with:with:)` and
  /// `newValue(forRelationship:forObjectWith:with:)`.
  ///
  /// - Parameters:
  ///   - nodes: All objects that may be selected; those of other entities are left out.
  ///   - request: The request that `execute(_:with:)` got.
  /// - Throws: `.coreData` for a request that does not fit the model, and what reading others throws.
  /// - Complexity: Linear in the number of nodes, and sorting.
  public final func select(
    _ nodes: some Sequence<IncrementalStoreNode>, for request: FetchRequest<ManagedObject>
  ) throws -> [IncrementalStoreNode] { try select(nodes, for: request, readingFor: nil) }

  /// As `select(_:for:)`.
  ///
  /// - Parameter context: The context that other objects are asked for by, on its queue; nil for none.
  package final func select(
    _ nodes: some Sequence<IncrementalStoreNode>, for request: FetchRequest<ManagedObject>,
    readingFor context: ManagedObjectContext?
  ) throws -> [IncrementalStoreNode] {
    guard let entity = request.entity else { return [] }
    let contents = openContents()
    let resolved = try ResolvedRequest(
      entity: entity, predicate: request.predicate, sorts: request.sortDescriptors ?? [],
      limit: request.fetchLimit == 0 ? nil : request.fetchLimit, offset: request.fetchOffset,
      includesSubentities: request.includesSubentities, includesPendingChanges: false,
      store: contents.identity)
    let source = IncrementalView(contents, contents.newestGeneration, context).forOneReader()
    defer { withExtendedLifetime(source) {} }
    var (slab, rows, byKey) = (RowSlab?.none, [StoredRow](), [UInt64: IncrementalStoreNode]())
    var first = FirstRows(resolved.window, DeliveryOrder(resolved, in: source))
    for node in nodes where node.objectID.entity.rootEntity === entity.rootEntity {
      let key = node.objectID.keyInItsStore
      let row = try contents.row(of: node, context).withUnsafeBytes { StoredRow(copying: $0, into: &slab) }
      guard resolved.accepts(row.view.entityNumber),
        try resolved.predicate?.matches(row.view, key: key, in: source) ?? true
      else { continue }
      rows.append(row)
      byKey[key] = node
      try first.insert(FoundRow(key: key, row: row.view))
    }
    defer { withExtendedLifetime(rows) {} }
    return try first.sorted().dropFirst(resolved.offset).compactMap { byKey[$0.key] }
  }
}
