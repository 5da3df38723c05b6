import HeartwoodBytes

/// One object of the graph: an instance of an entity, backed by a row, at home in a context.
///
/// Subclass it and mark the properties to be kept with `@Attribute` and `@Relationship`, or use it as it
/// is and reach properties by name. A fetched object is a fault until it is touched; then its values come
/// straight from the bytes of its row. An object belongs to its context and to that context's queue; its
/// `objectID` may go anywhere.
///
/// - Invariant: `_row` is not nil only while every attribute can be read from it: the object is no fault
///   and has no pending values.
open class ManagedObject: Hashable {
  @usableFromInline @exclusivity(unchecked) final var _row: UnsafeRawPointer?
  /// By the offset of a wrapper in the instance.
  @usableFromInline final let _columns: UnsafePointer<_Column>
  /// The copied row. It stays while there are pending values, and while the object is still a fault that
  /// a fetch has given its row ahead.
  @exclusivity(unchecked) final var storedRow: StoredRow?
  /// Where the object stands in the context's list of changes that it is in.
  @exclusivity(unchecked) final var placeInChanges: UInt32 = 0
  /// What only touched objects have: pending values, relationships.
  @exclusivity(unchecked) final var pending: PendingValues?
  /// Frozen entities last as long as the process; contexts detach their objects before they go.
  private final let entityReference: Unmanaged<EntityDescription>
  @exclusivity(unchecked) final var contextReference: Unmanaged<ManagedObjectContext>?
  @exclusivity(unchecked) final var identifier: ManagedObjectID
  /// What the context has noted of the object.
  @exclusivity(unchecked) final var state: ObjectState = []
  @exclusivity(unchecked) final var isRealised = false
  @usableFromInline final let _isPrototype: Bool

  /// Makes an object of an entity, and puts it into a context as a new one.
  ///
  /// It is the one designated initialiser: fetched objects come through it too, with a nil context, and so
  /// do a few prototypes by which the class is learned. Override it only for what must be done for all
  /// of them; what new objects need belongs into `awakeFromInsert`.
  ///
  /// - Precondition: the entity is in a sound model, is not abstract, and its class is this one.
  public required init(entity: EntityDescription, insertInto context: ManagedObjectContext?) {
    entityReference = .passUnretained(entity)
    identifier = ManagedObjectID(entity: entity, key: .temporaryKeyMark, store: .none)
    _isPrototype = entity.knownFactory == nil && entity === PropertyRecorder.entity
    guard !_isPrototype else {
      _columns = AccessTable.empty
      return
    }
    let factory = entity.factory
    _columns = factory.columns
    checkClass(factory.objectClass)
    guard let context else { return }
    require(!entity.isAbstract, "\(entity.displayName) is abstract: make objects of a subentity")
    context.insert(self)
    awakeFromInsert()
  }

  /// Makes a new object of the class's entity in the context's model.
  ///
  /// - Precondition: exactly one entity of the model has this class.
  public convenience init(context: ManagedObjectContext) {
    self.init(entity: context.entity(of: Self.self), insertInto: context)
  }

  /// The entity that says which properties the object has.
  public final var entity: EntityDescription { entityReference._withUnsafeGuaranteedRef { $0 } }

  @inline(__always)
  final func isExactly(_ entity: EntityDescription) -> Bool {
    entityReference.toOpaque() == Unmanaged.passUnretained(entity).toOpaque()
  }

  /// The context that the object lives in; nil before insertion and after a saved delete.
  public final var managedObjectContext: ManagedObjectContext? { contextReference?.takeUnretainedValue() }

  /// The identifier; temporary until the object is first saved.
  public final var objectID: ManagedObjectID {
    if identifier.key == .temporaryKeyMark { identifier = .makeTemporary(entity) }
    return identifier
  }

  // MARK: Life

