/// An index of a store: entries in the order of some properties' values, for all rows of an entity and its
/// subentities.
///
/// A unique index enforces a uniqueness constraint. It has no entry for a row in which one of the values is
/// nil.
final class StoreIndex: Sendable {
  /// Assigned by the store and never reused.
  let number: UInt16
  let name: String
  /// The entity that declares the index.
  let entity: EntityDescription
  /// The indexed properties, the most significant first.
  let slots: [Int]
  let columns: [Column]
  let isUnique: Bool

  init(number: UInt16, name: String, entity: EntityDescription, slots: [Int], isUnique: Bool) {
    self.number = number
    self.name = name
    self.entity = entity
    self.slots = slots
    columns = slots.map { entity.layout.columns[$0] }
    self.isUnique = isUnique
  }

  var propertyNames: [String] { slots.map { entity.property(at: $0).name } }
}
