import Foundation

/// The values of a managed object at one moment, as a value that any thread or actor may use.
///
/// ```swift
/// var snapshot = person.snapshot()
/// snapshot[\Person.name] = "Ada"
/// try otherContext.apply(snapshot)
/// ```
///
/// It has all attributes and the identifiers of to-one destinations, and those of to-many destinations that it was asked for.
/// Changes of it change no object until it is applied. It remembers the values that it was taken with, so that applying it
/// writes only what was changed in it, and notices what was changed elsewhere since.
public struct ObjectSnapshot: Sendable {
  /// The object's identifier. That of an object that was unsaved when the snapshot was taken becomes permanent with its save.
  public var objectID: ManagedObjectID { reference?.objectID ?? identifier }
  private let identifier: ManagedObjectID
  private let reference: ObjectReference?
  /// By slot; null for to-many relationships.
  private(set) var values: [Value]
  /// The values that the snapshot was taken with.
  let formerValues: [Value]
  /// The destinations of to-many relationships that are included, by slot.
  private(set) var destinations: [Int: [ManagedObjectID]]
  let formerDestinations: [Int: [ManagedObjectID]]

  init(_ objectID: ManagedObjectID, values: [Value], destinations: [Int: [ManagedObjectID]]) {
    identifier = objectID
    reference = objectID.isTemporaryID ? .reference(to: objectID) : nil
    self.values = values
    formerValues = values
    self.destinations = destinations
    formerDestinations = destinations
  }

  /// The entity of the object.
  public var entity: EntityDescription { objectID.entity }
  /// The name of the object's entity.
  public var entityName: String { entity.displayName }
  /// Whether a value differs from the one that the snapshot was taken with.
  public var hasChanges: Bool { values != formerValues || destinations != formerDestinations }

  /// The names of the properties whose values differ from those that the snapshot was taken with, in the entity's order.
  public var changedKeys: [String] { changedSlots.map { entity.property(at: $0).name } }

  var changedSlots: [Int] {
    entity.slots.filter {
      values[$0] != formerValues[$0] || destinations[$0] != formerDestinations[$0]
    }
  }

  mutating func set(_ value: Value, at slot: Int) { values[slot] = value }
  mutating func set(_ identifiers: [ManagedObjectID], at slot: Int) { destinations[slot] = identifiers }
}

extension ObjectSnapshot: Hashable {
  /// Whether both are of the same object and have the same values and destinations.
  public static func == (left: ObjectSnapshot, right: ObjectSnapshot) -> Bool {
    left.objectID == right.objectID && left.values == right.values && left.destinations == right.destinations
  }

  /// Hashes identifier and values.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(objectID)
    hasher.combine(values)
  }
}

extension ObjectSnapshot: Identifiable, CustomStringConvertible {
  /// The object's identifier.
  public var id: ManagedObjectID { objectID }

  /// The identifier and the values by name.
  public var description: String {
    let parts = entity.slots.compactMap { slot -> String? in
      let name = entity.property(at: slot).name
      if let relationship = entity.compiled.relationshipBySlot[slot], relationship.isToMany {
        return destinations[slot].map { "\(name): \($0.count) objects" }
      }
      if case .object(let id) = values[slot] { return "\(name): \(id)" }
      return "\(name): \(entity.anyValue(values[slot], at: slot) ?? "nil")"
    }
    return "\(objectID) (\(parts.joined(separator: ", ")))"
  }
}
