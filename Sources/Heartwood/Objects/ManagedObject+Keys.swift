import Foundation
import HeartwoodBytes

/// Properties by name, for models that exist only at run time.
extension ManagedObject {
  final func namedValue(_ key: String) -> Any? {
    guard let slot = entity.slot(named: key) else { return fetchedValue(forKey: key) }
    // A row is exposed only where no use is checked or observed, as for typed accessors.
    if let row = _row, let value = entity.compiled.namedReaders.value(row, at: slot) { return value }
    let use = beginUse("reading", slot)
    defer { use?.leave() }
    noteAccess(slot)
    guard let relationship = entity.compiled.relationshipBySlot[slot] else {
      return primitiveValue(at: slot)
    }
    guard relationship.isToMany else { return destination(at: slot) }
    let objects = destinations(at: slot)
    return relationship.isOrdered ? objects : Set(objects)
  }

  final func setNamedValue(_ value: Any?, _ key: String) {
    do {
      try assign(value, forKey: key)
    } catch {
      programError(error.message)
    }
  }

  /// Sets a property like `setValue(_:forKey:)`, for names and values from outside the program.
  ///
  /// - Throws: `.managedObjectValidation` with the property's name if there is no such property or the value does not fit; then nothing is changed.
  @_disfavoredOverload
  public final func assign(_ value: Any?, forKey key: String) throws(HeartwoodError) {
    guard let slot = entity.slot(named: key) else { throw .unknownProperty(key, entity) }
    let use = beginUse("setting", slot)
    defer { use?.leave() }
    guard let relationship = entity.compiled.relationshipBySlot[slot] else {
      let columns = try entity.columnValues(ofAny: value, at: slot)
      willEdit()
      return setColumns(columns)
    }
    let objects = try relationship.fittingObjects(value, for: self)
    if relationship.isToMany {
      setDestinations(objects, at: slot)
    } else {
      setDestination(objects.first, at: slot)
    }
  }

  /// Whether the destinations of a to-many relationship have not been loaded yet. For a to-one relationship, whether the object is a fault.
  ///
  /// - Precondition: The entity has such a relationship.
  public final func hasFault(forRelationshipNamed key: String) -> Bool {
    let relationship = entity.relationship(at: knownSlot(key))
    let use = beginUse("inspecting", relationship.slot)
    defer { use?.leave() }
    guard relationship.isToMany else { return isFault }
    return relationshipState(at: relationship.slot)?.isLoaded != true
  }

  /// The identifiers of a relationship's destinations, without creating objects.
  ///
  /// - Precondition: The entity has such a relationship.
  public final func objectIDs(forRelationshipNamed key: String) -> [ManagedObjectID] {
    objectIDs(forRelationshipAt: knownSlot(key))
  }

  final func primitiveValue(at slot: Int) -> Any? { entity.anyWhole(at: slot) { value(at: $0) } }

  /// - Precondition: The entity has such a property.
  final func knownSlot(_ key: String) -> Int {
    guard let slot = entity.slot(named: key) else {
      programError(HeartwoodError.unknownProperty(key, entity).message)
    }
    return slot
  }

  final func ownChangedValues() -> [String: Any] {
    let use = beginUse("reading the changes of", nil)
    defer { use?.leave() }
    var changed: [String: Any] = [:]
    for slot in changedSlots() {
      // A changed element is a change of the whole composite attribute.
      let whole = entity.isElement(slot) ? entity.compositeSlots(around: slot).first ?? slot : slot
      changed[entity.property(at: whole).name] = presentValue(at: whole)
    }
    loadChangedRelationships()
    for slot in changedToManySlots {
      changed[entity.property(at: slot).name] = presentValue(at: slot)
    }
    return changed
  }

  /// Loads the to-many relationships that have changed: before that, their members before and now are not known.
  final func loadChangedRelationships() {
    guard let context = managedObjectContext else { return }
    for slot in changedToManySlots { _ = context.loadedState(self, slot) }
  }

  final func ownCommittedValues(_ keys: [String]?) -> [String: Any] {
    let use = beginUse("reading", nil)
    defer { use?.leave() }
    guard !state.contains(.inserted) else { return [:] }
    let wanted = keys.map(Set.init)
    var values = snapshot { withOwnEntity(committedValue(at: $0)) }.filter {
      wanted?.contains($0.key) ?? true
    }
    for relationship in entity.relationshipsBySlot where relationship.isToMany {
      guard wanted?.contains(relationship.name) ?? isLoaded(relationship), let context = managedObjectContext
      else {
        continue
      }
      values[relationship.name] = (context.loadedState(self, relationship.slot).committed ?? []).map {
        context.identifier(relationship.destinationEntity, $0)
      }
    }
    return values
  }

  private final func isLoaded(_ relationship: RelationshipDescription) -> Bool {
    relationshipState(at: relationship.slot)?.isLoaded == true
  }

  /// Whether a save would write anything for this object. Transient properties do not count, and no relationship is loaded.
  public final var hasPersistentChangedValues: Bool {
    let use = beginUse("reading the changes of", nil)
    defer { use?.leave() }
    return isInserted || !persistentChangedSlots().isEmpty || hasStoredRelationshipChanges
  }

