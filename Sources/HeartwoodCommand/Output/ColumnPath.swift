import Heartwood

/// The path from an object to the value of a column: names of properties joined with dots.
struct ColumnPath {
  private enum Step {
    case attribute(String)
    /// Whether a composite attribute has a value, which its elements have columns of.
    case presence(String)
    case toOne(String)
    case toMany(String, isOrdered: Bool)
    case count(String)
    case identifier
    case entity
  }

  let text: String
  private let steps: [Step]

  /// The short name of the object, which is the first column of a result.
  static let identifier = ColumnPath(text: "@id", steps: [.identifier])

  private init(text: String, steps: [Step]) {
    self.text = text
    self.steps = steps
  }

  /// Parses a column such as `capital.name`, `neighbours.@count`, `languages.name`, `@id` or `@entity`.
  ///
  /// - Throws: A usage failure that names the part that is not a property.
  init(_ text: String, of entity: EntityDescription) throws(CommandFailure) {
    var steps: [Step] = []
    var here: EntityDescription? = entity
    var rest = text.split(separator: ".", omittingEmptySubsequences: false).map(String.init)[...]
    while let part = rest.popFirst() {
      // As in predicates, where a name may be a word of the language.
      let name = part.hasPrefix("#") ? String(part.dropFirst()) : part
      guard let entity = here else {
        throw .usage("the column \"\(text)\" goes on behind an attribute, at \"\(name)\"")
      }
      if let composite = entity.propertiesByName[name] as? CompositeAttributeDescription, !rest.isEmpty {
        steps.append(.attribute(try ColumnPath.element(name, rest, of: composite, in: text)))
        here = nil
        rest = []
        continue
      }
      let isCount = rest.first == "@count"
      if isCount { rest.removeFirst() }
      let step = try ColumnPath.step(name, of: entity, isCount: isCount, in: text)
      steps.append(step)
      here = ColumnPath.destination(of: step, entity)
    }
    self.init(text: text, steps: steps)
  }

  private static func step(
    _ name: String, of entity: EntityDescription, isCount: Bool, in text: String
  ) throws(CommandFailure) -> Step {
    if name == "@id" { return .identifier }
    if name == "@entity" { return .entity }
    guard let property = entity.propertiesByName[name] else {
      let known = entity.propertiesByName.keys.sorted()
      let hint = Spelling.hint(name, among: known)
      throw .usage(
        "the column \"\(text)\": \(entity.name ?? "") has no property \"\(name)\""
          + (hint.isEmpty ? "; there are \(known.joined(separator: ", "))" : hint))
    }
    let relationship = property as? RelationshipDescription
    if property is FetchedPropertyDescription, !isCount { return .toMany(name, isOrdered: true) }
    if isCount {
      guard relationship?.isToMany == true else {
        throw .usage("the column \"\(text)\": @count needs a to-many relationship, and \(name) is none")
      }
      return .count(name)
    }
    guard let relationship else { return .attribute(name) }
    return relationship.isToMany ? .toMany(name, isOrdered: relationship.isOrdered) : .toOne(name)
  }

  /// The full name of an element of a composite attribute.
  private static func element(
    _ name: String, _ rest: ArraySlice<String>, of attribute: CompositeAttributeDescription, in text: String
  ) throws(CommandFailure) -> String {
    var here: CompositeAttributeDescription? = attribute
    for part in rest {
      guard let element = here?.elements.first(where: { $0.name == part }) else {
        let hint = Spelling.hint(part, among: here?.elements.map(\.name) ?? [])
        throw .usage("the column \"\(text)\": there is no element \"\(part)\"\(hint)")
      }
      here = element as? CompositeAttributeDescription
    }
    return ([name] + rest).joined(separator: ".")
  }

  private static func destination(of step: Step, _ entity: EntityDescription) -> EntityDescription? {
    switch step {
    case .toOne(let name), .toMany(let name, _): entity.relationshipsByName[name]?.destinationEntity
    default: nil
    }
  }

