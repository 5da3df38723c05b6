/// Numbering a model, and comparing it with the model of a store.
extension SchemaRecord {
  /// The record of a new store. Entities have the model's numbers; properties are numbered in slot order,
  /// indexes in the order of their declaration.
  ///
  /// - Throws: `.coreData` if the model has more than 65534 properties or indexes.
  ///
  /// - Parameter names: The entities that the store has; nil for all.
  init(numbering model: ManagedObjectModel, _ names: Set<String>? = nil) throws(HeartwoodError) {
    var next: UInt16 = 1
    entities = []
    for entity in model.entities.sorted(by: { $0.number < $1.number })
    where names?.contains(entity.displayName) != false {
      var properties: [Property] = []
      for property in entity.ownColumns.sorted(by: { $0.slot < $1.slot }) {
        properties.append(Property(name: property.name, number: next))
        guard next < .max else { throw .model("the model has more than 65534 properties") }
        next += 1
      }
      entities.append(
        Entity(
          name: entity.displayName, number: entity.number, versionHash: Array(entity.ownVersionHash),
          properties: properties, storage: Storage(number: entity.number)))
    }
    nextPropertyNumber = next
    nextEntityNumber = (entities.map(\.number).max() ?? 0) + 1
    self.model = try model.encoded(names)
    indexes = []
    nextIndexNumber = 1
    try takeIndexes(of: model, names)
  }

  /// Replaces the indexes by those that a model declares. Indexes that exist already keep their numbers.
  ///
  /// - Returns: the indexes to build and the indexes to drop.
  /// - Throws: `.coreData` if the store has no index number left.
  @discardableResult
  mutating func takeIndexes(
    of model: ManagedObjectModel, _ names: Set<String>? = nil
  ) throws(HeartwoodError) -> (new: [Index], old: [Index]) {
    var kept: [Index] = []
    var new: [Index] = []
    for declared in Self.declaredIndexes(of: model, names) {
      if let known = indexes.first(where: { $0.isSame(as: declared) }) {
        kept.append(known)
        continue
      }
      var index = declared
      index.number = nextIndexNumber
      guard nextIndexNumber < .max else {
        throw .model("65534 indexes were made in this store; no more can be")
      }
      nextIndexNumber += 1
      new.append(index)
    }
    let old = indexes.filter { index in !kept.contains(index) }
    indexes = kept + new
    return (new, old)
  }

  /// The fetch indexes and uniqueness constraints of a model, without numbers.
  static func declaredIndexes(of model: ManagedObjectModel, _ names: Set<String>? = nil) -> [Index] {
    var indexes: [Index] = []
    for entity in model.entities.sorted(by: { $0.number < $1.number })
    where names?.contains(entity.displayName) != false {
      for index in entity.indexes {
        indexes.append(
          Index(
            entity: entity.displayName, name: index.name, kind: StoreIndex.Kind(index.collationType),
            number: 0,
            properties: index.elements.map(\.path), condition: index.condition ?? ""))
      }
      for names in entity.uniquenessConstraints {
        indexes.append(
          Index(
            entity: entity.displayName, name: names.joined(separator: ","), kind: .unique, number: 0,
            properties: names))
      }
    }
    return indexes
  }
}

extension StoreIndex.Kind {
  fileprivate init(_ collation: FetchIndexElementDescription.CollationType) {
    switch collation {
    case .binary: self = .ordered
    case .words: self = .words
    case .rTree: self = .ranges
    }
  }
}

extension SchemaRecord.Index {
  fileprivate func isSame(as other: SchemaRecord.Index) -> Bool {
    entity == other.entity && name == other.name && kind == other.kind
      && properties == other.properties && condition == other.condition
  }
}

extension SchemaRecord {
  /// The differences between the store's model (this record) and another one, one sentence each. Indexes are
  /// not compared.
  func differences(from other: SchemaRecord) -> [String] {
    let ours = Dictionary(entities.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
    let theirs = Dictionary(other.entities.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
    let missing = ours.keys.filter { theirs[$0] == nil }.sorted().map { "the entity \($0) is missing" }
    let new = theirs.keys.filter { ours[$0] == nil }.sorted().map { "the entity \($0) is new" }
    let changed = entities.compactMap { entity in
      theirs[entity.name].flatMap { entity.difference(from: $0) }
    }
    // Numbers are no difference: a migrated store keeps those that its entities had.
    return missing + new + changed
  }
}

extension SchemaRecord.Entity {
  fileprivate func difference(from other: SchemaRecord.Entity) -> String? {
    let names = properties.map(\.name)
    let otherNames = other.properties.map(\.name)
    let missing = names.filter { !otherNames.contains($0) }.map { "\(name).\($0) is missing" }
    let new = otherNames.filter { !names.contains($0) }.map { "\(name).\($0) is new" }
    if !missing.isEmpty || !new.isEmpty { return (missing + new).joined(separator: ", ") }
    if versionHash != other.versionHash { return "the properties of \(name) are of other kinds" }
    if names != otherNames { return "the properties of \(name) are declared in another order" }
    return nil
  }
}

extension HeartwoodError {
  static func incompatible(_ path: String, _ differences: [String]) -> HeartwoodError {
    HeartwoodError(
      .persistentStoreIncompatibleVersionHash,
      "the store at \(path) was written with another model: \(differences.joined(separator: "; ")); "
        + "open it with that model, or allow its migration")
  }

  /// The error of a store that was migrated after it was opened.
  static func migrated(_ path: String, _ differences: [String]) -> HeartwoodError {
    HeartwoodError(
      .persistentStoreIncompatibleVersionHash,
      "the store at \(path) was migrated to another model after it was opened here, by another process or another coordinator: "
        + "\(differences.joined(separator: "; ")); close it, and open it again with its model")
  }
}
