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
    /// The inherited properties that were set; nil for those of the superentity.
    private var givenInheritedProperties: [any SchemaProperty]?

    /// An entity without properties.
    public convenience init(_ name: String) { self.init(name, properties: []) }

    /// An entity.
    ///
    /// - Parameters:
    ///   - name: The name.
    ///   - subentities: The entities that inherit from it.
    ///   - properties: The properties that it adds to its superentity. The declarations of `Schema.Unique` and `Schema.Index` come to
    ///     `uniquenessConstraints` and `indices`.
    public convenience init(_ name: String, subentities: Entity..., properties: any SchemaProperty...) {
      self.init(name, subentities: subentities, properties: properties)
    }

    init(_ name: String, subentities: [Entity] = [], properties: [any SchemaProperty]) {
      self.name = name
      storedProperties = properties.filter { !($0 is any SchemaTrait) }
      uniquenessConstraints = storedProperties.filter(\.isUnique).map { [$0.name] }
      indices = []
      for subentity in subentities { subentity.superentityName = name }
      self.subentities = Set(subentities)
      for case let trait as any SchemaTrait in properties { trait.apply(to: self) }
    }

    func link(in entities: [String: Entity]) {
      guard let superentityName, let superentity = entities[superentityName] else { return }
      self.superentity = superentity
      superentity.subentities.insert(self)
    }

    // MARK: Properties

    /// All properties, with those of its superentities first.
    public var properties: [any SchemaProperty] { inheritedProperties + storedProperties }
    /// The properties of its superentities, or others that were set.
    public var inheritedProperties: [any SchemaProperty] {
      get { givenInheritedProperties ?? superentity?.properties ?? [] }
      set { givenInheritedProperties = newValue }
    }
    /// The inherited properties by their names.
    public var inheritedPropertiesByName: [String: any SchemaProperty] {
      get { Self.byName(inheritedProperties) }
      set { inheritedProperties = Self.replacing(inheritedProperties, by: Array(newValue.values)) }
    }
    /// `storedProperties` by their names.
    public var storedPropertiesByName: [String: any SchemaProperty] {
      get { Self.byName(storedProperties) }
      set { storedProperties = Self.replacing(storedProperties, by: Array(newValue.values)) }
    }
    /// All attributes. Those that are set and not inherited are stored, in place of the former ones.
    public var attributes: Set<Attribute> {
      get { Set(properties.compactMap { $0 as? Attribute }) }
      set { replaceStored(by: newValue) }
    }
    /// All attributes by their names.
    public var attributesByName: [String: Attribute] {
      get { Dictionary(attributes.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first }) }
      set { attributes = Set(newValue.values) }
    }
    /// All relationships. Those that are set and not inherited are stored, in place of the former ones.
    public var relationships: Set<Relationship> {
      get { Set(properties.compactMap { $0 as? Relationship }) }
      set { replaceStored(by: newValue) }
    }
    /// All relationships by their names.
    public var relationshipsByName: [String: Relationship] {
      get { Dictionary(relationships.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first }) }
      set { relationships = Set(newValue.values) }
    }

    private static func byName(_ properties: [any SchemaProperty]) -> [String: any SchemaProperty] {
      Dictionary(properties.map { ($0.name, $0) }, uniquingKeysWith: { _, last in last })
    }

    private func replaceStored<Property: SchemaProperty>(by properties: Set<Property>) {
      let inherited = inheritedPropertiesByName
      let others = storedProperties.filter { !($0 is Property) }
      storedProperties = Self.replacing(
        storedProperties, by: others + properties.filter { inherited[$0.name] == nil })
    }

    /// New properties in the order that the former ones of their names have, and others after them by their names.
    private static func replacing(
      _ former: [any SchemaProperty], by new: [any SchemaProperty]
    ) -> [any SchemaProperty] {
      let places = Dictionary(
        former.enumerated().map { ($1.name, $0) }, uniquingKeysWith: { first, _ in first })
      return new.sorted { left, right in
        let (first, second) = (places[left.name] ?? former.count, places[right.name] ?? former.count)
        return first == second ? left.name < right.name : first < second
      }
    }

    // MARK: Coding

    private enum CodingKeys: String, CodingKey {
      case name, superentityName, inheritedProperties, uniquenessConstraints, indices, rangeIndices
    }

    /// Properties as they are encoded: by their kinds.
    private struct PropertyList: Codable {
      var attributes: [Attribute]
      var composites: [CompositeAttribute]
      var relationships: [Relationship]
      var all: [any SchemaProperty] { attributes + composites + relationships }

      init(_ properties: [any SchemaProperty]) {
        let attributes = properties.compactMap { $0 as? Attribute }
        self.attributes = attributes.filter { !($0 is CompositeAttribute) }
        composites = attributes.compactMap { $0 as? CompositeAttribute }
        relationships = properties.compactMap { $0 as? Relationship }
      }
    }

    /// Decodes an entity; its schema connects it with its superentity.
    ///
    /// - Throws: `DecodingError`.
    public init(from decoder: any Decoder) throws {
      let container = try decoder.container(keyedBy: CodingKeys.self)
      name = try container.decode(String.self, forKey: .name)
      superentityName = try container.decodeIfPresent(String.self, forKey: .superentityName)
      storedProperties = try PropertyList(from: decoder).all
      givenInheritedProperties = try container.decodeIfPresent(
        PropertyList.self, forKey: .inheritedProperties)?.all
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
      try PropertyList(storedProperties).encode(to: encoder)
      try container.encodeIfPresent(
        givenInheritedProperties.map { PropertyList($0) }, forKey: .inheritedProperties)
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
