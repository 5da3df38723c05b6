/// Creates objects of an entity. It holds everything that this needs without reference counting, because objects are
/// created by the million.
@usableFromInline package struct ObjectFactory: Sendable {
  @usableFromInline let entityReference: UnownedReference<EntityDescription>
  /// The class of the objects; nil for one without declarations.
  package let givenClass: AnyClass?
  /// The columns of the properties, by the offset of their wrappers in an instance.
  package let columns: AccessTable
  @usableFromInline package let number: UInt16
  package let rootNumber: UInt16
  package let hasSubentities: Bool
  /// Whether accessors may read a row directly. They cannot tell a transient value that is nil from one that is the default.
  package let exposesRows: Bool

  /// - Parameter entity: A frozen entity, which lives as long as the process.
  init(
    _ entity: EntityDescription, _ columns: AccessTable, number: UInt16, rootNumber: UInt16,
    exposesRows: Bool
  ) {
    hasSubentities = entity.hasSubentities
    entityReference = UnownedReference(entity)
    givenClass = entity.givenClass
    self.columns = columns
    self.number = number
    self.rootNumber = rootNumber
    self.exposesRows = exposesRows
  }

  @inlinable @inline(__always)
  package func withEntity<Result>(_ body: (EntityDescription) -> Result) -> Result {
    entityReference.with(body)
  }

  @inlinable @inline(__always)
  package func identifier(_ key: UInt64, in store: StoreIdentity) -> ManagedObjectID {
    entityReference.with { ManagedObjectID(entity: $0, key: key, store: store) }
  }
}
