import Foundation

/// Values by slot: a pending value has precedence over the row's, and the row's over the default.
extension ManagedObject {
  /// The current value. Fires a fault.
  final func value(at slot: Int) -> Value {
    if let pending = pending?.edit(slot) { return pending }
    // The `awakeFromFetch` of a fault may set the property.
    if isFault { willRead() }
    return pending?.edit(slot) ?? committedValue(at: slot)
  }

  /// The value as last fetched or saved; the default for a new object or an unreadable one. Fires a fault.
  final func committedValue(at slot: Int) -> Value {
    willRead()
    guard let row else { return valueWithoutRow(at: slot) }
    let layout = entity.layout
    let column = layout.columns[slot]
    if column.kind == .transient { return valueWithoutRow(at: slot) }
    if let reference = row.external(column) { return externalValue(reference, at: slot) }
    return row.value(column, layout: layout, store: identifier.store)
  }

  /// The value of a transient property as of the last save, otherwise the default.
  private final func valueWithoutRow(at slot: Int) -> Value {
    if contextReference == nil, !isRealised, entity.compiled.hasChangingDefaults {
      makeDefaultsOfFreeObject()
      if let made = pending?.edit(slot) { return made }
    }
    if let pending, pending.hasTransients, let value = pending.header.transients[slot] { return value }
    return entity.initialValue(at: slot)
  }

  /// The slots with a pending value, ascending.
  final var editedSlots: [Int] {
    guard let pending, pending.hasEdits else { return [] }
    return entity.slots.filter { pending.edit($0) != nil }
  }

  /// Whether the program has set a property since the object was made, read or saved. Defaults that were evaluated for a new object do
  /// not count.
  final func isSet(_ slot: Int) -> Bool {
    guard let pending, pending.edit(slot) != nil else { return false }
    return !pending.header.madeDefaults.contains(slot)
  }

  /// The names of the properties that the program has set, as `isSet(_:)` says.
  package final var setPropertyNames: Set<String> {
    Set(editedSlots.filter(isSet).map { String(entity.property(at: $0).name.prefix { $0 != "." }) })
  }

  /// Sets a pending value without informing the context.
  final func setEdit(_ slot: Int, _ value: Value) {
    changeValue(slot) { makePendingValues().setEdit(slot, value) }
    _row = nil
  }

  /// Drops all pending values.
  final func dropEdits() {
    changeValues(changedSlots()) { pending?.dropEdits() }
    exposeRow()
  }

  /// Drops one pending value.
  final func dropEdit(_ slot: Int) { changeValue(slot) { pending?.dropEdit(slot) } }

  /// The slots whose pending value differs from the committed one, ascending.
  final func changedSlots() -> [Int] {
    editedSlots.filter { slot in
      guard let edit = pending?.edit(slot) else { return false }
      let committed = committedValue(at: slot)
      return !edit.isStored(as: committed) && !entity.areEqual(edit, committed, at: slot)
    }
  }

  /// As `changedSlots()`, without transient properties.
  final func persistentChangedSlots() -> [Int] {
    let slots = changedSlots()
    guard !slots.isEmpty else { return slots }
    let transient = entity.compiled.transientSlots
    return transient.isEmpty ? slots : slots.filter { !transient.contains($0) }
  }

  /// Replaces temporary identifiers in unsaved values by their permanent ones.
  final func renameEdits(_ keys: KeyMap, in store: StoreIdentity) {
    guard let pending, pending.hasEdits else { return }
    for slot in editedSlots {
      guard case .object(let id) = pending.edit(slot), id.isTemporaryID, let key = keys[id.key] else {
        continue
      }
      pending.setEdit(slot, .object(ManagedObjectID(entity: id.entity, key: key, store: store)))
    }
  }

  /// Replaces temporary keys in the row, which is that of unsaved values of a parent, by their permanent ones.
  final func renameRow(_ keys: KeyMap) { replaceKeys { $1.isPermanentKey ? nil : keys[$1] } }

  /// Replaces keys of objects that are others now in the row.
  final func redirectRow(_ keys: UnitedObjects.NewKeys) {
    replaceKeys { keys[entity.relationship(at: Int($0.slot)).destinationEntity.rootEntity, $1] }
  }

  private final func replaceKeys(_ replacement: (Column, UInt64) -> UInt64?) {
    guard let row else { return }
    var renamed: [UInt8]?
    for column in entity.layout.columns where column.kind == .toOne && !row.isNull(column) {
      guard let key = replacement(column, row.key(column)) else { continue }
      if renamed == nil { renamed = Array(row.bytes) }
      renamed?.store(key, at: column.offset)
    }
    renamed?.withUnsafeBytes { replace(row: $0) }
  }

  /// Drops all pending values after a save but those of transient attributes, and frees their memory if it has nothing else.
  final func forgetEdits() {
    keepTransientEdits()
    if let pending, pending.relationships.isEmpty, !pending.hasTransients {
      dropPending()
    } else {
      pending?.dropEdits()
    }
    exposeRow()
  }

  /// Makes the pending values of transient attributes the committed ones.
  final func keepTransientEdits() {
    guard let pending, pending.hasEdits else { return }
    for slot in entity.compiled.transientSlots {
      guard let value = pending.edit(slot) else { continue }
      let isEmptyLink = value.isNull && entity.compiled.relationshipBySlot[slot] != nil
      pending.header.transients[slot] = isEmptyLink ? nil : value
    }
  }

  /// How often the object was edited.
  final var editCount: Int {
    get { pending?.editCount ?? 0 }
    set { makePendingValues().editCount = newValue }
  }

  /// The current values as a row.
  ///
  /// - Parameters:
  ///   - mapping: Returns the permanent keys of temporary ones, and other keys unchanged.
  ///   - external: By slot, where values are stored that are not in the row.
  final func encodedRow(
    version: UInt32, mapping: (UInt64) -> UInt64, external: [Int: ExternalReference] = [:]
  ) -> [UInt8] {
    willRead()
    let contents = entity.compiled
    let row = row
    var writer = RowWriter(contents.layout, version: version)
    for column in contents.layout.columns {
      let slot = Int(column.slot)
      if let reference = external[slot] {
        writer.write(reference, column)
      } else if let pending = pending?.edit(slot) {
        writer.write(pending.withKey(mapping), column)
      } else if let row {
        writer.copy(column, from: row)
      } else {
        writer.write(contents.initialValues[slot], column)
      }
    }
    return writer.row
  }

  final func makePendingValues() -> PendingValues {
    if let pending { return pending }
    let made = PendingValues.make(slotCount: entity.compiled.properties.count)
    pending = made
    return made
  }
}

extension Value {
  fileprivate func withKey(_ mapping: (UInt64) -> UInt64) -> Value {
    guard case .object(let id) = self else { return self }
    return .object(ManagedObjectID(entity: id.entity, key: mapping(id.key), store: id.store))
  }
}
