/// A predicate with its names resolved and its types checked, ready to be tested against rows.
///
/// It applies to rows of its entity and of all subentities, whose columns have the same offsets.
@usableFromInline package final class CompiledPredicate {
  package let entity: EntityDescription
  /// The parts that must all hold.
  package let conjuncts: [Conjunct]
  /// Whether evaluation reads rows other than the object's own.
  package let readsOtherRows: Bool
  /// The properties of the object's own row that are read; nil if the row is needed.
  package let usedSlots: Set<Int>?
  /// The name of a composite attribute that is asked for as a whole; nil for none.
  let usedComposite: String?
  /// The root entities whose rows are read by key.
  package let reachedRoots: [EntityDescription]
  /// See `UsedProperties.readRoots`.
  package let readRoots: [EntityDescription]?
  /// See `UsedProperties.toOneRoutes`.
  package let toOneRoutes: [[RelationshipDescription]]?
  /// Active while a fetch tests rows that do not change.
  package let memos: [AggregateMemo]
  @usableFromInline let test: RowTest
  package let condition: Condition

  /// - Parameter store: if given, constants that are saved objects of another store equal nothing.
  /// - Throws: `.invalidPredicate` if a name is unknown, a type does not fit, or the tree is too large.
  package convenience init(
    _ predicate: any FetchPredicate, entity: EntityDescription, store: StoreIdentity? = nil
  ) throws(HeartwoodError) {
    try self.init(predicate.conditionTree(for: entity), entity: entity, store: store)
  }

  package init(_ condition: Condition, entity: EntityDescription, store: StoreIdentity? = nil)
    throws(HeartwoodError)
  {
    var compiler = ConditionCompiler(entity, store)
    let parts = try compiler.compileConjuncts(condition)
    self.entity = entity
    self.condition = condition
    conjuncts = parts.flatMap(\.conjunct.parts)
    readsOtherRows = compiler.readsOtherRows
    memos = compiler.memos
    usedSlots = compiler.paths.used.ofRow
    usedComposite = compiler.paths.used.composite
    reachedRoots = compiler.paths.used.reachedRoots
    readRoots = compiler.paths.used.readRoots
    toOneRoutes = compiler.paths.used.toOneRoutes
    test = RowTest.all(parts.map(\.test))
  }

  /// Whether the predicate is true for an object.
  ///
  /// - Throws: errors of reading other rows.
  package func matches(_ row: RowView, key: UInt64, in source: any RowSource) throws -> Bool {
    try test.matches(Place(row: row, key: key, source: source, outer: nil))
  }

  @inlinable @inline(__always)
  package func matches(_ place: Place) throws -> Bool { try test.matches(place) }

  /// The predicate in the language of `FormatPredicate`.
  package var text: String { condition.description }
}
