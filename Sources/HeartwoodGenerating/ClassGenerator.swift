import Foundation
import HeartwoodModel

/// Writes Swift for the entities of a model.
package struct ClassGenerator {
  /// The kind of source for an entity. The first two are the names of Xcode's code generation.
  package enum Mode: String, CaseIterable {
    /// A class that declares the properties.
    case `class`
    /// An extension of a class that is written by hand, with the properties as accesses by name.
    case category
  }

  /// The source of one entity.
  package struct Source: Equatable {
    package let fileName: String
    package let text: String
  }

  let model: ManagedObjectModel
  /// The access level of what is written: `public`, or empty for internal.
  let access: String
  /// The names of the entities whose classes declare properties.
  private var declared: Set<String> = []
  /// The parts that the sources of all entities do not have, a sentence each.
  package internal(set) var notes: [String] = []

  /// The composite attributes whose types are written, by the name of the type: the first of each.
  var composites: [String: CompositeAttributeDescription] = [:]
  /// The names of the model's classes.
  private(set) var classes: Set<String> = []
  /// Whether entities without a class get one with their own name.
  private let usesEntityNames: Bool

  package init(_ model: ManagedObjectModel, isPublic: Bool, usesEntityNames: Bool = false) {
    self.model = model
    self.usesEntityNames = usesEntityNames
    access = isPublic ? "public " : ""
  }

  /// The sources of the entities that have a class, by name.
  ///
  /// - Parameter mode: The mode of an entity; nil to leave it out.
  package mutating func sources(_ mode: (EntityDescription) -> Mode?) -> [Source] {
    var sources: [Source] = []
    classes = Set(model.entities.compactMap(className))
    for (module, types) in SwiftName.hiddenModules(of: classes) {
      notes.append(
        "the class \(module) hides the module of this name, by which the library's \(types.joined(separator: ", ")) would be told from the model's: name the classes otherwise"
      )
    }
    composites = [:]
    let written = written(mode)
    for (entity, _, mode) in written where mode == .class {
      for property in entity.ownProperties { noteType(of: property) }
    }
    declared = Set(written.filter { $0.mode == .class }.map { $0.entity.name ?? "" })
    for (entity, name, mode) in written {
      let isClass = mode == .class
      sources.append(
        Source(
          fileName: name.replacing("`", with: "") + (isClass ? ".swift" : "+Properties.swift"),
          text: Self.head + (isClass ? declaration(of: entity, name) : accesses(of: entity, name))))
    }
    return sources
  }

  /// The entities that something is written for, by name, each with its class. Others that have a class are noted.
  private mutating func written(
    _ mode: (EntityDescription) -> Mode?
  ) -> [(entity: EntityDescription, name: String, mode: Mode)] {
    var written: [(entity: EntityDescription, name: String, mode: Mode)] = []
    var owners: [String: String] = [:]
    for entity in model.entities.sorted(by: { $0.name ?? "" < $1.name ?? "" }) {
      guard let given = givenName(of: entity), let mode = mode(entity) else { continue }
      let own = entity.name ?? ""
      guard let name = className(of: entity) else {
        notes.append("\(own) is left out: \"\(given)\" is no name of a class in Swift")
        continue
      }
      if let owner = owners.updateValue(own, forKey: name) {
        owners[name] = owner
        notes.append("\(own) is left out: its class \(name) is written for \(owner)")
        continue
      }
      written.append((entity, name, mode))
    }
    return written
  }

  private static let head = """
    // Made by heartwood generate. Changes are lost when it is made again.
    // swift-format-ignore-file

    import Foundation
    import Heartwood


    """

  /// The name of an entity's class as it is written in code; nil if it has none of its own, or one that Swift does not have.
  private func className(of entity: EntityDescription) -> String? {
    givenName(of: entity).flatMap { SwiftName.isIdentifier($0) ? SwiftName.property($0) : nil }
  }

  private func givenName(of entity: EntityDescription) -> String? {
    SwiftName.ofClass(of: entity) ?? (usesEntityNames ? entity.name : nil)
  }

  func library(_ type: String) -> String { SwiftName.qualified(type, beside: classes) }

  /// The type of an attribute's values, and what a mandatory one begins with.
  func typeAndValue(of attribute: AttributeDescription) -> (type: String, value: String?)? {
    guard let name = typeName(of: attribute) else { return nil }
    let isOfProgram =
      attribute.userInfo["swiftType"] != nil || attribute.type == .transformable
      || attribute.type == .composite
    let type = isOfProgram ? name : library(name)
    if let composite = attribute as? CompositeAttributeDescription {
      return (type, composite.isOptional ? nil : value(of: composite, type))
    }
    return (type, SwiftName.value(of: attribute, type))
  }

  // MARK: Classes

  private mutating func declaration(of entity: EntityDescription, _ name: String) -> String {
    let superclass = entity.superentity.flatMap(className) ?? library("ManagedObject")
    var lines = comment(entity.userInfo, "An object of the entity \(entity.name ?? name).", indent: "")
    lines.append("\(access)\(entity.subentities.isEmpty ? "final " : "")class \(name): \(superclass) {")
    for property in entity.ownProperties {
      switch property {
      case let attribute as AttributeDescription: lines += self.lines(of: attribute, in: entity)
      case let relationship as RelationshipDescription: lines += self.lines(of: relationship, in: entity)
      default: break
      }
    }
    lines += overrides(of: entity)
    lines.append("}")
    lines += helpers(of: entity, name) { "$\($0.name)" }
    for case let composite as CompositeAttributeDescription in entity.ownProperties {
      lines += structure(of: composite, "\(entity.name ?? "").\(composite.name)")
    }
    return lines.joined(separator: "\n") + "\n"
  }

  /// The documentation of the user info, or a text.
  private func comment(_ userInfo: [String: String], _ text: String?, indent: String) -> [String] {
    guard let text = userInfo["documentation"] ?? text else { return [] }
    return text.split(separator: "\n", omittingEmptySubsequences: false).map { "\(indent)/// \($0)" }
  }

  private mutating func lines(of attribute: AttributeDescription, in entity: EntityDescription) -> [String] {
    let path = "\(entity.name ?? "").\(attribute.name)"
    guard !isNameOfStorage(attribute, in: entity) else { return [] }
    guard let (type, value) = typeAndValue(of: attribute) else {
      notes.append("\(path) is left out: its values have no type")
      return []
    }
    if attribute.type == .transformable, attribute.userInfo["swiftType"] == nil,
      SwiftName.isOfLibrary(type)
    {
      notes.append(
        "\(path) holds \(type), which is no TransformableValue: it is an access by name, which a model of classes alone does not have; "
          + "name a type that is one in the user info as swiftType")
      return access(to: attribute, SwiftName.ofFoundation(type) ? type : "Any", nil)
    }
    let isUnique = entity.uniquenessConstraints.contains([attribute.name])
    let options = [
      (isUnique, ".unique"), (entity.isIndexed(attribute, .binary), ".indexed"),
      (entity.isIndexed(attribute, .words), ".fullText"),
      (attribute.preservesValueInHistoryOnDeletion, ".preservesValueInHistoryOnDeletion"),
      (attribute.preservesValueInHistoryOnUpdate, ".preservesValueInHistoryOnUpdate"),
      (attribute.allowsExternalBinaryDataStorage, ".allowsExternalStorage"),
      (attribute.isTransient, ".transient"),
    ].filter(\.0).map(\.1)
    var arguments: [String] = []
    if options.count == 1 { arguments.append(options[0]) }
    if options.count > 1 { arguments.append("[\(options.joined(separator: ", "))]") }
    if let derivation = attribute.derivation { arguments.append("derived: \(SwiftName.literal(derivation))") }
    if let former = attribute.formerName { arguments.append("renamed: \(SwiftName.literal(former))") }
    // A derived value is not validated.
    if attribute.derivation == nil { arguments += validation(of: attribute, path) }
    let head =
      "  @\(library("Attribute"))" + (arguments.isEmpty ? "" : "(\(arguments.joined(separator: ", ")))")
    let name = SwiftName.property(attribute.name)
    let isOptional = attribute.isOptional || value == nil
    noteLosses(of: attribute, type, value, path)
    return comment(attribute.userInfo, nil, indent: "  ") + [
      "\(head) \(access)var \(name): \(type)\(isOptional ? "?" : "")" + (value.map { " = \($0)" } ?? "")
    ]
  }

  /// The argument with the rules of an attribute or an element; none if it has none.
  mutating func validation(of attribute: AttributeDescription, _ path: String) -> [String] {
    let rules = attribute.validationRules.compactMap { SwiftName.rule($0) }
    if rules.count < attribute.validationRules.count {
      notes.append("a validation rule of \(path) is left out: it has no form in Swift")
    }
    return rules.isEmpty ? [] : ["validated: \(rules.joined(separator: ", "))"]
  }

  /// Notes what the Swift of an attribute or an element does not say of its value.
  mutating func noteLosses(
    of attribute: AttributeDescription, _ type: String, _ value: String?, _ path: String
  ) {
    guard value == nil else { return }
    if !attribute.isOptional {
      notes.append("\(path) is optional in Swift: a \(type) has no value that could be its default")
    } else if attribute.type != .composite, attribute.defaultValue != nil {
      notes.append("\(path) has no default in Swift: that of the model has no form as a \(type)")
    }
  }

  /// Whether Swift has the name for the storage of another property's declaration, which is noted.
  private mutating func isNameOfStorage(_ property: PropertyDescription, in entity: EntityDescription) -> Bool
  {
    guard property.name.hasPrefix("_"),
      let other = entity.ownProperties.first(where: { "_" + $0.name == property.name })
    else { return false }
    let name = entity.name ?? ""
    notes.append(
      "\(name).\(property.name) is left out: Swift has the name for the storage of \(name).\(other.name)")
    return true
  }

  private mutating func lines(
    of relationship: RelationshipDescription, in entity: EntityDescription
  ) -> [String] {
    let path = "\(entity.name ?? "").\(relationship.name)"
    guard !isNameOfStorage(relationship, in: entity) else { return [] }
    guard let destination = relationship.destinationEntity.flatMap(className) else {
      notes.append("\(path) is left out: its destinations have no class")
      return []
    }
    var arguments: [String] = []
    // A closure can name a declared property only.
    if let inverse = relationship.inverseRelationship, declared.contains(inverse.entity?.name ?? "") {
      arguments.append("inverse: { $0.\(SwiftName.property(inverse.name)) }")
    }
    if relationship.deleteRule != .nullify {
      arguments.append("deleteRule: .\(relationship.deleteRule.shortName)")
    }
    if let count = SwiftName.count(of: relationship) { arguments.append("count: \(count)") }
    if let former = relationship.formerName {
      arguments.append("renamed: \(SwiftName.literal(former))")
    }
    if relationship.isTransient { arguments.append("isTransient: true") }
    let type = relationship.isToMany ? collection(relationship, destination) : "\(destination)?"
    let head =
      "  @\(library("Relationship"))" + (arguments.isEmpty ? "" : "(\(arguments.joined(separator: ", ")))")
    return comment(relationship.userInfo, nil, indent: "  ") + [
      "\(head) \(access)var \(SwiftName.property(relationship.name)): \(type)"
    ]
  }

  private mutating func overrides(of entity: EntityDescription) -> [String] {
    var lines: [String] = []
    func list(_ lists: [[String]]) -> String {
      "["
        + lists.map { "[" + $0.map(SwiftName.literal).joined(separator: ", ") + "]" }.joined(separator: ", ")
        + "]"
    }
    if let former = entity.formerName {
      lines.append(
        "  \(access)override class var renamed: \(library("String"))? { \(SwiftName.literal(former)) }")
    }
    let own = Set(entity.ownProperties.map(\.name))
    let constraints = entity.uniquenessConstraints.filter { $0.count > 1 || !own.isSuperset(of: $0) }
    if !constraints.isEmpty {
      lines.append(
        "  \(access)override class var uniquenessConstraints: [[\(library("String"))]] { \(list(constraints)) }"
      )
    }
    let whole = entity.indexes.filter { $0.condition == nil }
    let indexes = whole.filter { $0.collationType == .binary }.map {
      $0.elements.map(\.path)
    }
    let compound = indexes.filter { $0.count > 1 || !own.isSuperset(of: $0) }
    if !compound.isEmpty {
      lines.append(
        "  \(access)override class var compoundIndexes: [[\(library("String"))]] { \(list(compound)) }")
    }
    let ranges = whole.filter { $0.collationType == .rTree }
    if !ranges.isEmpty {
      let names = ranges.map { $0.elements.map(\.path) }
      lines.append("  \(access)override class var rangeIndexes: [[\(library("String"))]] { \(list(names)) }")
    }
    for index in entity.indexes where index.condition != nil && index.collationType != .binary {
      notes.append(
        "the index \(index.name) of \(entity.name ?? "") is left out: a class declares no partial index of words or ranges"
      )
    }
    let partial = entity.indexes.filter { $0.condition != nil && $0.collationType == .binary }
    if !partial.isEmpty {
      let made = partial.map { index in
        let names = index.elements.map { SwiftName.literal($0.path) }.joined(separator: ", ")
        return
          "\(library("PartialIndex"))(on: [\(names)], where: \(SwiftName.literal(index.condition ?? "")))"
      }
      lines.append(
        "  \(access)override class var partialIndexes: [\(library("PartialIndex"))] { [\(made.joined(separator: ", "))] }"
      )
    }
    return lines.isEmpty ? [] : [""] + lines
  }

  /// The type of a relationship to many.
  private func collection(_ relationship: RelationshipDescription, _ destination: String) -> String {
    relationship.isOrdered ? "[\(destination)]" : "\(library("Set"))<\(destination)>"
  }

  /// Methods that add and remove destinations of the relationships to many, with Xcode's names.
  ///
  /// - Parameter related: The destinations of a relationship as a live collection.
  private func helpers(
    of entity: EntityDescription, _ name: String, _ related: (RelationshipDescription) -> String
  ) -> [String] {
    entity.ownProperties.flatMap { property -> [String] in
      guard let relationship = property as? RelationshipDescription, relationship.isToMany,
        let destination = relationship.destinationEntity.flatMap(className)
      else { return [] }
      let property = relationship.name
      let title = property.prefix(1).uppercased() + property.dropFirst()
      let related = related(relationship)
      return [
        "", "extension \(name) {",
        "  /// Adds an object to `\(property)`.",
        "  \(access)func addTo\(title)(_ object: \(destination)) { \(related).insert(object) }",
        "  /// Removes an object from `\(property)`.",
        "  \(access)func removeFrom\(title)(_ object: \(destination)) { \(related).remove(object) }",
        "}",
      ]
    }
  }

  // MARK: Extensions

  private mutating func accesses(of entity: EntityDescription, _ name: String) -> String {
    var lines = ["extension \(name) {"]
    for property in entity.ownProperties {
      let path = "\(entity.name ?? "").\(property.name)"
      var type: String?
      var fallback: String?
      if let attribute = property as? AttributeDescription {
        let made = typeAndValue(of: attribute)
        type = made?.type
        fallback = attribute.isOptional ? nil : made?.value
      } else if let relationship = property as? RelationshipDescription,
        let destination = relationship.destinationEntity.flatMap(className)
      {
        guard !relationship.isToMany else {
          lines += accesses(of: relationship, destination)
          continue
        }
        type = destination
      }
      guard let type else {
        let missing =
          property is RelationshipDescription ? "destinations have no class" : "values have no type"
        notes.append("\(path) is left out: its \(missing)")
        continue
      }
      lines += access(to: property, type, fallback)
    }
    lines.append("}")
    lines += helpers(of: entity, name) { related($0) }
    return lines.joined(separator: "\n") + "\n"
  }

  /// A property as an access by name.
  private func access(to property: PropertyDescription, _ type: String, _ fallback: String?) -> [String] {
    let key = SwiftName.literal(property.name)
    let cast = type == "Any" ? "" : " as? \(type)"
    return comment(property.userInfo, nil, indent: "  ") + [
      "  \(access)var \(SwiftName.property(property.name)): \(type)\(fallback == nil ? "?" : "") {",
      "    get { value(forKey: \(key))\(cast)" + (fallback.map { " ?? \($0)" } ?? "") + " }",
      "    set { setValue(newValue, forKey: \(key)) }", "  }",
    ]
  }

  /// A relationship to many as a value, as a class has it.
  private func accesses(of relationship: RelationshipDescription, _ destination: String) -> [String] {
    let key = SwiftName.literal(relationship.name)
    let objects = "\(related(relationship)).compactMap { $0 as? \(destination) }"
    return comment(relationship.userInfo, nil, indent: "  ") + [
      "  \(access)var \(SwiftName.property(relationship.name)): \(collection(relationship, destination)) {",
      "    get { \(relationship.isOrdered ? objects : "\(library("Set"))(\(objects))") }",
      "    set { setValue(newValue, forKey: \(key)) }", "  }",
    ]
  }

  /// The destinations of a relationship to many as a live collection, by name.
  private func related(_ relationship: RelationshipDescription) -> String {
    let method = relationship.isOrdered ? "mutableOrderedSetValue" : "mutableSetValue"
    return "\(method)(forKey: \(SwiftName.literal(relationship.name)))"
  }
}

extension EntityDescription {
  fileprivate func isIndexed(
    _ attribute: AttributeDescription, _ type: FetchIndexElementDescription.CollationType
  ) -> Bool {
    indexes.contains {
      $0.elements.count == 1 && $0.elements[0].property === attribute && $0.collationType == type
        && $0.condition == nil
    }
  }
}

extension DeleteRule {
  fileprivate var shortName: String {
    switch self {
    case .noActionDeleteRule: "noAction"
    case .nullifyDeleteRule: "nullify"
    case .cascadeDeleteRule: "cascade"
    case .denyDeleteRule: "deny"
    }
  }
}
