import Foundation

/// Changes since pending changes were last processed.
extension ManagedObject {
  final func ownChangedValuesForCurrentEvent() -> [String: Any] {
    let use = beginUse("reading the changes of", nil)
    defer { use?.leave() }
    guard let context = managedObjectContext,
      let change = context.event.change(of: self)
        ?? context.reportedEvent?.change(of: self, isOver: true),
      !state.contains(.inserted) || change.before.contains(.inserted)
    else { return [:] }
    loadChangedRelationships()
    var former: [String: Any] = [:]
    for (slot, value) in valuesChanged(since: change) {
      former[entity.property(at: slot).name] = entity.reported(withOwnEntity(value), at: slot)
    }
    for slot in entity.slots {
      guard let keys = keysChanged(since: change, at: slot), let context = managedObjectContext else {
        continue
      }
      let relationship = entity.relationship(at: slot)
      former[relationship.name] = keys.map { context.identifier(relationship.destinationEntity, $0) }
    }
    return former
  }

  /// The attributes and to-one relationships that differ from their values before a change, with those values.
  final func valuesChanged(since change: ContextEvent.Change) -> [(slot: Int, before: Value)] {
    let former = Dictionary(uniqueKeysWithValues: change.values?.edits.map { ($0.slot, $0.value) } ?? [])
    let slots = Set(editedSlots).union(former.keys).sorted()
    return slots.compactMap { slot in
      let before = former[slot] ?? committedValue(at: slot)
      return before == value(at: slot) ? nil : (slot, before)
    }
  }

  /// The keys of a to-many relationship before a change; nil if they are the same now, or not loaded.
  final func keysChanged(since change: ContextEvent.Change, at slot: Int) -> [UInt64]? {
    guard let state = relationshipState(at: slot), let committed = state.committed else { return nil }
    let keys = keys(over: committed, at: slot, before: change)
    return keys == state.keys() ? nil : keys
  }

  /// The keys of a to-many relationship that are lost and gained since a change; nil if the relationship is not loaded, or if places of an
  /// ordered one may differ otherwise than at its end.
  ///
  /// - Complexity: Linear in the keys that the event has changed, if it has changed nothing else.
  final func keysLostAndGained(
    since change: ContextEvent.Change, at slot: Int
  ) -> (lost: [UInt64], gained: [UInt64])? {
    guard let state = relationshipState(at: slot), state.isLoaded else { return nil }
    let before = change.values?.relationships.first { $0.slot == slot }
    if let known = before.map({ $0.differences.change(to: state) }) ?? state.ownChange { return known }
    guard !state.isOrdered else { return nil }
    let (then, now) = (Set(keys(of: state, at: slot, before: change)), Set(state.keys()))
    return (then.subtracting(now).sorted(), now.subtracting(then).sorted())
  }

  /// All attributes and to-one relationships as they were before a change.
  final func values(before change: ContextEvent.Change) -> [(slot: Int, value: Value)] {
    let former = Dictionary(uniqueKeysWithValues: change.values?.edits.map { ($0.slot, $0.value) } ?? [])
    return entity.valueSlots.map { ($0, former[$0] ?? committedValue(at: $0)) }
  }

  /// The keys of a to-many relationship as they were before a change.
  ///
  /// - Parameter state: The relationship's state, loaded.
  final func keys(of state: RelationshipState, at slot: Int, before change: ContextEvent.Change) -> [UInt64] {
    keys(over: state.committed ?? [], at: slot, before: change)
  }

  private final func keys(over committed: [UInt64], at slot: Int, before change: ContextEvent.Change)
    -> [UInt64]
  {
    let before = change.values?.relationships.first { $0.slot == slot }
    return before?.differences.keys(over: committed) ?? committed
  }
}

extension EntityDescription {
  /// A value as the dictionaries of changed and committed values have it.
  func reported(_ value: Value, at slot: Int) -> Any {
    if case .object(let id) = value { return id }
    return anyValue(value, at: slot) ?? NSNull()
  }
}
