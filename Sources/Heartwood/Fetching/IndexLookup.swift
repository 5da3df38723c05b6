/// A request for the objects with one value of an indexed attribute, the most frequent kind: one descent of an index,
/// without compiling the condition and choosing a plan.
///
/// It finds what the plan of the request would find, in the same order. Whatever is unusual is left to that: other conditions, sorts and
/// offsets, most conversions of the value, nil, values of many objects, unsaved changes.
struct IndexLookup {
  private let index: StoreIndex
  private let value: Value
  let entity: EntityDescription
  private let includesSubentities: Bool

  /// How many entries are read: if there are more, a scan of all rows may cost less, which a plan tells.
  private static let mostEntries = 64

  /// - Returns: nil if the request is of another kind.
  init?(
    _ equality: Condition.Equality, of entity: EntityDescription, includingSubentities: Bool,
    in view: any StoreView
  ) throws(HeartwoodError) {
    guard let slot = try Self.slot(equality.property, entity), let attribute = entity.attribute(at: slot),
      let value = Self.value(equality.value, attribute.type),
      let index = Self.index(of: slot, view.indexes(of: entity))
    else { return nil }
    self.index = index
    self.value = value
    self.entity = entity
    includesSubentities = includingSubentities
  }

  /// Calls `body` with the rows of a view without unsaved changes, in the order of their keys, until it returns false.
  ///
  /// - Parameter limit: The maximum number of rows; nil for all.
  /// - Returns: false, before any call, if the value has many entries: choose a plan.
  @inline(__always)
  func forEachRow(
    in view: any StoreView, limit: Int?, _ body: (FoundRow) throws -> Bool
  ) throws -> Bool {
    let (checksEntity, checksValue) = (checksEntity, checksValue)
    guard let keys = try keys(in: view, limit: checksEntity || checksValue ? nil : limit) else {
      return false
    }
    let (root, convertsRows) = (entity.rootEntity, view.convertsRows)
    var left = limit ?? .max
    for key in keys where left > 0 {
      guard let row = try view.row(root, key) else { throw HeartwoodError.missingRow(key, index, root) }
      defer { if convertsRows { view.releaseRows() } }
      if checksEntity, !includes(row.entityNumber) { continue }
      if checksValue, row.value(index.columns[0]) != value { continue }
      left -= 1
      guard try body(FoundRow(key: key, row: row)) else { break }
    }
    return true
  }

  /// - Parameter limit: The maximum number of keys; nil for all.
  /// - Returns: nil if there are many.
  private func keys(in view: any StoreView, limit: Int?) throws -> [UInt64]? {
    var keys: [UInt64] = []
    var areMany = false
    try view.scanIndex(index, equal: value) { key in
      areMany = keys.count == Self.mostEntries
      if !areMany { keys.append(key) }
      return !areMany && keys.count != limit
    }
    return areMany ? nil : keys
  }

  private var checksEntity: Bool {
    index.entity !== entity || !includesSubentities && entity.hasSubentities
  }

  private func includes(_ number: UInt16) -> Bool {
    number == entity.number || includesSubentities && entity.compiled.family.entity(number) != nil
  }

  /// Whether rows with other values may be among those of the entries, as long values that begin alike may.
  private var checksValue: Bool {
    if index.isUnique { return true }
    // The composed form has at most three times as many bytes, and an entry twice as many for zeros.
    guard case .string(let text) = value else { return false }
    return text.utf8.count * 3 > IndexKey.longestValues / 2
  }

  static func slot(_ step: PathStep, _ entity: EntityDescription) throws(HeartwoodError) -> Int? {
    switch step {
    case .name(let name): entity.slot(named: name)
    case .item, .kind: nil
    case .keyPath(let keyPath): try entity.slot(of: keyPath)
    }
  }

  /// The value as entries have it; nil if it is no value of the attribute's kind, or one with an order of its own.
  private static func value(_ constant: Value, _ type: AttributeType) -> Value? {
    switch (type, constant) {
    case (.string, .string), (.integer64, .int), (.uuid, .uuid), (.boolean, .bool): constant
    case (.integer32, .int(let number)): Int32(exactly: number) == nil ? nil : constant
    case (.integer16, .int(let number)): Int16(exactly: number) == nil ? nil : constant
    case (.double, .double(let number)), (.date, .date(let number)): number.isNaN ? nil : constant
    case (.double, .int(let number)): Double(exactly: number).map(Value.double)
    default: nil
    }
  }

  /// The index that a plan would choose: a unique one, or the first that begins with the attribute; nil if that is none of the attribute
  /// alone, and of all rows.
  private static func index(of slot: Int, _ indexes: [StoreIndex]) -> StoreIndex? {
    var first: StoreIndex?
    for index in indexes where index.slots.first == slot {
      let isPlain = index.slots.count == 1 && index.condition == nil
      if index.isUnique, isPlain { return index }
      if index.kind == .ordered, first == nil { first = index }
    }
    guard let first, first.slots.count == 1, first.condition == nil else { return nil }
    return first
  }
}

extension Condition {
  /// A property of the fetched object, and the value that it equals.
  typealias Equality = (property: PathStep, value: Value)

  /// The property and the value that it equals, if this is the condition; nil for all others.
  var equality: Equality? {
    guard case .comparison(let comparison) = node, comparison.comparator == .equal,
      comparison.options.isEmpty, comparison.quantifier == nil,
      case .path(let path) = comparison.left.kind, path.scope === Scope.fetched, path.steps.count == 1,
      case .value(let value) = comparison.right.kind
    else { return nil }
    return (path.steps[0], value)
  }
}
