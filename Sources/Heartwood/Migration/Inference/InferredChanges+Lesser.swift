/// Changes that are in no version hash: they need no migration, and are taken over when the store is opened.
extension InferredChanges {
  func lesserSentences(about entity: EntityDescription) -> [String] {
    guard let former = source(of: entity) else { return [] }
    var sentences: [String] = []
    for property in entity.ownColumns {
      guard let old = sourceProperty(at: property.slot, of: entity) else { continue }
      let changes = lesserChanges(old, former, property, entity)
      if !changes.isEmpty {
        sentences.append("\(property.displayName) \(changes.joined(separator: ", and "))")
      }
    }
    let (now, before) = (indexes(of: entity), formerIndexes(of: entity, former))
    for (index, _) in now.filter({ before[$0.key] == nil }).sorted(by: { $0.value < $1.value }) {
      sentences.append("\(entity.displayName) gets \(index.text)")
    }
    for (index, _) in before.filter({ now[$0.key] == nil }).sorted(by: { $0.value < $1.value }) {
      sentences.append("\(entity.displayName) has no \(index.text.dropFirst(3)) any more")
    }
    return sentences
  }

  /// By what they are of, the names of an entity's indexes of properties that the source has too.
  private func indexes(of entity: EntityDescription) -> [IndexSubject: String] {
    var found: [IndexSubject: String] = [:]
    for index in entity.indexes {
      let properties = index.elements.map(\.path)
      let isKnown = index.elements.allSatisfy { element in
        element.expression != nil
          || entity.slot(named: element.path).flatMap { sourceSlot($0, of: entity) } != nil
      }
      if isKnown {
        found[
          IndexSubject(
            properties: properties, collation: index.collationType, condition: index.condition)] = index.name
      }
    }
    return found
  }

  /// The same for the source's entity, with the names that its properties have now.
  private func formerIndexes(
    of entity: EntityDescription, _ former: EntityDescription
  ) -> [IndexSubject: String] {
    var found: [IndexSubject: String] = [:]
    for index in former.indexes {
      let names = index.elements.compactMap { element -> String? in
        if let expression = element.expression { return expression }
        guard let slot = former.slot(named: element.path),
          let now = sourceSlots[entity.displayName]?.firstIndex(of: slot)
        else { return nil }
        return entity.property(at: now).name
      }
      if names.count == index.elements.count {
        found[
          IndexSubject(
            properties: names, collation: index.collationType, condition: index.condition)] = index.name
      }
    }
    return found
  }

  private func lesserChanges(
    _ old: PropertyDescription, _ former: EntityDescription, _ new: PropertyDescription,
    _ entity: EntityDescription
  ) -> [String] {
    if let old = old as? RelationshipDescription, let new = new as? RelationshipDescription {
      return old.deleteRule == new.deleteRule ? [] : ["has the delete rule \(new.deleteRule.word)"]
    }
    guard let old = old as? AttributeDescription, let new = new as? AttributeDescription else { return [] }
    var changes: [String] = []
    // A default that fills missing values is said with that.
    if new.type != .composite, !old.isOptional || new.isOptional, let slot = sourceSlot(new.slot, of: entity)
    {
      let (before, now) = (former.defaultValue(at: slot), entity.defaultValue(at: new.slot))
      if before.plainText != now.plainText, before != now {
        changes.append(now.sentenceText.map { "has the default \($0)" } ?? "has no default any more")
      }
    }
    if Set(old.validationRules) != Set(new.validationRules) {
      changes.append(new.validationRules.isEmpty ? "has no rules any more" : "has other rules")
    }
    if old.preservesValueInHistoryOnDeletion != new.preservesValueInHistoryOnDeletion {
      let keeps = new.preservesValueInHistoryOnDeletion
      changes.append("is \(keeps ? "kept" : "not kept") in the history of deleted objects")
    }
    if old.preservesValueInHistoryOnUpdate != new.preservesValueInHistoryOnUpdate {
      let keeps = new.preservesValueInHistoryOnUpdate
      changes.append("has its former values \(keeps ? "kept" : "not kept") in the history")
    }
    if old.mayBeOutsideRow != new.mayBeOutsideRow {
      changes.append("is stored \(new.mayBeOutsideRow ? "outside of" : "in") rows when it is next set")
    }
    return changes
  }
}

/// The subject of an index.
private struct IndexSubject: Hashable {
  let properties: [String]
  let collation: FetchIndexElementDescription.CollationType
  let condition: String?

  var text: String {
    let kind =
      switch collation {
      case .binary: ""
      case .rTree: "the ranges of "
      case .words: "the words of "
      }
    let objects = condition.map { " of objects with \($0)" } ?? ""
    return "an index of \(kind)\(properties.joined(separator: ", "))\(objects)"
  }
}

extension DeleteRule {
  fileprivate var word: String {
    switch self {
    case .noActionDeleteRule: "no action"
    case .nullifyDeleteRule: "nullify"
    case .cascadeDeleteRule: "cascade"
    case .denyDeleteRule: "deny"
    }
  }
}
