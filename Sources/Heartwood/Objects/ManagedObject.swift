import HeartwoodBytes

/// One object of the graph: an instance of an entity, backed by a row, registered with a context.
///
/// Subclass it and mark persistent properties with `@Attribute` and `@Relationship`, or use it directly and access
/// properties by name. A fetched object is a fault until its first use; after it, values are read directly from the
/// bytes of its row. An object may be used on its context's queue only; its `objectID` may be used anywhere.
open class ManagedObject: _ManagedObjectFields, Hashable, CustomStringConvertible {
  // The first member: see `ObjectMaking`.
  /// Creates an object of an entity, and inserts it into a context if there is one.
  ///
  /// This is the only designated initialiser. Fetched objects are also created with it, with a nil context, and so are a few prototypes from which
  /// the class's declarations are read. Override it only for work that all of them need; set the values of new objects in `awakeFromInsert`.
  ///
  /// - Precondition: The entity is in a valid model and has this class. The class inherits this initialiser or overrides it.
  public init(entity: EntityDescription, insertInto context: ManagedObjectContext?) {
    super.init(entity)
    guard !_isPrototype else { return }
    checkClass(entity.factory.objectClass)
    context?.insert(self)
  }

  /// Creates a new object of the class's entity in the context's model.
  ///
  /// - Precondition: Exactly one entity of the model has this class.
  public required convenience init(context: ManagedObjectContext) {
    let entity = context.entity(of: Self.self)
    // Its own wrappers, which are initialised now, evaluate them.
    let span =
      entity.compiled.hasChangingDefaults ? PropertyRecorder(round: 0, RecordedDefaults(entity)).begin() : nil
    self.init(entity: entity, insertInto: context)
    span.map(PropertyRecorder.end)
  }

  /// The entity, which defines the object's properties.
  public final var entity: EntityDescription { entityReference.with { $0 } }

  /// Whether the object is of the entity itself. Counts no reference.
  @inline(__always)
  package final func isExactly(_ entity: EntityDescription) -> Bool {
    entityReference == UnownedReference(entity)
  }

  /// Whether the context is the object's. Counts no reference.
  package final func belongs(to context: ManagedObjectContext) -> Bool {
    contextReference.map { $0 == UnownedReference(context) } ?? false
  }

  /// The context of the object; nil before insertion and after a saved delete.
  public final var managedObjectContext: ManagedObjectContext? { contextReference?.object }

  /// The identifier; temporary until the object is saved or has obtained a permanent one.
  public final var objectID: ManagedObjectID {
    if identifier.isTemporaryID {
      if standing !== self { return standing.objectID }
      if identifier.key == .temporaryKeyMark { identifier = .makeTemporary(entity) }
      managedObjectContext?.takeAssignedIdentifiers()
    }
    return identifier
  }

  /// Class, identifier, state and values. Does not fire a fault, and does not load a relationship.
  open var description: String { descriptionText }

  // MARK: Values by name

  /// The value of a property. An attribute has the type that the class declares, without its optional (`Int`, an enum),
  /// or the attribute type's own (`Int64`, `String`, `Date`…) if no class declares it. A to-one relationship is a
  /// `ManagedObject`, a to-many one a `Set<ManagedObject>`, or an array if it is ordered, a fetched property an array.
  ///
  /// - Precondition: The entity has such a property.
  open func value(forKey key: String) -> Any? { namedValue(key) }

  /// Sets a property to a value of the types of `value(forKey:)`. An integer attribute also accepts any integer in range, a floating-point or
  /// decimal attribute any number, an attribute declared with an enum its raw value, a to-many relationship a set or an array of objects.
  ///
  /// - Precondition: The entity has such a property, and the value fits. `assign` throws instead.
  open func setValue(_ value: Any?, forKey key: String) { setNamedValue(value, key) }

  /// The value of a property as it is in memory, in the types of `value(forKey:)`. Does not fire a fault, load a to-many
  /// relationship, or inform observers: nil for what is not loaded. `willAccessValue(forKey:)` loads it.
  ///
  /// - Precondition: The entity has such a property.
  open func primitiveValue(forKey key: String) -> Any? { namedPrimitiveValue(key) }

  /// Sets the value of a property as it is in memory: without marking the object as changed, informing observers, registering
  /// for undo, or updating an inverse.
  ///
  /// A save does not write it unless the object is changed otherwise, and a rollback drops it only then. `willChangeValue` and
  /// `didChangeValue` around it make it a change.
  ///
  /// - Parameters:
  ///   - value: A value of the types of `value(forKey:)`.
  ///   - key: The name of a property.
  /// - Precondition: The entity has such a property, and the value fits.
  open func setPrimitiveValue(_ value: Any?, forKey key: String) { setNamedPrimitiveValue(value, key) }

