/// The entities and properties of one model with those that they become in another, as far as that can be inferred.
///
/// Entities and properties are matched as `NameMatching` says. Properties are matched among all that an entity has, inherited ones
/// included, so that those that move up or down in a hierarchy are found.
final class InferredChanges: @unchecked Sendable {
  let source: ManagedObjectModel
  let destination: ManagedObjectModel
  /// The source entities, by name of the destination entity.
  var sources: [String: EntityDescription] = [:]
  /// The destination entities, by name of the source entity.
  var destinations: [String: EntityDescription] = [:]
  /// For each destination entity, the source's slot of each slot.
  var sourceSlots: [String: [Int?]] = [:]
  /// The differences that cannot be inferred.
  private(set) var problems: [MigrationProblem] = []

  /// - Throws: `.coreData` if a model is not valid.
  init(from source: ManagedObjectModel, to destination: ManagedObjectModel) throws(HeartwoodError) {
    try source.freeze()
    try destination.freeze()
    self.source = source
    self.destination = destination
    matchEntities()
    for entity in sorted(destination) { matchProperties(of: entity) }
    checkExchangedEntities()
    for entity in sorted(destination) { checkExchangedProperties(of: entity) }
    for entity in sorted(destination) { checkHierarchy(of: entity) }
    for entity in sorted(destination) { checkProperties(of: entity) }
  }

  func sorted(_ model: ManagedObjectModel) -> [EntityDescription] {
    model.entities.sorted { $0.number < $1.number }
  }

  func source(of entity: EntityDescription) -> EntityDescription? { sources[entity.displayName] }
  func destination(of entity: EntityDescription) -> EntityDescription? { destinations[entity.displayName] }

  /// The source's slot of a slot of a destination entity; nil if it has no source.
  func sourceSlot(_ slot: Int, of entity: EntityDescription) -> Int? {
    sourceSlots[entity.displayName]?[slot]
  }

  func sourceProperty(at slot: Int, of entity: EntityDescription) -> PropertyDescription? {
    guard let former = source(of: entity), let slot = sourceSlot(slot, of: entity) else { return nil }
    return former.property(at: slot)
  }

  func refuse(_ entity: EntityDescription, _ property: PropertyDescription? = nil, _ reason: String) {
    problems.append(
      MigrationProblem(entity: entity.displayName, property: property?.name, reason: reason))
  }
}

/// Something in two models for which no mapping can be inferred, and why.
public struct MigrationProblem: Error, Hashable, Sendable, CustomStringConvertible {
  /// The name of the destination's entity.
  public let entity: String
  /// The name of its property; nil if the whole entity is concerned.
  public let property: String?
  /// Why the mapping cannot be inferred: the end of a sentence that begins with the names.
  public let reason: String

  /// Entity, property and reason.
  public var description: String { "\(entity)\(property.map { ".\($0)" } ?? "") \(reason)" }
}
