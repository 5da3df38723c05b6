/// What a class declares beside its properties: `#Unique` and `#Index`. Not meant to be used.
public protocol _SchemaTrait {
  /// Adds it to an entity.
  func _apply(to entity: Schema.Entity)
}

extension Schema {
  /// Uniqueness constraints of a class.
  public struct Unique<T: PersistentModel>: _SchemaTrait, @unchecked Sendable {
    /// The properties of each constraint.
    public let constraints: [[PartialKeyPath<T>]]

    /// Constraints of these properties.
    public init(_ constraints: [PartialKeyPath<T>]...) { self.constraints = constraints }

    /// Adds the constraints to those of an entity.
    public func _apply(to entity: Entity) {
      entity.uniquenessConstraints += constraints.map { $0.map { ModelClass.of(T.self).name(of: $0) } }
    }
  }

  /// Indexes of a class.
  public struct Index<T: PersistentModel>: _SchemaTrait, @unchecked Sendable {
    /// The kind of an index, with its properties.
    public enum Types<Model: PersistentModel>: @unchecked Sendable {
      /// In the order of values: serves equality, ranges, beginnings and orders.
      case binary([PartialKeyPath<Model>])
      /// Of two numbers or dates: serves conditions that restrict both to a range.
      case rtree([PartialKeyPath<Model>])
    }

    /// The indexes.
    public let indices: [Types<T>]

    /// Indexes in the order of values.
    public init(_ indices: [PartialKeyPath<T>]...) { self.indices = indices.map { .binary($0) } }

    /// Indexes of several kinds.
    public init(_ indices: Types<T>...) { self.indices = indices }

    /// Adds the indexes to those of an entity.
    public func _apply(to entity: Entity) {
      let model = ModelClass.of(T.self)
      for index in indices {
        switch index {
        case .binary(let paths): entity.indices.append(paths.map { model.name(of: $0) })
        case .rtree(let paths): entity.rangeIndices.append(paths.map { model.name(of: $0) })
        }
      }
    }
  }

  /// One property of a class, as `@Model` describes it.
  public struct PropertyMetadata: @unchecked Sendable {
    /// The name.
    public let name: String
    /// The property.
    public let keypath: AnyKeyPath
    /// The value that the declaration gives it.
    public let defaultValue: Any?
    /// What `@Attribute` or `@Relationship` says.
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
