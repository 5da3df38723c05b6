/// A context as its objects see it, and no more: the context itself takes this file's place.
public final class ManagedObjectContext: @unchecked Sendable {
  var storeIdentifier: StoreIdentity { .none }

  func entity(of type: ManagedObject.Type) -> EntityDescription { type.entity() }
  func insert(_ object: ManagedObject) {
    object.attach(to: self, as: .makeTemporary(object.entity))
    object.state = [.inserted]
  }
  func fire(_ object: ManagedObject) {}
  func willEdit(_ object: ManagedObject) { object.editCount &+= 1 }
  func noteUnreadable(_ error: any Error, _ object: ManagedObject) { object.state.insert(.unreadable) }

  func toOne(_ object: ManagedObject, _ slot: Int) -> ManagedObject? { nil }
  func setToOne(_ object: ManagedObject, _ slot: Int, _ destination: ManagedObject?) {}
  func related(_ object: ManagedObject, _ slot: Int) -> [ManagedObject] { [] }
  func setRelated(_ object: ManagedObject, _ slot: Int, _ destinations: [ManagedObject]) {}
  func relatedKeys(_ object: ManagedObject, _ slot: Int) -> [UInt64] { [] }
  func relatedObject(_ object: ManagedObject, _ slot: Int, _ key: UInt64) -> ManagedObject { object }
  func containsRelated(_ object: ManagedObject, _ slot: Int, _ destination: ManagedObject) -> Bool { false }
  func insertRelated(_ object: ManagedObject, _ slot: Int, _ destination: ManagedObject, at index: Int?) {}
  func removeRelated(_ object: ManagedObject, _ slot: Int, _ destination: ManagedObject) {}
}

extension ManagedObject {
  func validateProperties() throws {}
  func validateDeleteRules() throws {}
}