  /// Begins reading a property in a custom accessor: fires a fault, loads a to-many relationship, and informs observers.
  ///
  /// - Parameter key: The property's name; nil only fires the fault.
  /// - Precondition: The entity has such a property.
  open func willAccessValue(forKey key: String?) { beginAccess(key) }

  /// Ends reading a property in a custom accessor.
  ///
  /// - Parameter key: As of `willAccessValue(forKey:)`.
  open func didAccessValue(forKey key: String?) {}

  /// Begins changing a property in a custom accessor: the object becomes an updated one. Call `didChangeValue(forKey:)` after it.
  ///
  /// - Parameter key: The property's name.
  /// - Precondition: The entity has such a property.
  open func willChangeValue(forKey key: String) { beginChange(key) }

  /// Ends changing a property in a custom accessor: updates the inverse of a relationship, and informs observers.
  ///
  /// - Parameter key: The name that was given to `willChangeValue(forKey:)`.
  /// - Precondition: `willChangeValue(forKey:)` was called for the property.
  open func didChangeValue(forKey key: String) { endChange(key) }

  // MARK: Changes

  /// The values that differ from those last fetched or saved, by property name, in the types of `value(forKey:)`,
  /// `NSNull` for nil. Loads the to-many relationships that have changed.
  open func changedValues() -> [String: Any] { ownChangedValues() }

  /// The properties that were changed since pending changes were last processed, by name, with their values before: an attribute's in the type of
  /// `value(forKey:)`, identifiers of destinations, `NSNull` for nil. Empty for an object that was inserted since. Observers of the notification
  /// of changed objects get those of which it is.
  ///
  /// Loads the to-many relationships that have changed.
  open func changedValuesForCurrentEvent() -> [String: Any] { ownChangedValuesForCurrentEvent() }

  /// Values as last fetched or saved, by name, `NSNull` for nil, identifiers for destinations; empty for a new object.
  ///
  /// - Parameter keys: The properties; nil for all but the to-many relationships that are not loaded.
  open func committedValues(forKeys keys: [String]?) -> [String: Any] { ownCommittedValues(keys) }

  // MARK: Lifecycle

  /// Called once when the object is inserted into a context. Override it to set initial values.
  open func awakeFromInsert() {}
  /// Called each time a fault has loaded its values from the store. A property that is set here does not mark the object
  /// as changed. Do not set relationships here.
  open func awakeFromFetch() {}
  /// Called after the object's values were replaced as a whole: by undo and redo, a rollback, a refresh, a merge policy.
  /// Override it to rebuild what was derived from the values.
  open func awake(fromSnapshotEvents flags: SnapshotEventType) {}
  /// Called when the object is about to be deleted, before delete rules change its relationships.
  open func prepareForDeletion() {}
  /// Called before a save of this object. Set a property only if its value differs, because each change causes another round of calls.
  open func willSave() {}
  /// Called after a save of this object.
  open func didSave() {}
  /// Called before the object drops its values.
  open func willTurnIntoFault() {}
  /// Called after the object has dropped its values.
  open func didTurnIntoFault() {}

  // MARK: Validation

  /// Validates one attribute's value, or a relationship that was changed, at a save, after the rules of the model. Override it
  /// for rules that the model cannot express. `validate(_:forKey:)` checks a value by both.
  ///
  /// - Parameters:
  ///   - value: The value, in the type of `value(forKey:)`: the declared one, without its optional. Another value that is assigned to it becomes
  ///     the property's, after the model's rules have accepted it; assign only what this method accepts itself.
  ///   - key: The property's name.
  /// - Throws: Any error; `HeartwoodError` is reported unchanged, others as `.managedObjectValidation`.
  open func validateValue(_ value: inout Any?, forKey key: String) throws {}
  /// Validates a new object at a save. Overrides call this method first.
  open func validateForInsert() throws { try validateProperties() }
  /// Validates a changed object at a save. Overrides call this method first.
  open func validateForUpdate() throws { try validateProperties() }
  /// Validates a deleted object at a save. Overrides call this method first.
  open func validateForDelete() throws { try validateDeleteRules() }

  // MARK: Names

  /// The entity of this class, in the model that was frozen last.
  ///
  /// - Precondition: A frozen model has exactly one entity with this class.
  open class func entity() -> EntityDescription {
    guard let entity = FrozenModels.entities(of: self).last else {
      programError(
        "\(self) is no entity of a model that is in use: make a container or a coordinator first")
    }
    return entity
  }

  /// The names of the class's wrapped properties: those of a subclass before those of its superclass, each in declaration order. Override it only
  /// in a module that is built without reflection metadata, from which the names are read otherwise.
  open class var propertyNames: [String]? { nil }

