import Foundation

/// The inferred migration of a custom store that was written with another model: its entities and properties by their
/// names and renaming identifiers.
public struct InferredMigration: Sendable {
  let inferred: InferredChanges

  /// The model that the store was written with.
  public var sourceModel: ManagedObjectModel { inferred.source }
  /// The model of the coordinator.
  public var destinationModel: ManagedObjectModel { inferred.destination }
  /// The changes in words.
  public var changes: [String] { inferred.sentences() }

  /// The relationships of the destination whose links are put together from both sides: one that gets an inverse that had links before.
  public var joinedRelationships: [RelationshipDescription] { inferred.joinedRelationships }

  /// - Throws: `.inferredMappingModel` with all reasons, if what becomes of something cannot be inferred.
  init(from source: ManagedObjectModel, to destination: ManagedObjectModel) throws(HeartwoodError) {
    inferred = try InferredChanges(from: source, to: destination)
    try inferred.requireInferable()
  }

  /// The source's entity whose objects become those of an entity of the destination; nil for a new one.
  public func source(of entity: EntityDescription) -> EntityDescription? { inferred.source(of: entity) }

  /// The source's property of which a property of the destination has the values; nil for a new one, whose objects get its default.
  ///
  /// - Parameters:
  ///   - property: A property that the entity has or inherits, or an element of a composite attribute.
  ///   - entity: An entity of the destination.
  public func source(of property: PropertyDescription, in entity: EntityDescription) -> PropertyDescription? {
    inferred.sourceProperty(at: property.slot, of: entity)
  }

  /// A value of an attribute of the source as the destination's attribute has it, whose type may be another one.
  ///
  /// - Parameters:
  ///   - value: As a store keeps it.
  ///   - source: The attribute of the source.
  ///   - attribute: That of the destination.
  public func converted(
    _ value: StoredValue, from source: AttributeDescription, to attribute: AttributeDescription
  ) -> StoredValue {
    guard let stored = value.value(source.columnKind) else { return .null }
    return StoredValue(stored.converted(through: [source.columnKind, attribute.columnKind]))
  }

  /// The default of an attribute, as a store keeps it.
  public func defaultValue(of attribute: AttributeDescription, in entity: EntityDescription) -> StoredValue {
    StoredValue(entity.defaultValue(at: attribute.slot))
  }
}
