import Foundation

/// The migration of the objects of an entity.
///
/// A property of the destination that no property mapping names has the value of the source's property of the same name, whether the two
/// entities declare or inherit it, and whatever the type of the mapping. Where that one is of another kind, and its values would not all fit, the
/// mapping is refused unless its policy is the program's own. `PropertyMapping(name:usesDefault:)` says that the values are not wanted.
public final class EntityMapping: NSObject, @unchecked Sendable {
  /// The kind of a mapping. The raw values are Core Data's.
  public enum MappingType: Int, Sendable {
    /// Not set.
    case undefined = 0
    /// By code of the program.
    case custom = 1
    /// The entity is new.
    case add = 2
    /// The entity is removed, with its objects.
    case remove = 3
    /// The entity is as it was.
    case copy = 4
    /// The entity changes.
    case transform = 5
  }

  /// The name, which other mappings refer to; by default that of source and destination with an arrow between them.
  @_disfavoredOverload public var name: String
  /// The kind of the mapping.
  public var mappingType: MappingType
  /// The name of the source's entity; nil if there is none.
  public var sourceEntityName: String?
  /// The name of the destination's entity; nil if there is none.
  public var destinationEntityName: String?
  /// The version hash that the source's entity must have; nil if any will do.
  public var sourceEntityVersionHash: Data?
  /// The version hash that the destination's entity must have; nil if any will do.
  public var destinationEntityVersionHash: Data?
  /// The mappings of attributes. Those that none is about are taken over by their names.
  @_disfavoredOverload public var attributeMappings: [PropertyMapping] = []
  /// The mappings of relationships. Those that none is about are taken over by their names.
  @_disfavoredOverload public var relationshipMappings: [PropertyMapping] = []
  /// Which objects of the source's entity the mapping is about; nil for all.
  public var sourcePredicate: (any FetchPredicate)?
  /// The code of the mapping.
  public var policy = EntityMigrationPolicy()
  /// The name of the policy in documents; nil if it is the usual one.
  public var policyName: String?
  /// Annotations for the program's own use.
  @_disfavoredOverload public var userInfo: [String: String] = [:]
  /// Annotations of other types, of the module `CoreData`.
  package var otherAnnotations: [AnyHashable: Any] = [:]

  /// A mapping of an entity.
  ///
  /// - Parameters:
  ///   - source: The name of the source's entity; nil if there is none.
  ///   - destination: The name of the destination's entity; nil if there is none.
  ///   - type: The kind of the mapping.
  public init(from source: String?, to destination: String?, type: MappingType = .transform) {
    name = [source, destination].compactMap { $0 }.joined(separator: "->")
    mappingType = type
    sourceEntityName = source
    destinationEntityName = destination
  }

  /// A mapping without a name and entities.
  public override convenience init() { self.init(from: nil, to: nil, type: .undefined) }

  convenience init(removing entity: EntityDescription) {
    self.init(from: entity.name, to: nil, type: .remove)
    sourceEntityVersionHash = entity.versionHash
  }

  convenience init(_ changes: InferredChanges, _ entity: EntityDescription) {
    let former = changes.source(of: entity)
    let isSame = former?.name == entity.name && changes.sentences(about: entity).isEmpty
    self.init(from: former?.name, to: entity.name, type: former == nil ? .add : isSame ? .copy : .transform)
    sourceEntityVersionHash = former?.versionHash
    destinationEntityVersionHash = entity.versionHash
    for slot in entity.slots {
      let property = entity.property(at: slot)
      let source = changes.sourceProperty(at: slot, of: entity)?.name
      let mapping =
        source.map { PropertyMapping(name: property.name, from: $0) }
        ?? PropertyMapping(name: property.name, usesDefault: true)
      if property is RelationshipDescription {
        relationshipMappings.append(mapping)
      } else {
        attributeMappings.append(mapping)
      }
    }
  }
}
