import HeartwoodBytes

/// Custom accessors: raw values, and the calls around reading and changing them.
///
/// ```swift
/// var title: String {
///   get {
///     willAccessValue(forKey: "title")
///     defer { didAccessValue(forKey: "title") }
///     return primitiveValue(forKey: "title") as? String ?? ""
///   }
///   set {
///     willChangeValue(forKey: "title")
///     setPrimitiveValue(newValue, forKey: "title")
///     didChangeValue(forKey: "title")
///   }
/// }
/// ```
extension ManagedObject {
  final func namedPrimitiveValue(_ key: String) -> Any? {
    let slot = knownSlot(key)
    let use = beginUse("reading", slot)
    defer { use?.leave() }
    if let relationship = entity.compiled.relationshipBySlot[slot], relationship.isToMany {
      guard relationshipState(at: slot)?.isLoaded == true else { return nil }
      let objects = destinations(at: slot)
      return relationship.isOrdered ? objects : Set(objects)
    }
    guard isRealised || pending?.edit(slot) != nil else { return nil }
    guard entity.attribute(at: slot) == nil else { return primitiveValue(at: slot) }
    return destination(at: slot)
  }

  final func setNamedPrimitiveValue(_ value: Any?, _ key: String) {
    let slot = knownSlot(key)
    let use = beginUse("setting", slot)
    defer { use?.leave() }
    willRead()
    do {
      if let relationship = entity.compiled.relationshipBySlot[slot] {
        let objects = try relationship.fittingObjects(value, for: self)
        guard let context = managedObjectContext else { return try assign(value, forKey: key) }
        for object in objects where object.managedObjectContext == nil { context.insert(object) }
        setPrimitive(objects, relationship)
      } else {
        let columns = columnsWithPresence(try entity.columnValues(ofAny: value, at: slot))
        for (slot, value) in columns { makePendingValues().setEdit(slot, value) }
        _row = nil
      }
      managedObjectContext?.forgetShownChanges()
    } catch {
      programError(error.message)
    }
  }

  private final func setPrimitive(_ objects: [ManagedObject], _ relationship: RelationshipDescription) {
    guard relationship.isToMany else {
      makePendingValues().setEdit(relationship.slot, objects.first.map { .object($0.identifier) } ?? .null)
      _row = nil
      return
    }
    guard let state = managedObjectContext?.loadedState(self, relationship.slot) else { return }
    state.replace(with: objects.map(\.identifier.key))
    state.noteSetting()
    if self.state.contains(.inserted) { for object in objects { state.noteSetting(object.identifier.key) } }
  }

  final func beginAccess(_ key: String?) {
    let slot = key.map(knownSlot)
    let use = beginUse("reading", slot)
    defer { use?.leave() }
    willRead()
    guard let slot else { return }
    noteAccess(slot)
    if entity.compiled.relationshipBySlot[slot]?.isToMany == true {
      _ = managedObjectContext?.loadedState(self, slot)
    }
  }

  final func beginChange(_ key: String) {
    let slot = knownSlot(key)
    let use = beginUse("setting", slot)
    defer { use?.leave() }
    willEdit()
    let destinations = entity.compiled.relationshipBySlot[slot].map { keys(of: $0) } ?? []
    makePendingValues().header.changing.append(ChangingValue(slot: slot, destinations: destinations))
    willChangeObserved(slot)
  }

  final func endChange(_ key: String) {
    let slot = knownSlot(key)
    let use = beginUse("setting", slot)
    defer { use?.leave() }
    guard let index = pending?.header.changing.lastIndex(where: { $0.slot == slot }) else {
      programError("didChangeValue(forKey: \"\(key)\") without willChangeValue before it")
    }
    let former = makePendingValues().header.changing.remove(at: index)
    if let relationship = entity.compiled.relationshipBySlot[slot], let managedObjectContext {
      updateInverses(in: managedObjectContext, relationship, former.destinations, keys(of: relationship))
    }
    didChangeObserved(slot)
  }

  /// How a to-many relationship is about to change. The raw values are Foundation's.
  public enum SetMutationKind: UInt, Sendable {
    /// Objects are added.
    case union = 1
    /// Objects are removed.
    case minus
    /// All other objects are removed.
    case intersect
    /// All objects are replaced.
    case set
  }

  /// Begins changing a to-many relationship in a custom accessor.
  ///
  /// - Parameters:
  ///   - key: The relationship's name.
  ///   - mutationKind: The kind of change. Unlike Core Data, the differences are found by themselves.
  ///   - objects: The objects that it is about.
  /// - Precondition: The entity has such a relationship.
  @_disfavoredOverload
  public final func willChangeValue(
    forKey key: String, withSetMutation mutationKind: SetMutationKind, using objects: Set<ManagedObject>
  ) { willChangeValue(forKey: key) }

  /// Ends changing a to-many relationship in a custom accessor.
  ///
  /// - Parameters:
  ///   - key: The relationship's name.
  ///   - mutationKind: The kind of change. Unlike Core Data, the differences are found by themselves.
  ///   - objects: The objects that it is about.
  /// - Precondition: `willChangeValue` was called for the relationship.
  @_disfavoredOverload
  public final func didChangeValue(
    forKey key: String, withSetMutation mutationKind: SetMutationKind, using objects: Set<ManagedObject>
  ) { didChangeValue(forKey: key) }

  private final func keys(of relationship: RelationshipDescription) -> [UInt64] {
    guard relationship.isToMany else {
      guard case .object(let id) = value(at: relationship.slot) else { return [] }
      return [id.key]
    }
    return managedObjectContext?.relatedKeys(self, relationship.slot) ?? []
  }
}

/// A property between `willChangeValue(forKey:)` and `didChangeValue(forKey:)`.
struct ChangingValue {
  let slot: Int
  /// The keys of a relationship's destinations before the change.
  let destinations: [UInt64]
}

extension ManagedObject {
  /// Updates the inverse of a relationship whose own side was changed.
  private final func updateInverses(
    in context: ManagedObjectContext, _ relationship: RelationshipDescription, _ former: [UInt64],
    _ present: [UInt64]
  ) {
    let (before, after) = (Set(former), Set(present))
    for key in former where !after.contains(key) {
      context.dropInverse(of: relationship, at: context.object(relationship.destinationEntity, key), of: self)
    }
    for key in present where !before.contains(key) {
      context.addInverse(of: relationship, at: context.object(relationship.destinationEntity, key), of: self)
    }
  }
}
