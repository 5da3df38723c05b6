/// The changes in words.
extension InferredChanges {
  /// One sentence for each entity that changes, and for each of its properties that does.
  func sentences() -> [String] { inferredSentences() + problems.map { "\($0)" } }

  /// The same without what cannot be inferred.
  func inferredSentences() -> [String] {
    var sentences: [String] = []
    for entity in sorted(source) where destination(of: entity) == nil {
      sentences.append(removalText(entity))
    }
    for entity in sorted(destination) { sentences += self.sentences(about: entity) }
    for entity in sorted(destination) { sentences += lesserSentences(about: entity) }
    return sentences
  }

  func sentences(about entity: EntityDescription) -> [String] {
    guard let former = source(of: entity) else { return ["\(entity.displayName) is new"] }
    var sentences: [String] = []
    if former.name != entity.name {
      sentences.append("\(former.displayName) is renamed to \(entity.displayName)")
    }
    sentences += hierarchySentences(entity, former)
    for property in entity.ownColumns where !isPartOfNew(property, entity) {
      sentences += self.sentences(about: property, entity)
    }
    return sentences + removed(entity, former).map { removalText($0, former) }
      + constraintSentences(entity, former)
  }

  /// The entities and properties of the source that are in none of the destination, in sentences: values that the store computes are no loss.
  private var losses: [String] {
    sorted(source).flatMap { former -> [String] in
      guard let entity = destination(of: former) else {
        return former.isAbstract ? [] : [removalText(former)]
      }
      return removed(entity, former).filter { $0.derivation == nil }.map { removalText($0, former) }
    }
  }

  /// - Throws: `.stagedMigrationBackwardMigration` if something of the source is lost, with all of it.
  func requireNoLoss(_ path: String) throws(HeartwoodError) {
    let losses = losses
    guard !losses.isEmpty else { return }
    throw HeartwoodError(
      .stagedMigrationBackwardMigration,
      "the store at \(path) had this model before, and would lose what it does not have: \(losses.joined(separator: "; "))"
    )
  }

  private func removalText(_ former: EntityDescription) -> String {
    "\(former.displayName) is removed, with its objects"
  }

  private func removalText(_ property: PropertyDescription, _ former: EntityDescription) -> String {
    "\(former.displayName).\(property.name) is removed\(lossText(property))"
  }

  /// The properties that an entity loses.
  private func removed(_ entity: EntityDescription, _ former: EntityDescription) -> [PropertyDescription] {
    lost(entity, former).filter { !$0.isTransient && !isPartOfLost($0, former) }
  }

  /// The properties of an entity that neither it nor a subentity has any more, and those that it inherited if it leaves its parent without them.
  private func lost(_ entity: EntityDescription, _ former: EntityDescription) -> [PropertyDescription] {
    let own = former.ownColumns.filter { !isKept($0.slot, below: former) }
    guard changesParent(entity, former), let parent = former.superentity else { return own }
    let kept = kept(by: entity)
    let inherited = parent.slots.filter { !kept.contains($0) }.map(former.property(at:)).filter { property in
      // A loss of its owner is said of that.
      guard let owner = property.entity, destination(of: owner) != nil else { return true }
      return isKept(property.slot, below: owner)
    }
    return inherited + own
  }

  /// The source's slots that an entity of the destination has.
  private func kept(by entity: EntityDescription) -> Set<Int> {
    Set(sourceSlots[entity.displayName]?.compactMap { $0 } ?? [])
  }

  private func isKept(_ slot: Int, below former: EntityDescription) -> Bool {
    former.selfAndBelow.compactMap(destination).contains { kept(by: $0).contains(slot) }
  }

  /// Whether a composite attribute around an element is new: then the element is too.
  private func isPartOfNew(_ property: PropertyDescription, _ entity: EntityDescription) -> Bool {
    guard let whole = entity.compositeSlots(around: property.slot).last else { return false }
    return !entity.selfAndBelow.contains { sourceProperty(at: whole, of: $0) != nil }
  }

  private func isPartOfLost(_ property: PropertyDescription, _ former: EntityDescription) -> Bool {
    guard let whole = former.compositeSlots(around: property.slot).last else { return false }
    return !isKept(whole, below: former)
  }

  /// The constraints that an entity and those that inherit from it have now, or need not satisfy any more, in sentences. Those that
  /// a parent of both models gains or loses are said of that.
  private func constraintSentences(_ entity: EntityDescription, _ former: EntityDescription) -> [String] {
    let (now, before) = (constraints(of: entity), renamed(constraints(of: former), entity, former))
    let parent = entity.superentity.flatMap { source(of: $0) == nil ? nil : $0 }
    let gained = now.subtracting(before).subtracting(parent.map(constraints) ?? [])
    let owner = former.superentity.flatMap { destination(of: $0) == nil ? nil : $0 }
    let said = owner.flatMap { owner in
      destination(of: owner).map { now in
        renamed(constraints(of: owner), now, owner).subtracting(constraints(of: now))
      }
    }
    let lost = before.subtracting(now).subtracting(said ?? [])
    return [(gained, "must be unique in"), (lost, "need not be unique any more in")].compactMap {
      groups, text in
      guard !groups.isEmpty else { return nil }
      let names = groups.map { $0.sorted().joined(separator: ", ") }.sorted()
      return "\(entity.displayName) \(text) \(names.joined(separator: ", and in "))"
    }
  }

