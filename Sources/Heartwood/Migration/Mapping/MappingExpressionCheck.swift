/// The names in the expression of a property mapping, checked before the first object: properties, other mappings, and whether these make of the
/// objects that they get what the property can have.
struct MappingExpressionCheck {
  /// The kind of a value, as far as it is known before there are objects.
  private enum Kind {
    case unknown
    /// No object, such as a text.
    case value(String)
    /// Objects of an entity, or of those that inherit from it.
    case objects(EntityDescription)
  }

  let mapping: EntityMapping
  let property: PropertyMapping
  /// All mappings of the model.
  let all: NamedMappings
  let source: EntityDescription?
  let destination: EntityDescription?
  /// The relationship that the property is; nil for attributes.
  let relationship: RelationshipDescription?
  /// Gives the entity of the destination by its name.
  let destinationEntity: (String) -> EntityDescription?

  /// - Throws: `.migration` naming the mapping and the property if a property or a mapping does not exist, or a mapping makes nothing of the
  ///   objects that it gets.
  func run() throws(HeartwoodError) {
    guard let root = property.expression?.root else { return }
    _ = try kind(of: root)
    guard case .function(.variable("manager"), let name, let arguments) = root, let relationship,
      let wanted = relationship.destinationEntity
    else { return }
    switch name {
    case MappingFunction.destinations:
      guard let named = try mappingNamed(in: arguments), let made = named.destinationEntityName,
        let entity = destinationEntity(made), named.hasKnownPolicy, !entity.isKindOf(entity: wanted)
      else { return }
      throw error(
        "the mapping \(named.name) makes \(made), and \(relationship.displayName) leads to \(wanted.displayName)"
      )
    case MappingFunction.destinationsOfRelationship: try requireMaker(of: wanted, arguments)
    default: return
    }
  }

  /// - Throws: If no mapping makes objects of an entity of those that a function gets.
  private func requireMaker(
    of wanted: EntityDescription, _ arguments: [MappingExpression.Node]
  ) throws(HeartwoodError) {
    guard arguments.count == 2, case .objects(let given) = try kind(of: arguments[1]),
      all.all.allSatisfy(\.hasKnownPolicy)
    else { return }
    let hasMaker = all.all.contains { other in
      other.takes(given)
        && other.destinationEntityName.flatMap(destinationEntity)?.isKindOf(entity: wanted) == true
    }
    guard !hasMaker else { return }
    throw error(
      "no mapping makes \(wanted.displayName) of \(given.displayName), so that the relationship would lose its objects"
    )
  }

  // MARK: Nodes

  private func kind(of node: MappingExpression.Node) throws(HeartwoodError) -> Kind {
    switch node {
    case .constant(let value): return value.isNull ? .unknown : .value(value.predicateText)
    case .variable("source"): return source.map(Kind.objects) ?? .unknown
    case .variable: return .unknown
    case .property(let owner, let name): return try kind(of: name, in: try kind(of: owner))
    case .collection(let owner, _, _):
      _ = try kind(of: owner)
      return .unknown
    case .call(_, let parts), .list(let parts):
      for part in parts { _ = try kind(of: part) }
      return .unknown
    case .arithmetic(_, let left, let right):
      _ = try kind(of: left)
      _ = try kind(of: right)
      return .unknown
    case .function(let target, let name, let arguments): return try kind(of: name, target, arguments)
    }
  }

  /// The kind of a property of a value.
  private func kind(of name: String, in owner: Kind) throws(HeartwoodError) -> Kind {
    guard case .objects(let entity) = owner else { return .unknown }
    let owners = entity.selfAndBelow
    guard let found = owners.lazy.compactMap({ $0.slot(named: name).map($0.property(at:)) }).first else {
      throw error("\(entity.displayName) has no property \(name)")
    }
    if let relationship = found as? RelationshipDescription {
      return relationship.destinationEntity.map(Kind.objects) ?? .unknown
    }
    guard let attribute = found as? AttributeDescription, attribute.type != .composite,
      attribute.type != .transformable, attribute.type != .undefined
    else { return .unknown }
    return .value("\(entity.displayName).\(name)")
  }

  private func kind(
    of function: String, _ target: MappingExpression.Node, _ arguments: [MappingExpression.Node]
  ) throws(HeartwoodError) -> Kind {
    _ = try kind(of: target)
    var kinds: [Kind] = []
    for argument in arguments { kinds.append(try kind(of: argument)) }
    guard case .variable("manager") = target, arguments.count == 2, MappingFunction.all.contains(function)
    else { return .unknown }
    if case .value(let text) = kinds[1] {
      throw error("\(function) gets \(text), which is no object")
    }
    guard function != MappingFunction.destinationsOfRelationship, let named = try mappingNamed(in: arguments)
    else {
      return .unknown
    }
    guard function == MappingFunction.destinations else { return .unknown }
    if case .objects(let given) = kinds[1], named.hasKnownPolicy, !named.takes(given) {
      throw error(
        "the mapping \(named.name) makes nothing of \(given.displayName), but of \(named.sourceEntityName ?? "no entity")"
      )
    }
    return .unknown
  }

  /// The mapping that a function names; nil if its name is computed.
  private func mappingNamed(in arguments: [MappingExpression.Node]) throws(HeartwoodError) -> EntityMapping? {
    guard case .constant(.string(let name))? = arguments.first else { return nil }
    if let found = all[name] { return found }
    throw error(MappingFunction.noMapping(name, all.all))
  }

  private func error(_ reason: String) -> HeartwoodError {
    HeartwoodError(
      .migration,
      "the mapping \(mapping.name) has a value for \(destination?.displayName ?? "").\(property.name) that cannot be computed: \(reason)",
      property: property.name)
  }
}

/// The functions of the manager that expressions have.
enum MappingFunction {
  static let destinations = "destinationInstancesForEntityMappingNamed:sourceInstances:"
  static let destinationsOfRelationship = "destinationInstancesForSourceRelationshipNamed:sourceInstances:"
  static let sources = "sourceInstancesForEntityMappingNamed:destinationInstances:"
  static let all = [destinations, destinationsOfRelationship, sources]

  static func noMapping(_ name: String, _ all: [EntityMapping]) -> String {
    "there is no mapping called \"\(name)\": there are \(all.map(\.name).joined(separator: ", "))"
  }
}

extension EntityMapping {
  /// Whether the mapping makes objects as it says: code of the program may make and associate others.
  var hasKnownPolicy: Bool {
    type(of: policy) == EntityMigrationPolicy.self || policy is ClosureMigrationPolicy
  }

  /// Whether the mapping makes something of objects of an entity, or of those that inherit from it.
  fileprivate func takes(_ entity: EntityDescription) -> Bool {
    mappingType != .remove && destinationEntityName != nil
      && entity.selfAndBelow.contains { $0.name == sourceEntityName }
  }
}