  /// Called once when the object is new in a context; the place for values that each new object needs.
  open func awakeFromInsert() {}
  /// Called each time when a fault has got its values from the store.
  open func awakeFromFetch() {}
  /// Called when the object is about to be deleted, while its relationships are still whole.
  open func prepareForDeletion() {}
  /// Called before a save that this object is part of. Change a property only if its value differs, as
  /// each change makes for another round.
  open func willSave() {}
  /// Called after a save that this object was part of.
  open func didSave() {}
  /// Called before the object drops its values.
  open func willTurnIntoFault() {}
  /// Called after the object has dropped its values.
  open func didTurnIntoFault() {}

  // MARK: Validation

  /// Checks one attribute's value at save; the place for rules that the model cannot express.
  ///
  /// - Parameters:
  ///   - value: of the type that `value(forKey:)` gives: the declared one, without its optional.
  ///   - key: the attribute's name.
  /// - Throws: any error; `HeartwoodError` is reported as it is, others as `.managedObjectValidation`.
  open func validateValue(_ value: Any?, forKey key: String) throws {}
  /// Checks a new object at save. Overriding methods call this one first.
  open func validateForInsert() throws { try validateProperties() }
  /// Checks a changed object at save. Overriding methods call this one first.
  open func validateForUpdate() throws { try validateProperties() }
  /// Checks an object that is to be deleted at save. Overriding methods call this one first.
  open func validateForDelete() throws { try validateDeleteRules() }

  // MARK: Names

  /// The names of the class's wrapped properties, those of a subclass before those of its superclass, each
  /// in the order of declaration. To be overridden only where a module is built without reflection
  /// metadata, in which the names would be found otherwise.
  open class var propertyNames: [String]? { nil }

  // MARK: Identity

  /// The same instance: one context has one instance for each row.
  public static func == (left: ManagedObject, right: ManagedObject) -> Bool { left === right }
  /// By identity.
  public final func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }

  private final func checkClass(_ objectClass: ManagedObject.Type) {
    require(
      type(of: self) == objectClass,
      "objects of \(entity.displayName) are \(objectClass), not \(type(of: self))")
  }
}

extension ManagedObject: CustomStringConvertible {
  /// Class, identifier and state; a fault stays one.
  public var description: String {
    let changes = isDeleted ? ", deleted" : isInserted ? ", inserted" : isUpdated ? ", updated" : ""
    return "\(type(of: self)) \(objectID)\(isFault ? ", fault" : "")\(changes)"
  }
}

/// What a context has noted of one of its objects.
struct ObjectState: OptionSet {
  let rawValue: UInt16

  static let inserted = ObjectState(rawValue: 1)
  static let updated = ObjectState(rawValue: 2)
  static let deleted = ObjectState(rawValue: 4)
  /// The row could not be read; the context has the error.
  static let unreadable = ObjectState(rawValue: 8)
  /// The row turned out to be gone.
  static let inaccessible = ObjectState(rawValue: 16)
  /// The row must still be the one that was read when the context is saved.
  static let watched = ObjectState(rawValue: 32)
}

extension ManagedObject {
  /// Whether the next save writes the object as a new row.
  public final var isInserted: Bool { state.contains(.inserted) && !state.contains(.deleted) }
  /// Whether the object was changed since it was fetched or saved.
  public final var isUpdated: Bool { state.contains(.updated) }
  /// Whether the next save deletes the object. False again after that save.
  public final var isDeleted: Bool { state.contains(.deleted) }
  /// Whether the object is inserted, updated or deleted. Setting a property to the value that it has counts.
  public final var hasChanges: Bool { !state.isDisjoint(with: [.inserted, .updated, .deleted]) }

  /// Whether the object's values have not been read yet. Looking at its identity leaves it a fault.
  public final var isFault: Bool { !isRealised && contextReference != nil }
  /// 0 for an object with values, else why it has none: 1 for a fault.
  public final var faultingState: Int { isFault ? 1 : 0 }
}
