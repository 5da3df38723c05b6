/// A declaration of a class beside its properties: `#Unique` and `#Index`.
protocol SchemaTrait: SchemaProperty {
  /// Adds it to an entity.
  func apply(to entity: Schema.Entity)
}

extension Schema {
  /// Uniqueness constraints of a class, as `#Unique` declares them. An entity has their names in `uniquenessConstraints`.
  public final class Unique<T: PersistentModel>: SchemaTrait {
    /// The properties of each constraint.
    public let constraints: [[PartialKeyPath<T>]]
    /// The name.
    public var name = "SwiftData.Schema.Unique"
    /// The name in the former version of the schema.
    public var originalName = "SwiftData.Schema.Unique"
    /// The class.
    public var valueType: any Any.Type = T.self

    /// Constraints of these properties.
    public init(_ constraints: [PartialKeyPath<T>]...) { self.constraints = constraints }

    /// True.
    public var isUnique: Bool { true }

    private var names: [[String]] { constraints.map(PropertyNames.of) }

    func apply(to entity: Entity) { entity.uniquenessConstraints += names }

    /// The keys of its encoding.
    public enum CodingKeys: CodingKey {
      /// The names of the properties of each constraint.
      case constraints
    }

    /// Decodes constraints.
    ///
    /// - Throws: `DecodingError`, also if the class itself declares no property of a name.
    public init(from decoder: any Decoder) throws {
      let container = try decoder.container(keyedBy: CodingKeys.self)
      constraints = try container.decode([[String]].self, forKey: .constraints).map {
        try PropertyNames.keyPaths($0, decoder)
      }
    }

    /// Encodes the names of the properties.
    ///
    /// - Throws: The error of the encoder.
    public func encode(to encoder: any Encoder) throws {
      var container = encoder.container(keyedBy: CodingKeys.self)
      try container.encode(names, forKey: .constraints)
    }

    /// Whether both have the same constraints.
    public static func == (left: Unique, right: Unique) -> Bool { left.constraints == right.constraints }
    /// Hashes the constraints.
    public func hash(into hasher: inout Hasher) { hasher.combine(constraints) }
    /// Class and constraints.
    public var debugDescription: String { "Unique of \(T.self): \(names)" }
  }

  /// Indexes of a class, as `#Index` declares them. An entity has the names of those in the order of values in `indices`.
  public final class Index<T: PersistentModel>: SchemaTrait {
    /// The kind of an index, with its properties.
    public enum Types<P: PersistentModel> {
      /// In the order of values: serves equality, ranges, beginnings and orders.
      case binary([PartialKeyPath<P>])
      /// Of two numbers or dates: serves conditions that restrict both to a range.
      case rtree([PartialKeyPath<P>])
    }

    /// The indexes.
    public let indices: [Types<T>]
    /// The name.
    public var name = "SwiftData.Schema.Index"
    /// The name in the former version of the schema.
    public var originalName = "SwiftData.Schema.Index"
    /// The class.
    public var valueType: any Any.Type = T.self

    /// Indexes in the order of values.
    public init(_ binaryIndices: [PartialKeyPath<T>]...) { indices = binaryIndices.map { .binary($0) } }

    /// Indexes of several kinds.
    public init(_ indices: Types<T>...) { self.indices = indices }

    /// False.
    public var isUnique: Bool { false }

    /// An index as it is encoded.
    private struct Named: Codable, Hashable {
      var kind: Kind
      var properties: [String]
      enum Kind: String, Codable { case binary, rtree }
    }

    private var named: [Named] {
      indices.map { index in
        switch index {
        case .binary(let paths): Named(kind: .binary, properties: PropertyNames.of(paths))
        case .rtree(let paths): Named(kind: .rtree, properties: PropertyNames.of(paths))
        }
      }
    }

    func apply(to entity: Entity) {
      for index in named {
        switch index.kind {
        case .binary: entity.indices.append(index.properties)
        case .rtree: entity.rangeIndices.append(index.properties)
        }
      }
    }

    /// The keys of its encoding.
    public enum CodingKeys: CodingKey {
      /// The kind of each index, and the names of its properties.
      case indices
    }

    /// Decodes indexes.
    ///
    /// - Throws: `DecodingError`, also if the class itself declares no property of a name.
    public init(from decoder: any Decoder) throws {
      let container = try decoder.container(keyedBy: CodingKeys.self)
      indices = try container.decode([Named].self, forKey: .indices).map { index in
        let paths: [PartialKeyPath<T>] = try PropertyNames.keyPaths(index.properties, decoder)
        return index.kind == .binary ? .binary(paths) : .rtree(paths)
      }
    }

    /// Encodes kinds, and the names of the properties.
    ///
    /// - Throws: The error of the encoder.
    public func encode(to encoder: any Encoder) throws {
      var container = encoder.container(keyedBy: CodingKeys.self)
      try container.encode(named, forKey: .indices)
    }

    /// Whether both have the same indexes.
    public static func == (left: Index, right: Index) -> Bool { left.named == right.named }
    /// Hashes the indexes.
    public func hash(into hasher: inout Hasher) { hasher.combine(named) }
    /// Class and indexes.
    public var debugDescription: String {
      "Index of \(T.self): \(named.map { "\($0.kind) \($0.properties)" }.joined(separator: ", "))"
    }
  }

  /// One property of a class, as `@Model` describes it; or what `#Unique` or `#Index` says, which is of no property.
  public struct PropertyMetadata: @unchecked Sendable {
    /// The name.
    public let name: String
    /// The property.
    public let keypath: AnyKeyPath
    /// The value that the declaration gives it.
    public let defaultValue: Any?
    /// The declaration by `@Attribute`, `@Relationship`, `#Unique` or `#Index`.
    public let metadata: (any SchemaProperty)?

    /// The description of a property.
    public init(
      name: String, keypath: AnyKeyPath, defaultValue: Any? = nil, metadata: (any SchemaProperty)? = nil
    ) {
      self.name = name
      self.keypath = keypath
      self.defaultValue = defaultValue
      self.metadata = metadata
    }
  }
}

/// The names of the properties of a class, in constraints and indexes.
private enum PropertyNames {
  static func of<Model: PersistentModel>(_ paths: [PartialKeyPath<Model>]) -> [String] {
    paths.map { ModelClass.of(Model.self).name(of: $0) }
  }

  /// - Throws: `DecodingError`, if the class itself declares no property of a name.
  static func keyPaths<Model: PersistentModel>(
    _ names: [String], _ decoder: any Decoder
  ) throws -> [PartialKeyPath<Model>] {
    try names.map { name in
      guard let path = ModelClass.of(Model.self).property(named: name)?.keyPath as? PartialKeyPath<Model>
      else {
        throw DecodingError.dataCorrupted(
          .init(codingPath: decoder.codingPath, debugDescription: "\(Model.self) declares no \(name)"))
      }
      return path
    }
  }
}
