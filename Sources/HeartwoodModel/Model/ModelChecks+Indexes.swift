/// Checks of uniqueness constraints and indexes.
extension ModelChecks {
  func checkConstraints(of entity: EntityDescription) throws(HeartwoodError) {
    let properties = entity.columnsByName
    for constraint in entity.uniquenessConstraints {
      guard !constraint.isEmpty, Set(constraint).count == constraint.count else {
        throw .model(
          "a uniqueness constraint of \(entity.displayName) is empty or names a property twice: \(constraint)"
        )
      }
      for name in constraint {
        guard let property = properties[name], !(property is FetchedPropertyDescription) else {
          throw .model(
            "a uniqueness constraint of \(entity.displayName) names \"\(name)\", which is none of its properties: "
              + Self.list(entity.attributesByName.keys))
        }
        guard !property.isTransient else {
          throw .model(
            "a uniqueness constraint of \(entity.displayName) names \(name), which is transient and not stored"
          )
        }
        if let relationship = property as? RelationshipDescription {
          guard relationship.isToMany else { continue }
          throw .model(
            "a uniqueness constraint of \(entity.displayName) names \(name), which leads to several objects: only a relationship to one object can be unique"
          )
        }
        guard let attribute = property as? AttributeDescription else { continue }
        guard !(attribute is CompositeAttributeDescription) else {
          throw .model(
            "a uniqueness constraint of \(entity.displayName) names \(name), which is composite: name its elements"
          )
        }
        guard !attribute.isTransformable else {
          throw .model(
            "a uniqueness constraint of \(entity.displayName) names \(name), which is transformable and has no order"
          )
        }
        try checkIsInRow(attribute, "a uniqueness constraint of \(entity.displayName)")
      }
    }
  }

  func checkIndexes(of entity: EntityDescription) throws(HeartwoodError) {
    var seen: Set<String> = []
    for index in entity.indexes {
      guard !index.name.isEmpty, seen.insert(index.name).inserted else {
        throw .model("two indexes of \(entity.displayName) are called \"\(index.name)\", or one has no name")
      }
      guard !index.elements.isEmpty else {
        throw .model("the index \(index.name) of \(entity.displayName) has no elements")
      }
      if let problem = index.problem {
        throw .model(
          "the condition of the index \(index.name) of \(entity.displayName) cannot be used: \(problem)")
      }
      for element in index.elements { try check(element, of: index, entity) }
      try checkCollation(of: index, entity)
    }
  }

  private func checkCollation(
    of index: FetchIndexDescription, _ entity: EntityDescription
  ) throws(HeartwoodError) {
    let name = "the index \(index.name) of \(entity.displayName)"
    guard index.elements.allSatisfy({ $0.collationType == index.collationType }) else {
      throw .model("\(name) has elements of different collation types: make an index of each")
    }
    if index.collationType == .rTree { return try checkRange(index, name) }
    guard index.collationType == .words else { return }
    guard index.elements.count == 1 else {
      throw .model("\(name) is of words and has \(index.elements.count) elements: make an index of each")
    }
    let property = index.elements[0].property
    guard (property as? AttributeDescription)?.type == .string else {
      throw .model("\(name) is of words, but \(property.displayName) is no attribute of strings")
    }
  }

  private func checkRange(_ index: FetchIndexDescription, _ name: String) throws(HeartwoodError) {
    let properties = index.elements.map(\.property)
    guard properties.count == 2, properties[0] !== properties[1] else {
      throw .model(
        "\(name) is of ranges and has \(properties.map(\.displayName)): it needs two different attributes of numbers or dates"
      )
    }
    for property in properties
    where (property as? AttributeDescription)?.type.canBeInRangeIndex != true {
      throw .model(
        "\(name) is of ranges, but \(property.displayName) is no attribute of integers, floating-point numbers or dates"
      )
    }
  }

  private func check(
    _ element: FetchIndexElementDescription, of index: FetchIndexDescription, _ entity: EntityDescription
  ) throws(HeartwoodError) {
    if let expression = element.expression {
      guard element.collationType == .binary else {
        throw .model(
          "the index \(index.name) of \(entity.displayName) is of the expression \(expression), whose values are kept in their order only: use the binary collation type"
        )
      }
      // The expression itself is checked when the entities have their layouts.
      return
    }
    guard let owner = element.property.owner, entity.isKindOf(entity: owner) else {
      let name = element.property.name
      let isThere = entity.columnsByName[name] != nil
      throw .model(
        "the index \(index.name) of \(entity.displayName) is over \"\(name)\", which is no property of that entity"
          + (isThere ? ", but another one of the same name: take the entity's own" : ""))
    }
    guard !(element.property is CompositeAttributeDescription) else {
      throw .model(
        "the index \(index.name) of \(entity.displayName) is over \(element.property.displayName), "
          + "which is composite: index its elements")
    }
    guard !element.property.isTransformable else {
      throw .model(
        "the index \(index.name) of \(entity.displayName) is over \(element.property.displayName), "
          + "which is transformable and has no order")
    }
    guard !element.property.isTransient else {
      throw .model(
        "the index \(index.name) of \(entity.displayName) is over \(element.property.displayName), "
          + "which is transient and not stored")
    }
    if let relationship = element.property as? RelationshipDescription, relationship.isToMany {
      throw .model(
        "the index \(index.name) of \(entity.displayName) is over \(relationship.displayName): "
          + "a to-many relationship needs no index and can have none")
    }
    if let attribute = element.property as? AttributeDescription {
      try checkIsInRow(attribute, "the index \(index.name) of \(entity.displayName)")
    }
  }

  private func checkIsInRow(_ attribute: AttributeDescription, _ user: String) throws(HeartwoodError) {
    guard attribute.mayBeOutsideRow else { return }
    throw .model(
      "\(user) is over \(attribute.displayName), whose values may be stored outside the rows: "
        + "do not allow external storage for it")
  }
}

extension AttributeType {
  /// Whether a range index may have values of this type.
  package var canBeInRangeIndex: Bool {
    switch self {
    case .integer16, .integer32, .integer64, .double, .float, .date: true
    default: false
    }
  }
}
