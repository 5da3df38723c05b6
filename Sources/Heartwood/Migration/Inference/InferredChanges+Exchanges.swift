/// Names that a model exchanges. What has the same form has the same version hash then, so that no migration is needed that would
/// exchange the values.
extension InferredChanges {
  /// Which entities and properties have the name of another one that stays, in sentences without an end.
  private func exchanges() -> [String] {
    sorted(destination).flatMap { entity -> [String] in
      guard let former = source(of: entity) else { return [] }
      var exchanges: [String] = []
      if former.displayName != entity.displayName, sources[former.displayName] != nil {
        exchanges.append("\(entity.displayName) is renamed from \(former.displayName)")
      }
      for property in entity.ownColumns {
        guard let old = sourceProperty(at: property.slot, of: entity), old.name != property.name,
          let other = entity.slot(named: old.name), sourceSlot(other, of: entity) != nil
        else { continue }
        exchanges.append("\(property.displayName) is renamed from \(old.name)")
      }
      return exchanges
    }
  }

  /// Which names are exchanged, and what to do, in a sentence without an end; nil if none are.
  ///
  /// - Precondition: The models have the same version hashes.
  var reasonAgainstExchanges: String? {
    let exchanges = exchanges()
    guard !exchanges.isEmpty else { return nil }
    return
      "\(exchanges.joined(separator: ", and ")), which leaves the version hash as it is: give one of them another versionHashModifier"
  }

  /// - Precondition: The models have the same version hashes.
  /// - Throws: `.inferredMappingModel` if names are exchanged.
  func refuseExchanges(_ path: String) throws(HeartwoodError) {
    guard let reason = reasonAgainstExchanges else { return }
    throw HeartwoodError(.inferredMappingModel, "the store at \(path) cannot be migrated: \(reason)")
  }
}

/// Exchanges that may be taken back. Renaming identifiers that stay say that nothing has changed, and so do those that are removed once all
/// stores have the new names; another modifier says that something has.
extension InferredChanges {
  /// Refuses entities that have the names that they got by an exchange, and another `versionHashModifier`.
  func checkExchangedEntities() {
    let names = Self.exchanged(source.entities.map { ($0.displayName, $0.formerName) })
    for entity in sorted(destination) {
      guard let former = source(of: entity), former.displayName == entity.displayName,
        names.contains(entity.displayName), former.versionHashModifier != entity.versionHashModifier
      else { continue }
      refuse(entity, nil, Self.unclear(former.formerName))
    }
  }

  /// The same for an entity's own properties.
  func checkExchangedProperties(of entity: EntityDescription) {
    guard let former = source(of: entity) else { return }
    let names = Self.exchanged(
      former.slots.map(former.property(at:)).map { ($0.name, $0.formerName) })
    guard !names.isEmpty else { return }
    for property in entity.ownColumns {
      guard let old = sourceProperty(at: property.slot, of: entity), old.name == property.name,
        names.contains(old.name), old.versionHashModifier != property.versionHashModifier
      else { continue }
      refuse(entity, property, Self.unclear(old.formerName))
    }
  }

  /// The names that follow one another in a circle, each renamed from the next.
  private static func exchanged(_ elements: [(name: String, renamed: String?)]) -> Set<String> {
    var next: [String: String] = [:]
    for (name, renamed) in elements where renamed != nil && renamed != name { next[name] = renamed }
    return Set(
      next.keys.filter { name in
        var place = next[name]
        var steps = 0
        while let current = place, current != name, steps < next.count {
          place = next[current]
          steps += 1
        }
        return place == name
      })
  }

  private static func unclear(_ other: String?) -> String {
    "was exchanged with \(other ?? "another one") in the version of the store, and has another versionHashModifier now: whether the two "
      + "are exchanged back is not known; leave the modifier as it was if they are not, and map them if they are, or rename them in two "
      + "versions over a third name"
  }
}
