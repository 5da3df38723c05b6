import Foundation

/// The migration of the entities of a model to another one.
///
/// An inferred one explains itself: its `description` has a sentence for each change.
public final class MappingModel: NSObject, @unchecked Sendable {
  /// The mappings of the entities, in the order in which they are worked on.
  @_disfavoredOverload public var entityMappings: [EntityMapping]
  /// The changes in words, of an inferred mapping model; empty for others.
  public let changes: [String]

  /// A mapping model of these mappings.
  ///
  /// - Parameter entityMappings: The mappings, in the order in which they are worked on.
  public init(entityMappings: [EntityMapping] = []) {
    self.entityMappings = entityMappings
    changes = []
  }

  init(_ inferred: InferredChanges) {
    let removed = inferred.sorted(inferred.source).filter { inferred.destination(of: $0) == nil }
    entityMappings =
      inferred.sorted(inferred.destination).map { EntityMapping(inferred, $0) }
      + removed.map { EntityMapping(removing: $0) }
    changes = inferred.sentences()
  }

  /// Whether the other object is a mapping model with the same mappings. Mappings with closures are equal to themselves only.
  public override func isEqual(_ object: Any?) -> Bool {
    guard let other = object as? MappingModel else { return false }
    if other === self { return true }
    guard hash == other.hash, let own = try? encodedDocument(), let its = try? other.encodedDocument() else {
      return false
    }
    return own == its
  }

  /// A hash of the names of the mappings.
  public override var hash: Int { entityMappings.map(\.name).hashValue }

  /// A line for each change of an inferred mapping model, or the names of the mappings.
  public override var description: String {
    guard changes.isEmpty else { return changes.joined(separator: "\n") }
    return entityMappings.isEmpty
      ? "no mappings" : entityMappings.map(\.name).joined(separator: "\n")
  }

  /// The mappings by name.
  public var entityMappingsByName: [String: EntityMapping] {
    Dictionary(entityMappings.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
  }

  /// The mapping model that an automatic migration uses.
  ///
  /// - Parameters:
  ///   - source: The model of the store.
  ///   - destination: The model to migrate to.
  /// - Throws: `.inferredMappingModel` with every reason why no mapping can be inferred, and `.coreData` if a model is not valid.
  @_disfavoredOverload
  public static func inferredMappingModel(
    forSourceModel source: ManagedObjectModel, destinationModel destination: ManagedObjectModel
  ) throws -> MappingModel {
    let changes = try InferredChanges(from: source, to: destination)
    try changes.requireInferable()
    return MappingModel(changes)
  }

  /// The differences of two models, in words, also where no mapping can be inferred.
  ///
  /// - Parameters:
  ///   - source: The former model.
  ///   - destination: The new one.
  /// - Returns: One sentence for each change, those that cannot be inferred last, with the reason; empty if there are none.
  /// - Throws: `.coreData` if a model is not valid.
  public static func differences(
    from source: ManagedObjectModel, to destination: ManagedObjectModel
  ) throws -> [String] {
    try InferredChanges(from: source, to: destination).sentences()
  }

  /// Why no mapping can be inferred for two models.
  ///
  /// - Parameters:
  ///   - source: The former model.
  ///   - destination: The new one.
  /// - Returns: One sentence for each reason; empty if a mapping can be inferred. Objects may still be in the way of a migration: a
  ///   rehearsal finds them.
  /// - Throws: `.coreData` if a model is not valid.
  public static func reasonsAgainstInference(
    from source: ManagedObjectModel, to destination: ManagedObjectModel
  ) throws -> [String] {
    let changes = try InferredChanges(from: source, to: destination)
    if destination.hasVersionHashes(source.entityVersionHashesByName),
      let reason = changes.reasonAgainstExchanges
    {
      return [reason]
    }
    if changes.problems.isEmpty {
      do {
        try changes.requireInferable()
      } catch {
        return [error.message]
      }
    }
    return changes.problems.map(\.description)
  }
}