  /// The values on which the unsaved ones were made, without to-many relationships; nil if the object has no row.
  final func committedSnapshot() -> [String: Any]? {
    guard hasRow else { return nil }
    return snapshot { slot in
      let base = (conflictBase ?? storedRow)?.view
      return base?.external(entity.layout.columns[slot]) == nil ? withOwnEntity(baseValue(at: slot)) : nil
    }
  }

  private final func presentValue(at slot: Int) -> Any {
    value(forKey: entity.property(at: slot).name) ?? NSNull()
  }

  private final func snapshot(_ value: (Int) -> Value?) -> [String: Any] { entity.snapshot(value) }
}

extension EntityDescription {
  /// A row's values by property name, `NSNull` for nil, without to-many relationships; nil if the bytes are not a row of this entity.
  ///
  /// - Parameter context: A context of the row's store.
  func snapshot(ofRow bytes: UnsafeRawBufferPointer, in context: ManagedObjectContext?) -> [String: Any]? {
    let layout = layout
    guard let row = try? RowView(validating: bytes, layout: layout) else { return nil }
    return snapshot { slot in
      let column = layout.columns[slot]
      guard row.external(column) == nil else { return nil }
      let value = row.value(column, layout: layout, store: .none)
      guard let context, case .object(let id) = value else { return value }
      return .object(context.identifier(id.entity, id.key))
    }
  }

  fileprivate func snapshot(_ value: (Int) -> Value?) -> [String: Any] {
    var snapshot: [String: Any] = [:]
    for slot in slots where compiled.relationshipBySlot[slot]?.isToMany != true && !isElement(slot) {
      guard let stored = value(slot) else { continue }
      if case .object(let id) = stored {
        snapshot[property(at: slot).name] = id
      } else {
        snapshot[property(at: slot).name] = anyWhole(at: slot) { value($0) ?? .null } ?? NSNull()
      }
    }
    return snapshot
  }
}

extension RelationshipDescription {
  /// The objects in a value set by name.
  ///
  /// - Throws: `.managedObjectValidation` if the value is not of a fitting type, or its objects have another entity or context.
  func fittingObjects(
    _ value: Any?, for owner: ManagedObject
  ) throws(HeartwoodError) -> [ManagedObject] {
    let objects = try objects(in: value).map(\.standing)
    let context = owner.managedObjectContext ?? objects.lazy.compactMap(\.managedObjectContext).first
    guard owner.managedObjectContext != nil || owner.isUnattached else {
      throw unfitting("the object was deleted, and has no context: insert it first")
    }
    for object in objects {
      guard object.entity.isKindOf(entity: destinationEntity) else {
        throw unfitting(
          object.entity.displayName == destinationEntity.displayName
            ? "\(object.objectID) is of another model, whose \(object.entity.displayName) is not this one's"
            : "\(object.entity.displayName) is not \(destinationEntity.displayName)")
      }
      guard object.managedObjectContext === context || object.isUnattached else {
        throw unfitting("the objects on both sides must be in one context")
      }
    }
    return objects
  }

  private func objects(in value: Any?) throws(HeartwoodError) -> [ManagedObject] {
    if isToMany, let value, let objects = Self.usualObjects(in: value) { return objects }
    switch value {
    case nil, is NSNull: return []
    case let object as ManagedObject:
      guard !isToMany else { throw unfitting("a set or an array of objects is needed") }
      return [object]
    case let objects as [ManagedObject] where isToMany: return objects
    case let objects as Set<ManagedObject> where isToMany:
      return Self.sorted(objects)
    default:
      throw unfitting(
        "\(value.map { "\(type(of: $0))" } ?? "nil") is no \(isToMany ? "set of objects" : "object")")
    }
  }

  /// The objects of an array or a set of the base class. Types are compared before anything is cast: a cast of a Swift set that
  /// fails makes one of Foundation's sets first.
  private static func usualObjects(in value: Any) -> [ManagedObject]? {
    let type = Swift.type(of: value)
    if type == [ManagedObject].self { return value as? [ManagedObject] }
    if type == Set<ManagedObject>.self { return (value as? Set<ManagedObject>).map(sorted) }
    return nil
  }

  private static func sorted(_ objects: Set<ManagedObject>) -> [ManagedObject] {
    objects.sorted { $0.identifier.key < $1.identifier.key }
  }

  private func unfitting(_ reason: String) -> HeartwoodError {
    HeartwoodError(.managedObjectValidation, "\(displayName) cannot be set: \(reason)", property: name)
  }
}

/// Members of managed objects that their classes can declare again, such as a subscript of their own.
public protocol _RedeclarableMembers: AnyObject {}
extension ManagedObject: _RedeclarableMembers {}

extension _RedeclarableMembers where Self: ManagedObject {
  /// A property by name, as `value(forKey:)` and `setValue(_:forKey:)`.
  ///
  /// - Precondition: The entity has such a property, and the value fits.
  public subscript(key: String) -> Any? {
    get { value(forKey: key) }
    set { setValue(newValue, forKey: key) }
  }
}
