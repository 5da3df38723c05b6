import Foundation
import Heartwood

/// The models of a container: their entities, with attributes and relationships.
///
/// A schema of classes has the classes that it is given and those that their relationships lead to. It is a value that can be encoded: a loaded
/// one describes entities, but has no classes.
public final class Schema: Codable, Hashable, CustomDebugStringConvertible, @unchecked Sendable {
  /// The version of the schema.
  public let version: Version
  /// The entities, in the order of their names.
  public let entities: [Entity]
  /// The entities by their names.
  public let entitiesByName: [String: Entity]
  /// The form in which the schema is encoded.
  public var encodingVersion: Version { Self.schemaEncodingVersion }
  /// The form in which schemas are encoded.
  public static let schemaEncodingVersion = Version(1, 0, 0)

  /// The classes, by the names of their entities; empty for a loaded schema.
  let types: [String: any PersistentModel.Type]

  /// A schema without entities.
  public convenience init() { self.init([], version: Version(1, 0, 0)) }

  /// A schema of entities.
  ///
  /// - Parameters:
  ///   - entities: The entities.
  ///   - version: The version.
  public convenience init(_ entities: Entity..., version: Version = Version(1, 0, 0)) {
    self.init(entities: entities, types: [:], version: version)
  }

  /// The schema of model classes, and of those that their relationships lead to.
  ///
  /// - Parameters:
  ///   - types: The classes.
  ///   - version: The version.
  public convenience init(_ types: any PersistentModel.Type..., version: Version = Version(1, 0, 0)) {
    self.init(types, version: version)
  }

  /// The schema of model classes, and of those that their relationships lead to.
  ///
  /// - Parameters:
  ///   - types: The classes.
  ///   - version: The version.
  public convenience init(_ types: [any PersistentModel.Type], version: Version = Version(1, 0, 0)) {
    let assembly = SchemaAssembly(types)
    self.init(entities: assembly.entities, types: assembly.types, version: version)
  }

  /// The schema of a version.
  public convenience init(versionedSchema: any VersionedSchema.Type) {
    self.init(versionedSchema.models, version: versionedSchema.versionIdentifier)
  }

  private init(entities: [Entity], types: [String: any PersistentModel.Type], version: Version) {
    self.entities = entities.sorted { $0.name < $1.name }
    entitiesByName = Dictionary(entities.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
    self.types = types
    self.version = version
    for entity in entities { entity.link(in: entitiesByName) }
  }

  /// The entity of a class; nil if the schema does not have it.
  public func entity<T: PersistentModel>(for type: T.Type) -> Entity? {
    entitiesByName[Self.entityName(for: type)]
  }

  /// The name of a class's entity: that of the class, without its module and what it is declared in.
  public static func entityName<T: PersistentModel>(for type: T.Type) -> String { ModelClass.of(type).name }

  // MARK: Coding

  private enum CodingKeys: String, CodingKey { case encodingVersion, version, entities }

  /// - Throws: If it was encoded by a later form.
  public convenience init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    let form = try container.decode(Version.self, forKey: .encodingVersion)
    guard form.major <= Self.schemaEncodingVersion.major else {
      throw DecodingError.dataCorruptedError(
        forKey: .encodingVersion, in: container,
        debugDescription: "the schema was encoded by a later version of this library: \(form)")
    }
    self.init(
      entities: try container.decode([Entity].self, forKey: .entities), types: [:],
      version: try container.decode(Version.self, forKey: .version))
  }

  /// Encodes version and entities; the classes stay behind.
  ///
  /// - Throws: The error of the encoder.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(encodingVersion, forKey: .encodingVersion)
    try container.encode(version, forKey: .version)
    try container.encode(entities, forKey: .entities)
  }

  /// Writes the schema to a file, as JSON.
  ///
  /// - Throws: The error of the file system.
  public func save(to url: URL) throws {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
    try encoder.encode(self).write(to: url, options: .atomic)
  }

  /// Reads a schema that was saved.
  ///
  /// - Throws: The error of the file system, or one of `DecodingError`.
  public static func load(from url: URL) throws -> Schema {
    try JSONDecoder().decode(Schema.self, from: Data(contentsOf: url))
  }

  // MARK: Identity

  /// Whether both have the same version and equal entities.
  public static func == (left: Schema, right: Schema) -> Bool {
    left === right || left.version == right.version && left.entities == right.entities
  }

  /// Hashes the version and the names of the entities.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(version)
    hasher.combine(entities.map(\.name))
  }

  /// Version and names of the entities.
  public var debugDescription: String {
    "Schema \(version) of \(entities.map(\.name).joined(separator: ", "))"
  }

  /// The number of a version, of three parts.
  public struct Version: Codable, Comparable, Hashable, Sendable, CustomStringConvertible {
    /// The first part.
    public let major: Int
    /// The second part.
    public let minor: Int
    /// The third part.
    public let patch: Int

    /// A version of three parts.
    public init(_ major: Int, _ minor: Int, _ patch: Int) {
      (self.major, self.minor, self.patch) = (major, minor, patch)
    }

    /// Compares the parts in their order.
    public static func < (left: Version, right: Version) -> Bool {
      (left.major, left.minor, left.patch) < (right.major, right.minor, right.patch)
    }

    /// `1.0.0`.
    public var description: String { "\(major).\(minor).\(patch)" }
  }
}

/// An attribute or a relationship of an entity.
public protocol SchemaProperty: Codable, Hashable, CustomDebugStringConvertible {
  /// The name.
  var name: String { get set }
  /// The name in the former version of the schema; the same where it was not renamed.
  var originalName: String { get set }
  /// The type of its values.
  var valueType: any Any.Type { get set }
  /// Whether it may be without a value.
  var isOptional: Bool { get }
  /// Whether it is an attribute.
  var isAttribute: Bool { get }
  /// Whether it is a relationship.
  var isRelationship: Bool { get }
  /// Whether its value is kept in memory only.
  var isTransient: Bool { get }
  /// Whether no two objects may have the same value.
  var isUnique: Bool { get }
}

extension SchemaProperty {
  /// False.
  public var isOptional: Bool { false }
  /// False.
  public var isAttribute: Bool { false }
  /// False.
  public var isRelationship: Bool { false }
  /// False.
  public var isTransient: Bool { false }
}