  /// The default columns: the identifier, the attributes and the to-one relationships; in JSON, which can be
  /// imported again, the to-many relationships too, and in CSV the elements of composite attributes, as import reads them.
  static func usual(of entity: EntityDescription, as format: OutputFormat) -> [ColumnPath] {
    [identifier]
      + entity.properties.filter { !($0 is FetchedPropertyDescription) }.flatMap { property in
        guard let relationship = property as? RelationshipDescription else {
          return format == .csv
            ? columns(of: property, property.name)
            : [ColumnPath(text: property.name, steps: [.attribute(property.name)])]
        }
        let name = property.name
        guard relationship.isToMany else { return [ColumnPath(text: name, steps: [.toOne(name)])] }
        let step = Step.toMany(name, isOrdered: relationship.isOrdered)
        return format == .json ? [ColumnPath(text: name, steps: [step])] : []
      }
  }

  /// The columns of the elements of a composite attribute, after one that distinguishes a value without elements from none if it is
  /// optional; the column of another property.
  private static func columns(of property: PropertyDescription, _ name: String) -> [ColumnPath] {
    guard let composite = property as? CompositeAttributeDescription else {
      return [ColumnPath(text: name, steps: [.attribute(name)])]
    }
    return (composite.isOptional ? [ColumnPath(text: name, steps: [.presence(name)])] : [])
      + composite.elements.flatMap { columns(of: $0, "\(name).\($0.name)") }
  }
}

extension ColumnPath {
  /// The column of rows of an entity; nil if only objects have its value.
  func rowColumn(of entity: EntityDescription) -> RowColumn? {
    guard steps.count == 1 else { return nil }
    func place(_ name: String) -> Int? { entity.storedProperties.firstIndex { $0.name == name } }
    switch steps[0] {
    case .identifier: return .identifier
    case .entity: return .entity
    case .attribute(let name):
      guard let type = entity.attributesByName[name]?.type,
        ![.transformable, .composite, .undefined].contains(type)
      else { return nil }
      return place(name).map { .attribute(place: $0, type) }
    case .toOne(let name):
      // The row has the number of the destination, and not its own entity.
      let destination = entity.relationshipsByName[name]?.destinationEntity
      guard destination?.subentities.isEmpty == true else { return nil }
      return place(name).map { .destination(place: $0) }
    case .presence, .toMany, .count: return nil
    }
  }
}

extension ColumnPath {
  /// The value at the end of the path.
  func value(of object: ManagedObject) -> CellValue {
    ColumnPath.value(of: object, steps[...])
  }

  private static func value(of object: ManagedObject, _ steps: ArraySlice<Step>) -> CellValue {
    guard let step = steps.first else { return .reference(ObjectName.text(object.objectID)) }
    let rest = steps.dropFirst()
    switch step {
    case .attribute(let name): return CellValue(name, of: object)
    case .presence(let name): return object.value(forKey: name) == nil ? .null : .group([:])
    case .identifier: return .text(ObjectName.text(object.objectID))
    case .entity: return .text(object.entity.name ?? "")
    case .count(let name): return .integer(Int64(object.objectIDs(forRelationshipNamed: name).count))
    case .toOne(let name):
      guard let next = Related.objects(object, name, isOrdered: true).first else { return .null }
      return value(of: next, rest)
    case .toMany(let name, let isOrdered):
      return .list(flattened(Related.objects(object, name, isOrdered: isOrdered).map { value(of: $0, rest) }))
    }
  }

  private static func flattened(_ values: [CellValue]) -> [CellValue] {
    values.flatMap { value in
      if case .list(let inner) = value { return inner }
      return [value]
    }
  }
}

/// Access to the destinations of relationships.
enum Related {
  /// The destinations of a relationship; sorted by identifier if the relationship is not ordered.
  static func objects(_ object: ManagedObject, _ name: String, isOrdered: Bool) -> [ManagedObject] {
    let identifiers = object.objectIDs(forRelationshipNamed: name)
    let sorted = isOrdered ? identifiers : identifiers.sorted { $0.key < $1.key }
    guard let context = object.managedObjectContext else { return [] }
    return sorted.map { context.object(with: $0) }
  }
}
