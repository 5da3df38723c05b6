/// Checks that a model is valid; each error has a message that names entity and property.
package final class ModelChecks {
  let model: ManagedObjectModel
  /// The default values in stored form, by attribute.
  private(set) var defaults: [ObjectIdentifier: Value] = [:]

  init(_ model: ManagedObjectModel) { self.model = model }

  /// - Throws: `.coreData` with all that is wrong; each in `details` if it is more than one thing.
  func run() throws(HeartwoodError) {
    attempt(checkCount)
    var seen: Set<String> = []
    for entity in model.entities { attempt { () throws(HeartwoodError) in try checkName(of: entity, &seen) } }
    for entity in model.entities { attempt { () throws(HeartwoodError) in try checkInheritance(of: entity) } }
    // The properties of an entity are known only if it inherits from others of the model.
    try throwProblems()
    for entity in model.entities {
      attempt { () throws(HeartwoodError) in try checkPropertyNames(of: entity) }
      for property in entity.ownProperties { attempt { () throws(HeartwoodError) in try check(property) } }
    }
    for entity in model.entities {
      attempt { () throws(HeartwoodError) in try checkConstraints(of: entity) }
      attempt { () throws(HeartwoodError) in try checkIndexes(of: entity) }
    }
    try throwProblems()
  }

  private var problems: [HeartwoodError] = []

  private func attempt(_ check: () throws(HeartwoodError) -> Void) {
    do throws(HeartwoodError) {
      try check()
    } catch {
      problems.append(error)
    }
  }

  private func throwProblems() throws(HeartwoodError) {
    guard let first = problems.first else { return }
    guard problems.count > 1 else { throw first }
    throw HeartwoodError(
      first.code,
      "\(problems.count) things in the model are wrong: \(problems.map(\.message).joined(separator: "; "))",
      property: first.property, details: problems)
  }

  // MARK: Entities

  private func checkCount() throws(HeartwoodError) {
    guard model.entities.count < Int(UInt16.max) else {
      throw .model("the model has \(model.entities.count) entities; a store can number 65534")
    }
  }

  private func checkName(of entity: EntityDescription, _ seen: inout Set<String>) throws(HeartwoodError) {
    guard let name = entity.name, !name.isEmpty else { throw .model("an entity of the model has no name") }
    if let problem = Self.problem(ofEntityName: name) { throw .model(problem) }
    guard seen.insert(name).inserted else { throw .model("two entities of the model are called \(name)") }
    guard entity.model === model else {
      throw .model("\(name) belongs to another model: an entity can be in one model only; use a copy")
    }
  }

  private func checkInheritance(of entity: EntityDescription) throws(HeartwoodError) {
    guard !entity.inheritsFromItself else { throw .model("\(entity.displayName) inherits from itself") }
    for relative in entity.subentities + [entity.superentity].compactMap({ $0 })
    where relative.model !== model {
      throw .model("\(relative.displayName), a relative of \(entity.displayName), is not in the model")
    }
  }

  /// Why an entity cannot have a name; nil if it can.
  static func problem(ofEntityName name: String) -> String? {
    guard !isUsable(name, ofEntity: true) else { return nil }
    return "the entity name \"\(name)\" cannot be used: use letters, digits, underscores, hyphens and dots"
  }

  /// Why a property cannot have a name; nil if it can.
  static func problem(ofPropertyName name: String, of owner: String) -> String? {
    guard isUsable(name, ofEntity: false) else {
      return "the property name \"\(name)\" of \(owner) cannot be used: use letters, digits and underscores"
    }
    guard ReservedNames.all.contains(name) else { return nil }
    return "\(owner).\(name) cannot be called so: every managed object has a member of this name"
  }

  /// Why an element of a composite attribute cannot have a name; nil if it can.
  static func problem(ofElementName name: String, of owner: String) -> String? {
    guard !isUsable(name, ofEntity: false) else { return nil }
    return "the name \"\(name)\" of an element of \(owner) cannot be used: use letters and digits"
  }

  /// Whether a name can appear in identifiers or, of a property, in key paths and format strings. An entity may be called like a class, with
  /// its module.
  package static func isUsable(_ name: String, ofEntity: Bool) -> Bool {
    guard let first = name.unicodeScalars.first, !first.properties.isWhitespace, !("0"..."9" ~= first) else {
      return false
    }
    return name.unicodeScalars.allSatisfy { scalar in
      scalar == "_" || (ofEntity && (scalar == "-" || scalar == ".")) || scalar.properties.isAlphabetic
        || scalar.properties.numericType != nil
        || scalar.properties.generalCategory == .nonspacingMark
    }
  }

  // MARK: Names of properties

  private func checkPropertyNames(of entity: EntityDescription) throws(HeartwoodError) {
    let properties = entity.properties
    guard properties.count < Int(UInt16.max) else {
      throw .model("\(entity.displayName) has \(properties.count) properties; a row can have 65534")
    }
    var declaring: [String: PropertyDescription] = [:]
    for property in properties {
      if let other = declaring.updateValue(property, forKey: property.name) {
        throw .model(
          other.entity === property.entity
            ? "\(entity.displayName) has two properties called \(property.name)"
            : "\(property.displayName) has the name of a property that \(entity.displayName) inherits "
              + "from \(other.entity?.displayName ?? "?")")
      }
    }
  }

  private func check(_ property: PropertyDescription) throws(HeartwoodError) {
    guard !property.name.isEmpty else {
      throw .model("a property of \(property.entity?.displayName ?? "?") has no name")
    }
    let owner = property.entity?.displayName ?? "?"
    if let problem = Self.problem(ofPropertyName: property.name, of: owner) { throw .model(problem) }
    if let attribute = property as? AttributeDescription { try check(attribute) }
    if let relationship = property as? RelationshipDescription { try check(relationship) }
    if let fetched = property as? FetchedPropertyDescription { try check(fetched) }
  }

  // MARK: Attributes

  private func check(_ attribute: AttributeDescription) throws(HeartwoodError) {
    guard attribute.type != .undefined || attribute.isTransient else {
      throw .model(
        "\(attribute.displayName) has no type that can be stored: set its `type`, or make it transient")
    }
    if let derived = attribute as? DerivedAttributeDescription { try check(derived) }
    if let composite = attribute as? CompositeAttributeDescription { return try check(composite) }
    guard attribute.type != .composite else {
      throw .model("\(attribute.displayName) is composite: make it a CompositeAttributeDescription")
    }
    guard attribute.type != .transformable || attribute.valueTransformerName != nil else {
      throw .model("\(attribute.displayName) is transformable: set its `valueTransformerName`")
    }
    for rule in attribute.validationRules {
      if let problem = rule.problem(for: attribute.type) {
        throw .model("\(attribute.displayName): \(problem)")
      }
    }
    guard let given = attribute.givenDefault else {
      defaults[ObjectIdentifier(attribute)] = attribute.defaultStoredValue
      return
    }
    guard let value = attribute.storedForm(of: given) else {
      throw .model(
        "the default value of \(attribute.displayName) is \(type(of: given)) (\(given)), "
          + "which an attribute of type \(attribute.type) cannot hold")
    }
    defaults[ObjectIdentifier(attribute)] = value
  }

  private func check(_ composite: CompositeAttributeDescription) throws(HeartwoodError) {
    let name = composite.displayName
    guard !composite.isTransient else {
      throw .model(
        "\(name) is composite and transient: only attributes with a value of their own can be transient")
    }
    // A setting that a store has was accepted once.
    guard !composite.allowsExternalBinaryDataStorage || model.isReadFromStore else {
      throw .model(
        "\(name) is composite: its elements are in the row, and none of it can be stored outside; leave out "
          + "`allowsExternalBinaryDataStorage`")
    }
    guard composite.givenDefault == nil else {
      throw .model("\(name) is composite: set the default values of its elements")
    }
    try checkElements(of: composite, name, depth: 1)
    defaults[ObjectIdentifier(composite)] = composite.convertedDefault
    for column in composite.columns {
      if column is CompositeAttributeDescription {
        defaults[ObjectIdentifier(column)] = column.convertedDefault
      } else {
        try check(column)
      }
    }
  }

  private func checkElements(
    of composite: CompositeAttributeDescription, _ name: String, depth: Int
  ) throws(HeartwoodError) {
    // A setting that a store has was accepted once.
    if depth > CompositeAttributeDescription.greatestDepth, !model.isReadFromStore {
      throw .model("\(name) \(CompositeAttributeDescription.tooDeep)")
    }
    guard !composite.elements.isEmpty else { throw .model("\(name) is composite, but has no elements") }
    var seen: Set<String> = []
    for element in composite.elements {
      if let problem = Self.problem(ofElementName: element.name, of: name) { throw .model(problem) }
      guard seen.insert(element.name).inserted else {
        throw .model("\(name) has two elements called \(element.name)")
      }
      guard !element.isTransient, element.derivation == nil else {
        throw .model("\(name).\(element.name) is transient or derived: an element cannot be")
      }
      if let nested = element as? CompositeAttributeDescription {
        try checkElements(of: nested, "\(name).\(element.name)", depth: depth + 1)
      }
    }
  }

  package static func list(_ names: some Sequence<String>) -> String {
    names.sorted().joined(separator: ", ")
  }
}

/// Names that properties cannot have, because every object has a member with that name.
package enum ReservedNames {
  package static let all: Set<String> = [
    "self", "Self", "SELF", "description", "debugDescription", "hash", "hashValue", "objectID", "entity",
    "managedObjectContext", "hasChanges", "hasPersistentChangedValues", "isInserted", "isUpdated",
    "isDeleted",
    "isFault", "faultingState", "changedValues", "init",
  ]
}
