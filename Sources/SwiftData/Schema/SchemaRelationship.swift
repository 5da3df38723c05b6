import Heartwood

extension Schema {
  /// A property that leads to other objects.
  public final class Relationship: SchemaProperty, @unchecked Sendable {
    /// The effect of an object's deletion on the related objects.
    public enum DeleteRule: String, Codable, CaseIterable, Sendable {
      /// Nothing: they keep leading to it.
      case noAction
      /// They lead to it no longer.
      case nullify
      /// They are deleted.
      case cascade
      /// The object cannot be deleted while there are some.
      case deny
    }

    /// How a relationship is stored.
    public struct Option: Hashable, Codable, Sendable, CustomDebugStringConvertible {
      private let name: String
      private init(_ name: String) { self.name = name }
      /// No two objects may lead to the same one.
      public static var unique: Option { Option("unique") }
      /// The name of the option.
      public var debugDescription: String { name }
    }

    /// The name.
    public var name: String
    /// The name in the former version of the schema.
    public var originalName: String
    /// How it is stored.
    public var options: [Option]
    /// The type of its values; `Any` in a loaded schema.
    public var valueType: any Any.Type
    /// The name of the entity that it leads to.
    public var destination: String
    /// The name of the relationship that leads back.
    public var inverseName: String?
    /// The property of the class; nil in a loaded schema.
    public var keypath: AnyKeyPath?
    /// The property that leads back, as it was declared.
    public var inverseKeyPath: AnyKeyPath?
    /// The effect of an object's deletion on the related objects.
    public var deleteRule: DeleteRule
    /// How many there must be; nil or 0 for any number. If it is optional, there may also be none.
    public var minimumModelCount: Int?
    /// How many there may be; nil or 0 for any number.
    public var maximumModelCount: Int?
    /// A text that makes the relationship differ from one that is declared alike.
    public var hashModifier: String?
    /// Whether it leads to one object at most.
    public internal(set) var isToOneRelationship = true
    /// Whether it may lead to none.
    public internal(set) var isOptional = true

    /// The declaration of a relationship of a class.
    public convenience init(
      _ options: Option..., deleteRule: DeleteRule = .nullify, minimumModelCount: Int? = 0,
      maximumModelCount: Int? = 0, originalName: String? = nil, inverse: AnyKeyPath? = nil,
      hashModifier: String? = nil
    ) {
      self.init(
        options: options, deleteRule: deleteRule, minimumModelCount: minimumModelCount,
        maximumModelCount: maximumModelCount, originalName: originalName, inverse: inverse,
        hashModifier: hashModifier)
    }

    init(
      name: String = "", options: [Option], deleteRule: DeleteRule, minimumModelCount: Int?,
      maximumModelCount: Int?,
      originalName: String?, inverse: AnyKeyPath?, hashModifier: String?
    ) {
      self.name = name
      self.options = options
      self.originalName = originalName ?? name
      self.deleteRule = deleteRule
      self.minimumModelCount = minimumModelCount
      self.maximumModelCount = maximumModelCount
      self.hashModifier = hashModifier
      inverseKeyPath = inverse
      valueType = Any.self
      destination = ""
    }

    /// False.
    public var isAttribute: Bool { false }
    /// True.
    public var isRelationship: Bool { true }
    /// False.
    public var isTransient: Bool { false }
    /// Whether no two objects may lead to the same one.
    public var isUnique: Bool { options.contains(.unique) }

    // MARK: Coding

    private enum CodingKeys: String, CodingKey {
      case name, originalName, options, destination, inverseName, deleteRule, minimumModelCount,
        maximumModelCount
      case hashModifier, isToOneRelationship, isOptional
    }

    /// Decodes a relationship without its key paths.
    ///
    /// - Throws: `DecodingError`.
    public init(from decoder: any Decoder) throws {
      let container = try decoder.container(keyedBy: CodingKeys.self)
      name = try container.decode(String.self, forKey: .name)
      originalName = try container.decode(String.self, forKey: .originalName)
      options = try container.decode([Option].self, forKey: .options)
      destination = try container.decode(String.self, forKey: .destination)
      inverseName = try container.decodeIfPresent(String.self, forKey: .inverseName)
      deleteRule = try container.decode(DeleteRule.self, forKey: .deleteRule)
      minimumModelCount = try container.decodeIfPresent(Int.self, forKey: .minimumModelCount)
      maximumModelCount = try container.decodeIfPresent(Int.self, forKey: .maximumModelCount)
      hashModifier = try container.decodeIfPresent(String.self, forKey: .hashModifier)
      isToOneRelationship = try container.decode(Bool.self, forKey: .isToOneRelationship)
      isOptional = try container.decode(Bool.self, forKey: .isOptional)
      valueType = Any.self
      inverseKeyPath = nil
    }

    /// Encodes everything but types and key paths.
    ///
    /// - Throws: The error of the encoder.
    public func encode(to encoder: any Encoder) throws {
      var container = encoder.container(keyedBy: CodingKeys.self)
      try container.encode(name, forKey: .name)
      try container.encode(originalName, forKey: .originalName)
      try container.encode(options, forKey: .options)
      try container.encode(destination, forKey: .destination)
      try container.encodeIfPresent(inverseName, forKey: .inverseName)
      try container.encode(deleteRule, forKey: .deleteRule)
      try container.encodeIfPresent(minimumModelCount, forKey: .minimumModelCount)
      try container.encodeIfPresent(maximumModelCount, forKey: .maximumModelCount)
      try container.encodeIfPresent(hashModifier, forKey: .hashModifier)
      try container.encode(isToOneRelationship, forKey: .isToOneRelationship)
      try container.encode(isOptional, forKey: .isOptional)
    }

    /// Whether both describe the same relationship; key paths are not compared.
    public static func == (left: Relationship, right: Relationship) -> Bool {
      left === right
        || left.name == right.name && left.originalName == right.originalName && left.options == right.options
          && left.destination == right.destination && left.inverseName == right.inverseName
          && left.deleteRule == right.deleteRule && left.minimumModelCount == right.minimumModelCount
          && left.maximumModelCount == right.maximumModelCount && left.hashModifier == right.hashModifier
          && left.isToOneRelationship == right.isToOneRelationship && left.isOptional == right.isOptional
    }

    /// Hashes the name.
    public func hash(into hasher: inout Hasher) { hasher.combine(name) }

    /// Name and destination.
    public var debugDescription: String { "Relationship \(name) to \(destination)" }
  }
}

extension Schema.Relationship.DeleteRule {
  /// As the graph names it.
  var rule: Heartwood.DeleteRule {
    switch self {
    case .noAction: .noActionDeleteRule
    case .nullify: .nullifyDeleteRule
    case .cascade: .cascadeDeleteRule
    case .deny: .denyDeleteRule
    }
  }
}
