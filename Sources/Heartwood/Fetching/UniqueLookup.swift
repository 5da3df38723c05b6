/// A request for the object with one value of a unique attribute, the most frequent kind: one descent of an index,
/// without compiling the condition and choosing a plan.
///
/// It finds what the plan of the request would find. Whatever is unusual is left to that: other conditions, sorts and
/// offsets, conversions of the value, unsaved changes.
struct UniqueLookup {
  private let index: StoreIndex
  private let value: Value

  /// - Returns: nil if the request is of another kind.
  init?(
    _ condition: Condition, of entity: EntityDescription, in view: any StoreView
  ) throws(HeartwoodError) {
    guard case .comparison(let comparison) = condition.node, comparison.comparator == .equal,
      comparison.options.isEmpty, comparison.quantifier == nil,
      case .path(let path) = comparison.left.kind, path.scope === Scope.fetched, path.steps.count == 1,
      case .value(let value) = comparison.right.kind,
      let slot = try Self.slot(path.steps[0], entity), let attribute = entity.attribute(at: slot),
      Self.isLookedUp(value, attribute.type)
    else { return nil }
    let index = view.indexes(of: entity).first {
      $0.isUnique && $0.slots.count == 1 && $0.slots[0] == slot
    }
    guard let index else { return nil }
    self.index = index
    self.value = value
  }

  /// The row in a view without unsaved changes; nil if there is none.
  func row(of entity: EntityDescription, includingSubentities: Bool, in view: any StoreView) throws
    -> FoundRow?
  {
    let root = entity.rootEntity
    let column = index.columns[0]
    var result: FoundRow?
    try view.scanIndex(index, IndexRange(equal: [value]), reversed: false) { key in
      guard let row = try view.row(root, key) else { throw HeartwoodError.missingRow(key, index, root) }
      let number = row.entityNumber
      let isIncluded =
        number == entity.number || includingSubentities && entity.compiled.family.entity(number) != nil
      // Long values that begin alike are told apart by their rows.
      guard isIncluded, row.value(column) == value else { return true }
      result = FoundRow(key: key, row: row)
      return false
    }
    return result
  }

  private static func slot(_ step: PathStep, _ entity: EntityDescription) throws(HeartwoodError) -> Int? {
    switch step {
    case .name(let name): return entity.slot(named: name)
    case .item, .kind: return nil
    case .keyPath(let keyPath):
      let names = try entity.propertyNames(of: keyPath)
      return names.count == 1 ? entity.slot(named: names[0]) : nil
    }
  }

  /// Whether the value is compared as it is.
  private static func isLookedUp(_ value: Value, _ type: AttributeType) -> Bool {
    switch (value, type) {
    case (.string, .string), (.int, .integer64), (.uuid, .uuid): true
    default: false
    }
  }
}
