/// Checks that objects have the requested class. It remembers the class of the last one: most objects have the same
/// class, and a cast by the runtime costs more than reading a row.
struct ClassCheck {
  let wanted: ManagedObject.Type
  let isFitting: (ManagedObject) -> Bool
  private var lastClass: ObjectIdentifier?

  init(wanted: ManagedObject.Type, isFitting: @escaping (ManagedObject) -> Bool) {
    self.wanted = wanted
    self.isFitting = isFitting
  }

  @inline(__always)
  mutating func check(_ object: ManagedObject) throws {
    let objectClass = ObjectIdentifier(type(of: object))
    guard objectClass != lastClass else { return }
    guard isFitting(object) else { throw HeartwoodError.wrongClass(object, wanted) }
    lastClass = objectClass
  }
}

/// The object factories for the rows of one root entity. It remembers the last one: most rows have the same entity.
struct FamilyBuilder {
  let store: StoreIdentity
  private let root: EntityDescription
  private var last: ObjectFactory

  init(_ root: EntityDescription, in store: StoreIdentity) {
    self.root = root
    self.store = store
    last = root.factory
  }

  @inline(__always)
  mutating func factory(of row: RowView) throws -> ObjectFactory {
    let number = row.entityNumber
    if number != last.number { last = try root.entity(numbered: number).factory }
    return last
  }
}
