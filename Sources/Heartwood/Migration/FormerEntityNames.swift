/// The names that entities had in former models: URIs of objects may have them.
extension StoreMetadata {
  /// The present names by the former ones. A name that an entity has now is none of them.
  var formerEntityNames: [String: String] {
    get {
      guard case .dictionary(let names)? = values[PersistentStore.MetadataKey.formerEntityNames] else {
        return [:]
      }
      return names.compactMapValues(\.text)
    }
    set {
      let names = newValue.mapValues { MetadataValue.scalar(.string($0)) }
      values[PersistentStore.MetadataKey.formerEntityNames] = names.isEmpty ? nil : .dictionary(names)
    }
  }

  /// Keeps the names of entities that a migration renames.
  mutating func noteRenamedEntities(_ changes: InferredChanges) {
    var names: [String: String] = [:]
    let entities = changes.destination.entitiesByName
    func note(_ former: String, _ name: String) {
      guard let entity = changes.destinations[name], entity.displayName != former,
        entities[former] == nil
      else { return }
      names[former] = entity.displayName
    }
    for (former, name) in formerEntityNames { note(former, name) }
    for entity in changes.source.entities { note(entity.displayName, entity.displayName) }
    formerEntityNames = names
  }
}

extension LogStore {
  /// The entity that a URI names: by its name, or by one that it had in a former model of the store.
  func entity(inURI name: String, _ model: ManagedObjectModel) -> EntityDescription? {
    if let entity = model.entitiesByName[name] { return entity }
    // Metadata that a program has set and not saved yet has no such names.
    guard let metadata = try? StoreMetadata(in: engine.snapshot()) else { return nil }
    return metadata.formerEntityNames[name].flatMap { model.entitiesByName[$0] }
  }
}
