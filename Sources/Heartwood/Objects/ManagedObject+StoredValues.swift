/// Values in their stored form, for modules of this package that have classes of their own over objects.
extension ManagedObject {
  /// The stored form of an attribute's value; nil if the entity has no such attribute.
  ///
  /// - Parameters:
  ///   - key: The name of the attribute.
  ///   - name: Its hash.
  package final func storedValue(_ key: String, _ name: UInt64) -> _Value? { _storedValue(key, name) }

  /// Sets an attribute to a stored form: of a composite one, a list of its elements in the order of their names.
  ///
  /// - Returns: Whether the entity has an attribute of this name.
  package final func setStoredValue(_ value: _Value, _ key: String, _ name: UInt64) -> Bool {
    guard let slot = slot(named: key, name), entity.attribute(at: slot) != nil else { return false }
    let use = beginUse("setting", slot)
    defer { use?.leave() }
    willEdit()
    setWhole(slot, value)
    return true
  }

  /// Sets attributes of an object that was just made, which nothing observes: takes less time than to set each by itself.
  ///
  /// - Parameter fill: Calls its argument with the stored form of each attribute's value, its name and the name's hash. What the entity does not
  ///   have is left out.
  package final func setInitialValues(_ fill: (_ set: (_Value, String, UInt64) -> Void) -> Void) {
    let use = beginUse("setting", nil)
    defer { use?.leave() }
    willEdit()
    let pending = makePendingValues()
    let entity = entity
    fill { value, key, name in
      // Most are values that rows have as they are, which need no look at the model.
      if let found = _columns.column(named: name), found.isValue {
        return pending.setEdit(Int(found.column.slot), value)
      }
      guard let slot = slot(named: key, name), entity.attribute(at: slot) != nil else { return }
      if entity.layout.columns[slot].kind == .composite {
        setWhole(slot, value)
      } else {
        pending.setEdit(slot, value)
      }
    }
    _row = nil
  }

  /// The destination of a to-one relationship, set to an object of the same context or nil.
  package final func setStoredDestination(_ destination: ManagedObject?, at slot: Int) {
    setDestination(destination, at: slot)
  }

  /// The destinations of a to-many relationship, set to objects of the same context.
  package final func setStoredDestinations(_ destinations: [ManagedObject], at slot: Int) {
    setDestinations(destinations, at: slot)
  }

  /// Changes destinations of a to-many relationship without an order. Unsaved ones are the last, in the order of their addition.
  ///
  /// - Returns: Whether those that were added are unsaved ones now. One that is put back is where it was before.
  package final func changeStoredDestinations(
    at slot: Int, removing removed: [ManagedObject], adding added: [ManagedObject]
  ) -> Bool {
    changeDestinations(at: slot, removing: removed, adding: added)
    let unsaved = relationshipState(at: slot)?.added
    return added.allSatisfy { unsaved?.contains($0.identifier.key) == true }
  }
}

extension AttributeDescription {
  /// Sets the default value in its stored form.
  package final func setDefault(_ stored: _Value) { defaultStoredValue = stored }
}

extension _Value {
  /// A value that a save refuses: it has no stored form.
  ///
  /// - Parameter reason: Why it has none.
  package static func refused(_ reason: String) -> _Value {
    .opaque(_OpaqueValue(RefusedValue(), refusal: reason))
  }

  /// Why a save refuses the value; nil for one that has a stored form.
  package var refusal: String? {
    if case .opaque(let held) = self { return held.refusal }
    return nil
  }
}

/// Stands for a value that has no stored form.
private struct RefusedValue: Sendable {}
