import Foundation

/// What becomes of the objects of an entity.
public final class EntityMapping: @unchecked Sendable {
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
  public var name: String
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
  /// The mappings of attributes.
  @_disfavoredOverload public var attributeMappings: [PropertyMapping] = []
  /// The mappings of relationships.
  @_disfavoredOverload public var relationshipMappings: [PropertyMapping] = []
  /// Which objects of the source's entity the mapping is about; nil for all.
  public var sourcePredicate: (any FetchPredicate)?
  /// The code of the mapping.
  public var policy = EntityMigrationPolicy()
  /// The name of the policy in documents; nil if it is the usual one.
  public var policyName: String?
  /// Annotations for the program's own use.
  public var userInfo: [String: String] = [:]

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
      let mapping = PropertyMapping(
        name: property.name, from: changes.sourceProperty(at: slot, of: entity)?.name)
      if property is RelationshipDescription {
        relationshipMappings.append(mapping)
      } else {
        attributeMappings.append(mapping)
      }
    }
  }
}

/// What becomes of a property: its default, the value of a property of the source, of an expression, or what a closure returns.
public final class PropertyMapping: @unchecked Sendable {
  /// The name of the destination's property.
  public var name: String
  /// The name of the source's property whose value it has; nil for the default.
  public var sourceName: String?
  /// Whether the property of the source is meant only where the source has one of that name and kind.
  var isIfPresent = false
  /// The text of the expression whose value it has; nil if there is none.
  @_disfavoredOverload public private(set) var valueExpression: String?
  private(set) var expression: MappingExpression?
  /// Computes the value from the source's object; of a relationship, the objects of the destination. It goes before an expression and a
  /// name.
  public var value: (@Sendable (ManagedObject, MigrationManager) throws -> Any?)?
  /// Annotations for the program's own use.
  public var userInfo: [String: String] = [:]

  /// A mapping of a property.
  ///
  /// - Parameters:
  ///   - name: The name of the destination's property.
  ///   - source: The name of the source's property; nil for the default.
  public init(name: String, from source: String? = nil) {
    self.name = name
    sourceName = source
  }

  /// A mapping of a property by an expression.
  ///
  /// It may have the variables `$source`, `$destination`, `$manager`, `$entityMapping`, `$propertyMapping` and `$entityPolicy`, paths of
  /// properties, `@count`, constants, lists in braces, arithmetic, and functions: of the manager
  /// `destinationInstancesForEntityMappingNamed:sourceInstances:` and `sourceInstancesForEntityMappingNamed:destinationInstances:`, of the
  /// policy those of its `value(forFunction:arguments:manager:)`.
  ///
  /// ```swift
  /// PropertyMapping(name: "hours", valueExpression: "$source.days * 24")
  /// ```
  ///
  /// - Parameters:
  ///   - name: The name of the destination's property.
  ///   - text: The expression.
  /// - Throws: `.coreData` with the place of what is wrong in the text.
  public init(name: String, valueExpression text: String) throws {
    self.name = name
    valueExpression = text
    expression = try MappingExpression(text)
  }

  /// Sets the expression, as `init(name:valueExpression:)`; nil for none.
  package func setExpression(_ text: String?) throws {
    expression = try text.map { try MappingExpression($0) }
    valueExpression = text
  }

  /// A mapping of a property by code.
  ///
  /// - Parameters:
  ///   - name: The name of the destination's property.
  ///   - value: Computes the value from the source's object; of a relationship, the objects of the destination.
  public init(name: String, value: @escaping @Sendable (ManagedObject, MigrationManager) throws -> Any?) {
    self.name = name
    self.value = value
  }
}
