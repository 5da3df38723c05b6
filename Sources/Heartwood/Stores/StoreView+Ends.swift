/// The ends of indexes.
extension StoreView {
  /// The least or greatest value of a property of all objects of an entity, null if none has one; nil if no index has just these values, in
  /// their order.
  func end(of slot: Int, _ entity: EntityDescription, _ isGreatest: Bool) throws -> Value? {
    let index = indexes(of: entity).first { index in
      index.isOrdered && index.slots.first == slot && index.entity === entity && index.condition == nil
        && !index.hasExpressions && (!index.isUnique || index.slots.count == 1)
    }
    guard let index, index.columns[0].kind.isInOrder else { return nil }
    let root = entity.rootEntity
    var value = Value.null
    try scanIndex(index, IndexRange(isPresent: true), reversed: isGreatest) { key in
      guard let row = try row(root, key) else { throw HeartwoodError.missingRow(key, index, root) }
      value = row.value(index.columns[0])
      releaseRows()
      return false
    }
    return value
  }
}

extension ColumnKind {
  /// Whether values are compared as entries of an index are.
  fileprivate var isInOrder: Bool {
    [.int16, .int32, .int64, .double, .float, .date, .string].contains(self)
  }
}
