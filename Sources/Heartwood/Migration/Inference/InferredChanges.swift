/// What the entities and properties of one model become in another, as far as it can be inferred.
///
/// Entities and properties are matched by renaming identifier, then by name. Properties are matched among all that an entity has,
/// inherited ones included, so that those that move up or down in a hierarchy are found.
final class InferredChanges: @unchecked Sendable {
  let source: ManagedObjectModel
  let destination: ManagedObjectModel
  /// The source entities, by name of the destination entity.
  private(set) var sources: [String: EntityDescription] = [:]
  /// The destination entities, by name of the source entity.
  private(set) var destinations: [String: EntityDescription] = [:]
  /// For each destination entity, the source's slot of each slot.
  private(set) var sourceSlots: [String: [Int?]] = [:]
  /// What cannot be inferred.
  private(set) var problems: [MigrationProblem] = []

  /// - Throws: `.coreData` if a model is not valid.
  init(from source: ManagedObjectModel, to destination: ManagedObjectModel) throws(HeartwoodError) {
    try source.freeze()
    try destination.freeze()
    self.source = source
    self.destination = destination
    matchEntities()
    for entity in sorted(destination) { matchProperties(of: entity) }
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

/// Matching by renaming identifier and name.
extension InferredChanges {
  private struct Named {
    let name: String
    let renamed: String?
    let place: Int
    var identifier: String { renamed ?? name }
  }

  /// For each new element, the place of the old one.
  private static func match(_ new: [Named], _ old: [Named]) -> [Int: Int] {
    var matches: [Int: Int] = [:]
    var used: Set<Int> = []
    // 1. The same element, which has kept its renaming identifier. 2. A renaming identifier that is the other's identifier or
    // name. 3. The same name. 4. A name that is the other's renaming identifier: a renaming that was taken back.
    let rules: [(Named, Named) -> Bool] = [
      { $0.renamed != nil && $0.renamed == $1.renamed && $0.name == $1.name },
      { $0.renamed != nil && $0.renamed == $1.identifier },
      { $0.renamed != nil && $0.renamed == $1.name },
      { $0.name == $1.name },
      { $0.renamed == nil && $0.name == $1.renamed },
    ]
    for rule in rules {
      for element in new where matches[element.place] == nil {
        guard let found = old.first(where: { !used.contains($0.place) && rule(element, $0) }) else {
          continue
        }
        matches[element.place] = found.place
        used.insert(found.place)
      }
    }
    return matches
  }

  private func matchEntities() {
    let (new, old) = (sorted(destination), sorted(source))
    func named(_ entities: [EntityDescription]) -> [Named] {
      entities.enumerated().map {
        Named(name: $1.displayName, renamed: $1.renamingIdentifier, place: $0)
      }
    }
    for (place, former) in Self.match(named(new), named(old)) {
      sources[new[place].displayName] = old[former]
      destinations[old[former].displayName] = new[place]
    }
  }

  private func matchProperties(of entity: EntityDescription) {
    guard let former = source(of: entity) else {
      sourceSlots[entity.displayName] = entity.slots.map { _ in nil }
      return
    }
    func named(_ entity: EntityDescription) -> [Named] {
      entity.slots.map { slot in
        let property = entity.property(at: slot)
        let identifier = property.renamingPath
        return Named(
          name: property.name, renamed: identifier == property.name ? nil : identifier, place: slot)
      }
    }
    let matches = Self.match(named(entity), named(former))
    sourceSlots[entity.displayName] = entity.slots.map { slot in
      guard let match = matches[slot] else { return nil }
      let (new, old) = (entity.property(at: slot), former.property(at: match))
      // What is not stored has no value to keep.
      return old.isTransient || new.isTransient ? nil : match
    }
  }
}

extension PropertyDescription {
  /// The renaming identifier, or the name; of an element of a composite attribute with that of the whole.
  fileprivate var renamingPath: String {
    guard let attribute = self as? AttributeDescription, let composite = attribute.composite else {
      return renamingIdentifier ?? name
    }
    let own = name.split(separator: ".").last.map(String.init) ?? name
    return composite.renamingPath + "." + (renamingIdentifier ?? own)
  }
}
