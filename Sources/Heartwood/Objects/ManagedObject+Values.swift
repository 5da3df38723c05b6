import Foundation

/// Values by slot: pending ones before those of the row, and those before the defaults.
extension ManagedObject {
  /// The value as it stands now. Fires a fault.
  final func value(at slot: Int) -> Value {
    if let pending = side?.edit(slot) { return pending }
    return committedValue(at: slot)
  }

  /// The value as last fetched or saved; of a new object, and where nothing could be read, the default.
  /// Fires a fault.
  final func committedValue(at slot: Int) -> Value {
    willRead()
    guard let row else { return entity.defaultValue(at: slot) }
    let layout = entity.layout
    return row.value(layout.columns[slot], layout: layout, store: identifier.store)
  }

  /// The slots with a pending value, ascending.
  final var editedSlots: [Int] {
    guard let side, side.hasEdits else { return [] }
    return entity.slots.filter { side.edit($0) != nil }
  }

  /// Notes a pending value; the context is not asked.
  final func setEdit(_ slot: Int, _ value: Value) {
    madeSide().setEdit(slot, value)
    _row = nil
  }

  /// Forgets all pending values.
  final func dropEdits() {
    side?.dropEdits()
    exposeRow()
  }

  /// The slots whose pending value differs from the committed one, ascending.
  final func changedSlots() -> [Int] {
    editedSlots.filter { side?.edit($0) != committedValue(at: $0) }
  }

  /// Forgets all pending values after they were saved, and the memory for them where nothing else is in it.
  final func forgetEdits() {
    if let side, side.header.relationships.isEmpty { self.side = nil } else { side?.dropEdits() }
    exposeRow()
  }

  /// How often the object was edited since it came into being.
  final var editCount: Int {
    get { side?.header.editCount ?? 0 }
    set { madeSide().header.editCount = newValue }
  }

  /// The present state as a row.
  ///
  /// - Parameter mapping: gives keys for temporary ones.
  final func encodedRow(version: UInt32, mapping: (UInt64) -> UInt64) -> [UInt8] {
    willRead()
    let contents = entity.inUse
    let row = row
    var writer = RowWriter(contents.layout, version: version)
    for column in contents.layout.columns {
      let slot = Int(column.slot)
      if let pending = side?.edit(slot) {
        writer.write(pending.withKey(mapping), column)
      } else if let row {
        writer.copy(column, from: row)
      } else {
        writer.write(contents.defaults[slot], column)
      }
    }
    return writer.row
  }

  final func madeSide() -> ObjectSide {
    if let side { return side }
    let made = ObjectSide.make(slotCount: entity.inUse.properties.count)
    side = made
    return made
  }
}

extension Value {
  fileprivate func withKey(_ mapping: (UInt64) -> UInt64) -> Value {
    guard case .object(let id) = self else { return self }
    return .object(ManagedObjectID(entity: id.entity, key: mapping(id.key), store: id.store))
  }
}
