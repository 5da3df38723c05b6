/// An index that a store keeps: entries in the order of some properties' values, for all rows of an
/// entity and its subentities.
///
/// A unique index stands for a uniqueness constraint and has no entries for rows with a nil part.
final class StoreIndex: Sendable {
  /// Given by the store, never given again.
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
