/// The changes in words.
extension InferredChanges {
  /// One sentence for each entity that changes, and for each of its properties that does.
  func sentences() -> [String] {
    var sentences: [String] = []
    for entity in sorted(source) where destination(of: entity) == nil {
      sentences.append("\(entity.displayName) is removed, with its objects")
    }
    for entity in sorted(destination) { sentences += self.sentences(about: entity) }
    return sentences + problems.map { "\($0)" }
  }

  func sentences(about entity: EntityDescription) -> [String] {
    guard let former = source(of: entity) else { return ["\(entity.displayName) is new"] }
    var sentences: [String] = []
    if former.name != entity.name {
      sentences.append("\(former.displayName) is renamed to \(entity.displayName)")
    }
    sentences += hierarchySentences(entity, former)
    for property in entity.ownColumns { sentences += self.sentences(about: property, entity) }
    // Properties that a parent or a subentity has now are not lost.
    let kept = Set(sourceSlots[entity.displayName]?.compactMap { $0 } ?? [])
    for property in former.ownColumns where !kept.contains(property.slot) && !property.isTransient {
      sentences.append("\(former.displayName).\(property.name) is removed\(lossText(property))")
    }
    if Set(entity.uniquenessConstraints.map(Set.init))
      != Set(renamed(former.uniquenessConstraints, entity, former))
    {
      let groups = entity.uniquenessConstraints.map { $0.joined(separator: ", ") }
      sentences.append(
        groups.isEmpty
          ? "\(entity.displayName) has no uniqueness constraints any more"
          : "\(entity.displayName) must be unique in \(groups.joined(separator: ", and in "))")
    }
    return sentences
  }

  private func renamed(
    _ groups: [[String]], _ entity: EntityDescription, _ former: EntityDescription
  ) -> [Set<String>] {
    groups.map { names in
      Set(
        names.map { name in
          guard let slot = former.slot(named: name),
            let now = sourceSlots[entity.displayName]?.firstIndex(of: slot)
          else { return name }
          return entity.property(at: now).name
        })
    }
  }

  private func lossText(_ property: PropertyDescription) -> String {
    property is RelationshipDescription ? ", with its links" : ", with its values"
  }

  private func hierarchySentences(_ entity: EntityDescription, _ former: EntityDescription) -> [String] {
    let parent = entity.superentity.flatMap(source)
    var sentences: [String] = []
    if parent !== former.superentity || (entity.superentity == nil) != (former.superentity == nil) {
      let now = entity.superentity.map { "inherits from \($0.displayName)" } ?? "inherits from nothing"
      sentences.append("\(entity.displayName) \(now)")
    }
    if entity.isAbstract != former.isAbstract {
      sentences.append("\(entity.displayName) is \(entity.isAbstract ? "" : "not ")abstract now")
    }
    return sentences
  }

  private func sentences(about property: PropertyDescription, _ entity: EntityDescription) -> [String] {
    let name = property.displayName
    guard let former = sourceProperty(at: property.slot, of: entity) else {
      return property.isTransient ? [] : ["\(name) is new\(newText(property, entity))"]
    }
    var changes: [String] = []
    if former.entity.flatMap(destination) !== entity {
      changes.append("moves here from \(former.entity?.displayName ?? "?")")
    }
    if former.name != property.name { changes.append("is renamed from \(former.name)") }
    changes += kindChanges(former, property, entity)
    return changes.isEmpty ? [] : ["\(name) \(changes.joined(separator: ", and "))"]
  }

  private func newText(_ property: PropertyDescription, _ entity: EntityDescription) -> String {
    guard property is AttributeDescription else { return ", \(property.kindText) without destinations" }
    let value = entity.defaultValue(at: property.slot)
    if let text = value.plainText { return ", and \(text) in objects that exist" }
    return property.isOptional ? ", and empty in objects that exist" : ", mandatory, and has no default"
  }

  private func kindChanges(
    _ former: PropertyDescription, _ property: PropertyDescription, _ entity: EntityDescription
  ) -> [String] {
    var changes: [String] = []
    if let old = former as? AttributeDescription, let new = property as? AttributeDescription,
      old.type != new.type
    {
      changes.append("becomes \(new.type) from \(old.type)")
    }
    if let old = former as? RelationshipDescription, let new = property as? RelationshipDescription {
      if old.kindText != new.kindText { changes.append("becomes \(new.kindText) from \(old.kindText)") }
      if (old.inverseRelationship == nil) != (new.inverseRelationship == nil) {
        changes.append(
          new.inverseRelationship.map { "gets the inverse \($0.displayName)" } ?? "loses its inverse")
      }
    }
    if former.isOptional, !property.isOptional {
      let fill =
        fill(property.slot, of: entity).plainText.map { ", with \($0) where there is no value" } ?? ""
      changes.append("becomes mandatory\(fill)")
    } else if !former.isOptional, property.isOptional {
      changes.append("becomes optional")
    }
    return changes
  }
}