  /// Those of its own and of its ancestors.
  private func constraints(of entity: EntityDescription) -> Set<Set<String>> {
    let own = Set(entity.uniquenessConstraints.map(Set.init))
    return entity.superentity.map { own.union(constraints(of: $0)) } ?? own
  }

  private func renamed(
    _ groups: Set<Set<String>>, _ entity: EntityDescription, _ former: EntityDescription
  ) -> Set<Set<String>> {
    Set(
      groups.map { names in
        Set(
          names.map { name in
            guard let slot = former.slot(named: name),
              let now = sourceSlots[entity.displayName]?.firstIndex(of: slot)
            else { return name }
            return entity.property(at: now).name
          })
      })
  }

  private func lossText(_ property: PropertyDescription) -> String {
    property is RelationshipDescription ? ", with its links" : ", with its values"
  }

  private func hierarchySentences(_ entity: EntityDescription, _ former: EntityDescription) -> [String] {
    var sentences: [String] = []
    if changesParent(entity, former) {
      let now = entity.superentity.map { "inherits from \($0.displayName)" } ?? "inherits from nothing"
      sentences.append("\(entity.displayName) \(now)")
    }
    if entity.isAbstract != former.isAbstract {
      sentences.append("\(entity.displayName) is \(entity.isAbstract ? "" : "not ")abstract now")
    }
    return sentences
  }

  private func changesParent(_ entity: EntityDescription, _ former: EntityDescription) -> Bool {
    entity.superentity.flatMap(source) !== former.superentity
      || (entity.superentity == nil) != (former.superentity == nil)
  }

  private func sentences(about property: PropertyDescription, _ entity: EntityDescription) -> [String] {
    let name = property.displayName
    guard let former = sourceProperty(at: property.slot, of: entity) else {
      let below = entity.selfAndBelow.compactMap {
        sourceProperty(at: property.slot, of: $0)?.entity?.displayName
      }
      var owners: [String] = []
      for owner in below where !owners.contains(owner) { owners.append(owner) }
      guard owners.isEmpty else { return ["\(name) moves here from \(owners.joined(separator: " and "))"] }
      return property.isTransient ? [] : ["\(name) is new\(newText(property, entity))"]
    }
    var changes: [String] = []
    if former.entity.flatMap(destination) !== entity {
      changes.append("moves here from \(former.entity?.displayName ?? "?")")
    }
    // Elements of a renamed composite attribute are not said to be renamed themselves.
    if former.lastName != property.lastName { changes.append("is renamed from \(former.lastName)") }
    changes += kindChanges(former, property, entity)
    return changes.isEmpty ? [] : ["\(name) \(changes.joined(separator: ", and "))"]
  }

  /// The names of entities that stay, and to whose objects a relationship cannot lead any more.
  private func destinationsLost(_ old: RelationshipDescription, _ new: RelationshipDescription) -> [String] {
    old.destinationEntity.selfAndBelow.compactMap { former in
      guard !former.isAbstract, !isKept(former, in: new.destinationEntity) else { return nil }
      return destination(of: former)?.displayName
    }
  }

  private func newText(_ property: PropertyDescription, _ entity: EntityDescription) -> String {
    if let relationship = property as? RelationshipDescription {
      let inverse = relationship.inverseRelationship.flatMap { formerInverse($0) == nil ? nil : $0 }
      let links = inverse.map { ", the inverse of \($0.displayName)" } ?? " without destinations"
      return ", \(property.kindText)\(links)"
    }
    if property is CompositeAttributeDescription, !property.isOptional {
      return ", with the defaults of its elements in objects that exist"
    }
    if let derivation = property.derivation { return ", derived as \(derivation)" }
    if let text = entity.defaultValue(at: property.slot).sentenceText {
      return ", and \(text) in objects that exist"
    }
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
    if former.derivation != property.derivation {
      changes.append(
        property.derivation.map { "is derived as \($0)" } ?? "is not derived any more, and keeps its values")
    }
    if let old = former as? RelationshipDescription, let new = property as? RelationshipDescription {
      if old.kindText != new.kindText { changes.append("becomes \(new.kindText) from \(old.kindText)") }
      if (old.inverseRelationship == nil) != (new.inverseRelationship == nil) {
        changes.append(
          new.inverseRelationship.map { "gets the inverse \($0.displayName)" } ?? "loses its inverse")
      }
      let lost = destinationsLost(old, new).joined(separator: " and ")
      if !lost.isEmpty { changes.append("leads to no \(lost) any more, and loses such links") }
    }
    if former.isOptional, !property.isOptional {
      let value =
        property is CompositeAttributeDescription
        ? "the defaults of its elements" : fill(property.slot, of: entity).sentenceText
      let fill = value.map { ", with \($0) where there is no value" } ?? ""
      changes.append("becomes mandatory\(fill)")
    } else if !former.isOptional, property.isOptional {
      changes.append("becomes optional")
    }
    return changes
  }
}

extension Value {
  /// The value as a part of a sentence; nil for none.
  var sentenceText: String? { plainText.map { $0.isEmpty ? "an empty text" : $0 } }
}
