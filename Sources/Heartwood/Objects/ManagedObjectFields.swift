import HeartwoodBytes

/// The stored properties of an object. All are here, so that classes of objects begin alike: see `ObjectMaking`.
///
/// - Invariant: `_row` is not nil only while every attribute can be read from it: the object is realised and has no
///   pending values.
open class _ManagedObjectFields {
  @usableFromInline @exclusivity(unchecked) final var _row: _RowFields?
  /// The columns by the offset of a wrapper in the instance.
  @usableFromInline final let _columns: _AccessTable
  /// The copied row. It is kept while there are pending values, and in a fault whose row a fetch has already copied.
  @exclusivity(unchecked) final var storedRow: StoredRow?
  /// The object's index in the context's list of changes that contains it.
  @exclusivity(unchecked) final var placeInChanges: UInt32 = 0
  /// Of the generation whose row was loaded with another fault's, with `prefetchMark`; otherwise the number of the batch with which the
  /// row will be loaded, or 0.
  @exclusivity(unchecked) final var prefetchStamp: UInt32 = 0
  /// Pending values and relationship states; nil for an object without either.
  @exclusivity(unchecked) final var pending: PendingValues?
  /// Unretained: frozen entities live as long as the process, and a context detaches its objects in its deinit.
  final let entityReference: UnownedReference<EntityDescription>
  @exclusivity(unchecked) final var contextReference: UnownedReference<ManagedObjectContext>?
  @exclusivity(unchecked) final var identifier: ManagedObjectID
  /// The context's flags of the object.
  @exclusivity(unchecked) final var state: ObjectState = []
  @exclusivity(unchecked) final var isRealised = false
  @usableFromInline final let _isPrototype: Bool

  /// Fields of an object of an entity.
  public init(_ entity: EntityDescription) {
    entityReference = UnownedReference(entity)
    identifier = ManagedObjectID(entity: entity, key: .temporaryKeyMark, store: .none)
    _isPrototype = !entity.isInUse && entity === PropertyRecorder.entity
    _columns = _isPrototype ? .empty : entity.factory.columns
  }
}