  /// The name of the class in the former version of the model, if it is another: a migration keeps its objects. As
  /// `renamed` of `@Attribute` and `@Relationship`, it may stay in later versions. A subclass does not inherit it.
  open class var renamed: String? { nil }

  /// Whether the class declares properties by wrappers. Without, no prototypes of it are made.
  open class var _declaresProperties: Bool { true }

  /// The names of attributes and relationships to one object whose values together must be unique, for each constraint of several, such as
  /// `[["project", "number"]]`, or of one relationship. One attribute alone is `@Attribute(.unique)`.
  open class var uniquenessConstraints: [[String]] { [] }
  /// The names of the properties of each index of several properties, the most significant first. One alone is
  /// `@Attribute(.indexed)`. An expression of attributes, such as `lowercase:(name)`, can be in place of a name.
  open class var compoundIndexes: [[String]] { [] }
  /// The names of the two attributes of each index of ranges, such as `[["latitude", "longitude"]]`: it serves conditions that restrict both to a
  /// range.
  open class var rangeIndexes: [[String]] { [] }
  /// The indexes that have only some objects, by their names in the entity: see `FetchIndexDescription.partialIndexPredicate`.
  open class var partialIndexes: [PartialIndex] { [] }

  /// The fetched properties that the class adds to those of its superclass; each call makes new ones.
  open class var fetchedProperties: [FetchedPropertyDescription] { [] }

  // MARK: Identity

  /// Whether both are the same instance: a context has one instance for each row.
  public static func == (left: ManagedObject, right: ManagedObject) -> Bool { left === right }
  /// Hashes the instance's identity.
  public final func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }

  private final func checkClass(_ objectClass: ManagedObject.Type) {
    require(
      type(of: self) == objectClass,
      "objects of \(entity.displayName) are \(objectClass), not \(type(of: self))")
  }
}

/// A context's flags of one of its objects.
struct ObjectState: OptionSet {
  let rawValue: UInt16

  static let inserted = ObjectState(rawValue: 1)
  static let updated = ObjectState(rawValue: 2)
  static let deleted = ObjectState(rawValue: 4)
  /// The row could not be read; the context has the error.
  static let unreadable = ObjectState(rawValue: 8)
  /// The row was found to be deleted.
  static let inaccessible = ObjectState(rawValue: 16)
  /// A save must check that the row has not changed since it was read.
  static let watched = ObjectState(rawValue: 32)
  /// The states in which the context keeps an object until a save.
  static let kept: ObjectState = [.inserted, .updated, .deleted, .watched]
  /// The context's current event has noted the object.
  static let noted = ObjectState(rawValue: 64)
  /// `prepareForDeletion` is running.
  static let preparingForDeletion = ObjectState(rawValue: 128)
  /// The object is deleted here, and others have changed it since. Merges pass over it, so that the save meets the conflict.
  static let changedWhileDeleted = ObjectState(rawValue: 256)
  /// Others have deleted the object, and it was not deleted here.
  static let deletedElsewhere = ObjectState(rawValue: 512)
  /// The context was reset, and has forgotten the object and its values.
  static let leftAsFault = ObjectState(rawValue: 1024)
  /// The object is inaccessible, as the view that was read had no row of it. A later view may have one.
  static let withoutRow = ObjectState(rawValue: 2048)
  /// The states that end when a delete is taken back.
  static let ofDeletes: ObjectState = [
    .deleted, .inaccessible, .changedWhileDeleted, .deletedElsewhere, .withoutRow,
  ]
}

extension ManagedObject {
  /// Whether the next save writes the object as a new row.
  public final var isInserted: Bool { state.contains(.inserted) && !state.contains(.deleted) }
  /// Whether the object was changed since it was fetched or saved.
  public final var isUpdated: Bool { state.contains(.updated) }
  /// Whether the next save deletes the object. False again after that save.
  public final var isDeleted: Bool { state.contains(.deleted) }
  /// Whether the object is inserted, updated or deleted. Setting a property to the value that it already has counts as a change.
  public final var hasChanges: Bool { !state.isDisjoint(with: [.inserted, .updated, .deleted]) }

  /// Whether the object has values or relationship differences that are not saved.
  final var hasUnsavedValues: Bool { pending?.hasEdits == true || hasRelationshipChanges }

  /// Whether the object's values have not been loaded yet. Reading its identifier does not fire the fault.
  public final var isFault: Bool { !isRealised && (contextReference != nil || state.contains(.leftAsFault)) }
  /// 1 for a fault, 0 for an object with values.
  public final var faultingState: Int { isFault ? 1 : 0 }
}
