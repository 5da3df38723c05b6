extension Schema {
  /// A model of a schema.
  public final class Entity: Codable, Hashable, CustomDebugStringConvertible, @unchecked Sendable {
    /// The name.
    public var name: String
    /// The entity that it inherits from.
    public weak var superentity: Entity?
    /// The name of the entity that it inherits from.
    public var superentityName: String?
    /// The entities that inherit from it.
    public var subentities: Set<Entity> = []
    /// The properties that it adds to those of its superentity.
    public var storedProperties: [any SchemaProperty]
    /// The names of the properties of each uniqueness constraint.
    public var uniquenessConstraints: [[String]]
    /// The names of the properties of each index.
    public var indices: [[String]]
    /// The names of the two properties of each index of ranges.
    var rangeIndices: [[String]] = []

    /// An entity without properties.
    public convenience init(_ name: String) { self.init(name, properties: []) }

    /// An entity.
    ///
    /// - Parameters:
    ///   - name: The name.
    ///   - subentities: The entities that inherit from it.
    ///   - properties: What it adds to its superentity.
    public convenience init(_ name: String, subentities: Entity..., properties: any SchemaProperty...) {
      self.init(name, subentities: subentities, properties: properties)
    }

    init(_ name: String, subentities: [Entity] = [], properties: [any SchemaProperty]) {
      self.name = name
      storedProperties = properties
      uniquenessConstraints = properties.filter(\.isUnique).map { [$0.name] }
      indices = []
      for subentity in subentities { subentity.superentityName = name }
      self.subentities = Set(subentities)
    }

    func link(in entities: [String: Entity]) {
      guard let superentityName, let superentity = entities[superentityName] else { return }
      self.superentity = superentity
      superentity.subentities.insert(self)
    }

    // MARK: Properties

    /// All properties, with those of its superentities first.
    public var properties: [any SchemaProperty] { inheritedProperties + storedProperties }
    /// The properties of its superentities.
    public var inheritedProperties: [any SchemaProperty] { superentity?.properties ?? [] }
    /// The inherited properties by their names.
    public var inheritedPropertiesByName: [String: any SchemaProperty] { Self.byName(inheritedProperties) }
    /// `storedProperties` by their names.
    public var storedPropertiesByName: [String: any SchemaProperty] { Self.byName(storedProperties) }
    /// All attributes.
    public var attributes: Set<Attribute> { Set(properties.compactMap { $0 as? Attribute }) }
    /// All attributes by their names.
    public var attributesByName: [String: Attribute] {
      Dictionary(attributes.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
    }
    /// All relationships.
    public var relationships: Set<Relationship> { Set(properties.compactMap { $0 as? Relationship }) }
    /// All relationships by their names.
    public var relationshipsByName: [String: Relationship] {
      Dictionary(relationships.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
    }

    private static func byName(_ properties: [any SchemaProperty]) -> [String: any SchemaProperty] {
      Dictionary(properties.map { ($0.name, $0) }, uniquingKeysWith: { _, last in last })
    }

    // MARK: Coding

    private enum CodingKeys: String, CodingKey {
      case name, superentityName, attributes, composites, relationships, uniquenessConstraints, indices,
        rangeIndices
    }

    /// Decodes an entity; its schema connects it with its superentity.
    ///
    /// - Throws: `DecodingError`.
    public init(from decoder: any Decoder) throws {
      let container = try decoder.container(keyedBy: CodingKeys.self)
      name = try container.decode(String.self, forKey: .name)
      superentityName = try container.decodeIfPresent(String.self, forKey: .superentityName)
      storedProperties =
        try container.decode([Attribute].self, forKey: .attributes)
        + container.decode([CompositeAttribute].self, forKey: .composites)
        + container.decode([Relationship].self, forKey: .relationships)
      uniquenessConstraints = try container.decode([[String]].self, forKey: .uniquenessConstraints)
      indices = try container.decode([[String]].self, forKey: .indices)
      rangeIndices = try container.decode([[String]].self, forKey: .rangeIndices)
    }

    /// Encodes names, properties, constraints and indexes.
    ///
    /// - Throws: The error of the encoder.
    public func encode(to encoder: any Encoder) throws {
      var container = encoder.container(keyedBy: CodingKeys.self)
      try container.encode(name, forKey: .name)
      try container.encodeIfPresent(superentityName, forKey: .superentityName)
      let attributes = storedProperties.compactMap { $0 as? Attribute }
      try container.encode(attributes.filter { !($0 is CompositeAttribute) }, forKey: .attributes)
      try container.encode(attributes.compactMap { $0 as? CompositeAttribute }, forKey: .composites)
      try container.encode(storedProperties.compactMap { $0 as? Relationship }, forKey: .relationships)
      try container.encode(uniquenessConstraints, forKey: .uniquenessConstraints)
      try container.encode(indices, forKey: .indices)
      try container.encode(rangeIndices, forKey: .rangeIndices)
    }

    /// Whether both describe the same entity.
    public static func == (left: Entity, right: Entity) -> Bool {
      left === right
        || left.name == right.name && left.superentityName == right.superentityName
          && left.attributes == right.attributes && left.relationships == right.relationships
          && left.uniquenessConstraints == right.uniquenessConstraints && left.indices == right.indices
    }

    /// Hashes the name.
    public func hash(into hasher: inout Hasher) { hasher.combine(name) }

    /// Name and properties.
    public var debugDescription: String {
      "Entity \(name): \(properties.map(\.name).joined(separator: ", "))"
    }
  }
}
