/// A sort order with its names resolved, ready to compare rows.
final class CompiledSort {
  struct Key {
    /// The slot of the entity's own attribute, or the number of an indexed expression, if the key has no options: only such a key can be
    /// served by an index.
    let slot: Int?
    let ascending: Bool
    fileprivate let order: RowOrder
    fileprivate let hops: [ToOneHop]
    /// The to-one routes of a path.
    fileprivate let toOneRoutes: [[RelationshipDescription]]?
    fileprivate let text: String
    /// Reads the value that the key compares at the end of the hops: folded if it has options.
    fileprivate let reader: ValueReader
    /// Whether the value is computed, so that it is read once for each row.
    fileprivate var isComputed = false

    /// How values are compared.
    fileprivate(set) var options: ComparisonOptions = []

    /// The value that the key compares; null also if a relationship on the way has no destination.
    func value(_ place: Place) throws -> Value {
      guard let owner = try place.following(hops) else { return .null }
      return try reader.read(owner)
    }
  }

  let keys: [Key]
  private let order: RowOrder
  /// The root entities whose rows are read by key.
  let reachedRoots: [EntityDescription]
  /// Whether comparisons read other rows than the compared objects' own.
  let readsOtherRows: Bool
  /// See `UsedProperties.readRoots`.
  let readRoots: [EntityDescription]?
  /// See `UsedProperties.toOneRoutes`.
  let toOneRoutes: [[RelationshipDescription]]?
  /// Whether any key is a computed value, or costly to compare, so that the values of all keys are read once for each row.
  let isComputed: Bool
  /// Active while a fetch sorts rows that do not change.
  let memos: [AggregateMemo]
  /// The properties of the object's own row that are read; nil if the row is needed.
  let usedSlots: Set<Int>?

  /// - Parameter store: If given, constants that are saved objects of another store equal nothing.
  /// - Throws: `.invalidPredicate` if a name is unknown, or a value has no order.
  init(
    _ sorts: [any FetchSort], entity: EntityDescription, store: StoreIdentity? = nil
  ) throws(HeartwoodError) {
    var compiler = ConditionCompiler(entity, store)
    var keys: [Key] = []
    for sort in sorts {
      do {
        keys.append(try Self.key(sort.sortKey, entity, &compiler))
      } catch {
        throw error.aboutSort
      }
    }
    self.keys = keys
    isComputed = keys.contains { $0.isComputed || $0.options.isLocalized }
    readsOtherRows = compiler.readsOtherRows || keys.contains { !$0.hops.isEmpty }
    reachedRoots = keys.flatMap { $0.hops.map(\.root) } + compiler.paths.used.reachedRoots
    readRoots = compiler.paths.used.readRoots.map { keys.flatMap { $0.hops.map(\.root) } + $0 }
    toOneRoutes = keys.map(\.toOneRoutes).reduce(compiler.paths.used.toOneRoutes) { all, routes in
      all.flatMap { all in routes.map { all + $0 } }
    }
    memos = compiler.memos
    let ownSlots = keys.filter { !$0.isComputed }.map(\.slot)
    usedSlots =
      ownSlots.contains(nil) ? nil : compiler.paths.used.ofRow?.union(ownSlots.compactMap { $0 })
    order = keys.dropLast().reversed().reduce(keys.last?.order ?? NoOrder(1)) { ThenOrder($1.order, $0) }
  }

  /// Negative if the left object comes first, positive if the right one does, zero if all keys are equal.
  ///
  /// - Throws: Errors of reading other rows.
  func compare(
    _ left: RowView, _ leftKey: UInt64, _ right: RowView, _ rightKey: UInt64, in source: any RowSource
  ) throws -> Int {
    try order.compare(
      Place(row: left, key: leftKey, source: source, outer: nil),
      Place(row: right, key: rightKey, source: source, outer: nil))
  }

  @inline(__always)
  func compare(_ left: Place, _ right: Place) throws -> Int { try order.compare(left, right) }

  /// The same by the first keys only.
  func compare(_ left: Place, _ right: Place, keys count: Int) throws -> Int {
    for key in keys.prefix(count) {
      let decision = try key.order.compare(left, right)
      if decision != 0 { return decision }
    }
    return 0
  }

  /// The order as text: `name ascending, country.name[cd] descending`.
  var text: String { keys.map(\.text).joined(separator: ", ") }

