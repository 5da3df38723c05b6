/// The effect of a context's unsaved changes on one fetch.
struct PendingMatches {
  /// Keys of rows that must not be delivered as they are in the store: those of changed and deleted objects.
  private(set) var hidden: Set<UInt64> = []
  /// Changed and new objects that match the fetch.
  private(set) var matches: [FoundRow] = []

  /// The number of matches; more than there are in `matches` if only the first ones or their number is needed.
  private(set) var matchCount = 0

  /// The number of changes that are merged into the fetch.
  var count: Int { max(hidden.count, matchCount) }
  var isEmpty: Bool { hidden.isEmpty && matchCount == 0 }

  static var none: PendingMatches { PendingMatches() }

  private init() {}

  /// Where the objects are, or are to be, if the request names stores.
  private var places: StoresOfObjects?

  /// - Parameter isCount: Whether only the number of matches is needed.
  init(
    _ request: ResolvedRequest, _ context: ManagedObjectContext, _ overlay: PendingOverlay, isCount: Bool
  ) throws {
    places = request.stores.map { StoresOfObjects($0, context) }
    let root = request.entity.rootEntity
    if let lookup = PendingLookup.of(context) {
      hidden = lookup.hiddenKeys[root.number] ?? []
      switch PendingWay(request, lookup, context, isCount: isCount) {
      case .count(let count):
        matchCount = count
        return
      case .candidates(let candidates):
        try candidates.forEach { object in
          try take(object, request, overlay)
          return candidates.limit.map { matchCount < $0 } ?? true
        }
        return
      case .order(let index):
        try takeFirst(request.window, of: index, request, overlay)
        return
      case .ends(let indexes):
        for index in indexes { try takeEnds(of: index, request, overlay) }
        return
      case .all: break
      }
    }
    for objects in [context.changes.deleted, context.changes.gone] {
      for object in objects where object.entity.rootEntity === root { hidden.insert(object.identifier.key) }
    }
    for object in context.changes.updated where object.entity.rootEntity === root {
      hidden.insert(object.identifier.key)
      try take(object, request, overlay)
    }
    for object in context.changes.inserted where object.entity.rootEntity === root {
      // Others may have inserted it again, too.
      if !object.identifier.isTemporaryID { hidden.insert(object.identifier.key) }
      try take(object, request, overlay)
    }
  }

  /// Adds the unsaved changes of a parent context, except those of rows that a nearer context has changed.
  mutating func add(_ layer: FrozenRows, _ request: ResolvedRequest, _ source: any RowSource) throws {
    let root = request.entity.rootEntity
    for key in layer.changedKeys(of: root) where hidden.insert(key).inserted {
      guard case .row(let row) = layer.row(root, key), request.accepts(row.entityNumber) else { continue }
      if let stores = request.stores, layer.storeNumber(of: key).map(stores.contains) != true { continue }
      if let predicate = request.predicate, try !predicate.matches(row, key: key, in: source) { continue }
      append(FoundRow(key: key, row: row))
    }
  }

  private mutating func append(_ match: FoundRow) {
    matches.append(match)
    matchCount += 1
  }

  /// Takes the first objects in the order of the request.
  private mutating func takeFirst(
    _ window: Int?, of index: PendingIndex, _ request: ResolvedRequest, _ overlay: PendingOverlay
  ) throws {
    let wanted = window ?? .max
    try index.forEach(index.all) { object in
      try take(object, request, overlay)
      return matchCount < wanted
    }
  }

  /// Takes the objects with the least and the greatest value.
  private mutating func takeEnds(
    of index: PendingIndex, _ request: ResolvedRequest, _ overlay: PendingOverlay
  ) throws {
    let present = index.run(from: nil, to: nil)
    let before = matchCount
    try index.forEach(present) { object in
      try take(object, request, overlay)
      return matchCount == before
    }
    let after = matchCount
    guard after > before else { return }
    try index.forEachReversed(present) { object in
      try take(object, request, overlay)
      return matchCount == after
    }
  }

  private mutating func take(
    _ object: ManagedObject, _ request: ResolvedRequest, _ overlay: PendingOverlay
  ) throws {
    guard request.accepts(object.entity.number), !object.state.contains(.deleted),
      places?.contain(object) ?? true,
      let row = overlay.row(of: object)
    else { return }
    let key = object.identifier.key
    if let predicate = request.predicate, try !predicate.matches(row, key: key, in: overlay) { return }
    append(FoundRow(key: key, row: row))
  }

  /// Sorts the matches in the order of delivery.
  mutating func sort(by order: DeliveryOrder) throws {
    try matches.sort { try order.places($0, before: $1) }
  }
}

/// The order in which a fetch delivers rows: that of the request; rows that are equal in it are ordered by key, in the
/// direction of the last sort key.
///
/// It is used for every row, so it holds unretained references.
///
/// - Precondition: The caller keeps the request and the source alive while it uses the order.
struct DeliveryOrder {
  private let sort: UnownedReference<CompiledSort>?
  /// How many keys of the order count.
  private var keyCount: Int
  private let anywhere: Place
  private let tiesDescend: Bool

  init(_ request: ResolvedRequest, in source: any RowSource) {
    sort = request.sort.map { UnownedReference($0) }
    keyCount = request.sort?.keys.count ?? 0
    anywhere = Place(in: source)
    tiesDescend = request.sort?.keys.last?.ascending == false
  }

  /// The order by the first keys only.
  func first(_ keys: Int) -> DeliveryOrder {
    var order = self
    order.keyCount = keys
    return order
  }

  /// Whether two rows are equal in the keys.
  func areEqual(_ left: FoundRow, _ right: FoundRow) throws -> Bool {
    guard let sort else { return true }
    return try sort.with {
      try $0.compare(anywhere.moved(to: left), anywhere.moved(to: right), keys: keyCount) == 0
    }
  }

  /// Whether the values of all keys are read once for each row, because some are computed.
  var isComputed: Bool { sort?.with { $0.isComputed } ?? false }

  /// A table for the sort values of rows, without any yet.
  var noValues: SortValues {
    SortValues(
      sort?.with { sort in
        sort.keys.map { SortValues.Column(isAscending: $0.ascending, options: $0.options) }
      } ?? [])
  }

  /// Appends what a row is sorted by.
  func appendValues(of found: FoundRow, to values: inout SortValues) throws {
    let place = anywhere.moved(to: found)
    try sort?.with { sort in
      for key in sort.keys { values.append(try key.value(place)) }
    }
  }

  /// Whether of two rows that are equal in the keys one comes before the other.
  @inline(__always)
  func placesEqual(_ left: UInt64, before right: UInt64) -> Bool { tiesDescend ? left > right : left < right }

  func places(_ left: FoundRow, before right: FoundRow) throws -> Bool {
    if let sort {
      let order = try sort.with {
        try $0.compare(anywhere.moved(to: left), anywhere.moved(to: right))
      }
      if order != 0 { return order < 0 }
    }
    return placesEqual(left.key, before: right.key)
  }
}
