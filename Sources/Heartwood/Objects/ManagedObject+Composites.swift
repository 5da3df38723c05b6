/// Composite attributes: reading and setting them as a whole.
extension ManagedObject {
  /// The stored form of an attribute's value: of a composite one, a list of its elements in the order of their names.
  final func wholeValue(at slot: Int) -> Value {
    guard entity.layout.columns[slot].kind == .composite else { return value(at: slot) }
    return entity.wholeValue(at: slot) { value(at: $0) }
  }

  /// Sets an attribute to a stored form, without informing the context.
  final func setWhole(_ slot: Int, _ value: Value) {
    guard entity.layout.columns[slot].kind == .composite else { return setEdit(slot, value) }
    // Elements that stay as they are do not become edits, which a merge would prefer to the changes of others.
    setColumns(entity.columnValues(of: value, at: slot).filter { self.value(at: $0.slot) != $0.value })
  }

  /// Sets columns. An element makes the composite attribute that it is in have a value.
  final func setColumns(_ columns: [(slot: Int, value: Value)]) {
    for (slot, value) in columnsWithPresence(columns) { setEdit(slot, value) }
  }

  /// The columns, preceded by the marks of the composites around an element that gets a value, and by the defaults of
  /// their elements if they had none. What was set stays.
  ///
  /// - Parameter columns: Those of one attribute or element: of a composite one, its own and those of its elements after it.
  final func columnsWithPresence(_ columns: [(slot: Int, value: Value)]) -> [(slot: Int, value: Value)] {
    guard let whole = columns.first, !whole.value.isNull, entity.isElement(whole.slot),
      columns.count == 1 || entity.compiled.composites[whole.slot] != nil
    else { return columns }
    let beside = entity.defaults(beside: whole.slot) { value(at: $0) }
    return entity.compositeSlots(around: whole.slot).map { ($0, .bool(true)) }
      + beside.filter { pending?.edit($0.slot) == nil } + columns
  }
}
