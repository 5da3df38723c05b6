/// What it takes to make an object of an entity, ready at hand and without references to be counted: objects
/// are made by the million.
struct ObjectFactory: @unchecked Sendable {
  private let entityReference: Unmanaged<EntityDescription>
  let objectClass: ManagedObject.Type
  /// The columns of the properties, by where their wrappers are in an instance.
  let columns: UnsafePointer<Column>
  let number: UInt16
  let rootNumber: UInt16
  let hasSubentities: Bool

  /// - Parameter entity: frozen entities last as long as the process.
  init(
    _ entity: EntityDescription, _ objectClass: ManagedObject.Type, _ columns: UnsafePointer<Column>,
    number: UInt16, rootNumber: UInt16
  ) {
    hasSubentities = entity.hasSubentities
    entityReference = .passUnretained(entity)
    self.objectClass = objectClass
    self.columns = columns
    self.number = number
    self.rootNumber = rootNumber
  }

  /// A new object, in no context.
  @inline(__always)
  func makeObject() -> ManagedObject {
    entityReference._withUnsafeGuaranteedRef { objectClass.init(entity: $0, insertInto: nil) }
  }

  @inline(__always)
  func identifier(_ key: UInt64, in store: StoreIdentity) -> ManagedObjectID {
    entityReference._withUnsafeGuaranteedRef { ManagedObjectID(entity: $0, key: key, store: store) }
  }

  @inline(__always)
  func makes(_ object: ManagedObject) -> Bool {
    entityReference._withUnsafeGuaranteedRef { object.isExactly($0) }
  }
}
