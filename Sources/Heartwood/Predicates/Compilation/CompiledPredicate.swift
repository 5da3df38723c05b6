/// A predicate with its names resolved and its types checked, ready to be tested against rows.
///
/// It applies to rows of its entity and of all subentities, whose columns have the same offsets.
final class CompiledPredicate {
  let entity: EntityDescription
  /// The parts that must all hold.
  let conjuncts: [Conjunct]
  /// Whether evaluation reads rows other than the object's own.
  let readsOtherRows: Bool
  /// The properties of the object's own row that are read; nil if the row is needed.
  let usedSlots: Set<Int>?
  /// The root entities whose rows are read by key.
  let reachedRoots: [EntityDescription]
  /// See `UsedProperties.readRoots`.
  let readRoots: [EntityDescription]?
  /// See `UsedProperties.toOneRoutes`.
  let toOneRoutes: [[RelationshipDescription]]?
  /// Active while a fetch tests rows that do not change.
  let memos: [AggregateMemo]
  private let test: RowTest
  let condition: Condition

  /// - Parameter store: if given, constants that are saved objects of another store equal nothing.
  /// - Throws: `.invalidPredicate` if a name is unknown, a type does not fit, or the tree is too large.
  convenience init(
    _ predicate: any FetchPredicate, entity: EntityDescription, store: StoreIdentity? = nil
  ) throws(HeartwoodError) {
    try self.init(predicate.conditionTree(for: entity), entity: entity, store: store)
  }

  init(_ condition: Condition, entity: EntityDescription, store: StoreIdentity? = nil) throws(HeartwoodError)
  {
    var compiler = ConditionCompiler(entity, store)
    let parts = try compiler.compileConjuncts(condition)
    self.entity = entity
    self.condition = condition
    conjuncts = parts.flatMap(\.conjunct.parts)
    readsOtherRows = compiler.readsOtherRows
    memos = compiler.memos
    usedSlots = compiler.paths.used.ofRow
    reachedRoots = compiler.paths.used.reachedRoots
    readRoots = compiler.paths.used.readRoots
    toOneRoutes = compiler.paths.used.toOneRoutes
    test = RowTest.all(parts.map(\.test))
  }

  /// Whether the predicate is true for an object.
  ///
  /// - Throws: errors of reading other rows.
  func matches(_ row: RowView, key: UInt64, in source: any RowSource) throws -> Bool {
    try test.matches(Place(row: row, key: key, source: source, outer: nil))
  }

  @inline(__always)
  func matches(_ place: Place) throws -> Bool { try test.matches(place) }

  /// The predicate in the language of `FormatPredicate`.
  var text: String { condition.description }
}
