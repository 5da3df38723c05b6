import HeartwoodBytes

/// How a fetch returns objects.
struct ObjectDelivery {
  /// Whether registered objects take the newest values.
  var refreshes = false
  /// Whether objects are realised at once.
  var realises = false
  /// Whether objects have their rows.
  var hasRows = true
  /// How many objects get their rows together when one is used; 0 if they have them at once.
  var batchSize = 0
  /// The relationships that are loaded with the objects.
  var prefetching: [PrefetchedRelationship] = []

  /// Whether objects get their rows in batches. To refresh, rows are needed at once.
  var isBatched: Bool { batchSize > 0 && !refreshes }
  /// Whether objects are returned without rows.
  var returnsWithoutRows: Bool { isBatched || !hasRows && !realises && !refreshes }
}

/// A request with its names resolved and its predicate and sort compiled.
struct ResolvedRequest {
  let entity: EntityDescription
  let includesSubentities: Bool
  let predicate: CompiledPredicate?
  /// Nil if the request has no order.
  let sort: CompiledSort?
  var limit: Int?
  var offset: Int
  let includesPendingChanges: Bool
  /// The order as it was asked for.
  let sorts: [any FetchSort]
  /// The properties of each object's own row that are read of the results; nil if the row is needed.
  var columns: Set<Int>?
  /// The root entities whose rows the results read by key.
  var reachedRoots: [EntityDescription] = []
  /// The properties of which only the least and the greatest values are needed; nil if the results are.
  var extremes: [Int]?
  /// Whether values of other fetches are parts of the condition.
  var hasFetchedValues = false
  /// The numbers of the stores whose objects are fetched, where there are several; nil for all.
  var stores: Set<Int>?
  /// How objects are returned.
  var delivery = ObjectDelivery()
  /// As `FetchRequest.origin`.
  var origin: (any Sendable)?
  /// As `FetchRequest.isEnumeration`.
  var isEnumeration = false

  init(
    entity: EntityDescription, predicate: (any FetchPredicate)?, sorts: [any FetchSort], limit: Int?,
    offset: Int, includesSubentities: Bool = true, includesPendingChanges: Bool = true, store: StoreIdentity
  ) throws(HeartwoodError) {
    guard limit ?? 0 >= 0, offset >= 0 else {
      throw HeartwoodError(
        .coreData,
        "the limit \(limit ?? 0) or the offset \(offset) of a fetch of \(entity.displayName) is negative")
    }
    self.entity = entity
    self.includesSubentities = includesSubentities
    self.predicate =
      if let predicate { try CompiledPredicate(predicate, entity: entity, store: store) } else { nil }
    sort = sorts.isEmpty ? nil : try CompiledSort(sorts, entity: entity, store: store)
    self.limit = limit
    self.offset = offset
    self.includesPendingChanges = includesPendingChanges
    self.sorts = sorts
  }

  /// The memos of the condition and the order.
  var memos: [AggregateMemo] { (predicate?.memos ?? []) + (sort?.memos ?? []) }

  /// How many of the first results are needed; nil for all.
  var window: Int? {
    limit.map { $0.addingReportingOverflow(offset) }.map { $0.overflow ? .max : $0.partialValue }
  }

  /// The properties of rows that the condition, the order and the results read; nil if the rows are needed.
  var usedSlots: Set<Int>? {
    guard var slots = columns else { return nil }
    if let predicate {
      guard let used = predicate.usedSlots else { return nil }
      slots.formUnion(used)
    }
    if let sort {
      guard let used = sort.usedSlots else { return nil }
      slots.formUnion(used)
    }
    return slots
  }

  /// Whether the request includes rows of the entity with this number.
  func accepts(_ number: UInt16) -> Bool {
    number == entity.number || includesSubentities && entity.compiled.family.entity(number) != nil
  }

  /// Whether the request includes all rows of `covered` and its subentities.
  func takesAll(below covered: EntityDescription) -> Bool {
    covered === entity && (includesSubentities || !entity.hasSubentities)
  }

  var entityText: String {
    let only = entity.hasSubentities && !includesSubentities ? " without subentities" : ""
    return "only \(entity.displayName)\(only)"
  }

  var sortText: String { sort?.text ?? "none" }
}