  private static func key(
    _ key: SortKey, _ entity: EntityDescription, _ compiler: inout ConditionCompiler
  ) throws(HeartwoodError) -> Key {
    guard case .path(let written) = key.expression.kind else { return try computedKey(key, &compiler) }
    let resolver = PathResolver(scopes: [(.fetched, entity)])
    let path = try resolver.resolve(written)
    let order = try order(path, key)
    let isPlain = path.hops.isEmpty && key.options.isEmpty
    let name = path.name.dropFirst(entity.displayName.count + 1)
    return Key(
      slot: isPlain ? path.slot : nil, ascending: key.isAscending, order: order, hops: path.hops,
      toOneRoutes: resolver.used.toOneRoutes,
      text:
        "\(name.isEmpty ? "objectID" : name)\(key.options.sortSuffix) \(key.isAscending ? "ascending" : "descending")",
      reader: reader(path, key.options), options: key.options)
  }

  private static func computedKey(
    _ key: SortKey, _ compiler: inout ConditionCompiler
  ) throws(HeartwoodError) -> Key {
    let value = try compiler.computed(key.expression)
    switch value.kind {
    case .list:
      throw .sort("\(value.name) has several values: sort by one of them, such as their @count or @max", nil)
    case .object:
      throw .sort("\(value.name) is \(value.kind.name): sort by an attribute of it", nil)
    default: break
    }
    if !key.options.isEmpty, !value.kind.isText, value.kind != .null {
      throw .sort("\(value.name) is \(value.kind.name): \(key.options.sortSuffix) is for texts", nil)
    }
    let reader = key.options.isEmpty ? value.reader : FoldedReader(value.reader, key.options)
    let indexed = key.options.isEmpty ? compiler.indexedExpression(key.expression) : nil
    return Key(
      slot: indexed?.isExact == true ? indexed?.slot : nil, ascending: key.isAscending,
      order: ComputedOrder(reader, key.isAscending ? 1 : -1), hops: [],
      toOneRoutes: [],
      text: "\(key.expression)\(key.options.sortSuffix) \(key.isAscending ? "ascending" : "descending")",
      reader: reader, isComputed: true, options: key.options)
  }

  /// The value that is ordered, for what keeps it.
  private static func reader(_ path: ResolvedPath, _ options: ComparisonOptions) -> ValueReader {
    guard case .attribute(_, let column) = path.end else { return CreationReader() }
    return options.isEmpty ? ColumnReader(column) : FoldedReader(ColumnReader(column), options)
  }

  private static func order(_ path: ResolvedPath, _ key: SortKey) throws(HeartwoodError) -> RowOrder {
    let sign = key.isAscending ? 1 : -1
    let order: RowOrder
    switch path.end {
    case .object: order = KeyOrder(sign)
    case .attribute(let attribute, let column):
      try path.checkIsInRow()
      guard attribute.type != .composite else {
        throw .sort("\(path.name) is composite: sort by one of its elements", attribute.name)
      }
      guard attribute.type != .transformable else {
        throw .sort("\(path.name) is transformable: its values have no order", attribute.name)
      }
      if !key.options.isEmpty, attribute.type != .string, attribute.type != .uri {
        throw .sort(
          "\(path.name) is \(attribute.type.kindName): \(key.options.sortSuffix) is for texts", attribute.name
        )
      }
      order = RowOrder.order(column, key.options, sign)
    case .entity: throw .sort("\(path.name) is no attribute: fetch one entity after the other", nil)
    case .toOne(let relationship, _, _), .toMany(let relationship, _, _):
      throw .sort(
        "\(path.name) is a relationship: sort by an attribute"
          + (relationship.isToMany ? "" : " behind it, as in '\(relationship.name).name'"), relationship.name)
    }
    return path.hops.isEmpty ? order : OrderBehindHops(path.hops, order, reader(path, key.options), sign)
  }
}

extension HeartwoodError {
  fileprivate static func sort(_ message: String, _ property: String?) -> HeartwoodError {
    HeartwoodError(.coreData, "the sort is wrong: \(message)", property: property)
  }

  /// An error in what is sorted by.
  fileprivate var aboutSort: HeartwoodError {
    HeartwoodError(
      code, message.replacing("the predicate is wrong", with: "the sort is wrong", maxReplacements: 1),
      property: property)
  }
}
