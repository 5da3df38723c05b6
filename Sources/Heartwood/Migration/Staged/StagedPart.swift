/// The part of a version, of those that stages are about, that a store has: all entities, or those of its configuration.
///
/// A version has a configuration of the same name, or else the entities that the store has, and those that it will have. They differ where
/// entities came to a configuration, or left it: the version that the store is of then has those that the store has, and the one that it is
/// opened with those that it will have. A store that is opened with all entities and has some of those of a version was of a configuration.
struct StagedPart {
  /// The name of the store's configuration; nil for all entities.
  private let configuration: String?
  /// The name of a configuration whose own name is not known any more. With a name, fetches pass over entities that the store does not
  /// have.
  private static let unnamed = "unnamed"
  /// Whether the store has all entities of each version.
  let isWhole: Bool
  private let stored: ModelPart
  private let target: ModelPart
  private let both: Set<String>
  /// Whether the store is of a version in which it has all of `both` that there is.
  private let isOfBoth: Bool

  /// - Parameters:
  ///   - configuration: The name of the store's configuration; nil for all entities.
  ///   - stored: The model that the store was written with last.
  ///   - target: Of the model that the store is migrated to, what it has.
  ///   - stages: The stages of the migration.
  /// - Throws: `.stagedMigrationModelReference` if the model of a version is missing.
  init(
    of configuration: String?, from stored: ManagedObjectModel, to target: ManagedObjectModel,
    _ stages: [MigrationStage]
  ) throws {
    self.configuration = configuration
    let (from, to) = (ModelPart(stored), ModelPart(target))
    let both = from.names.union(to.names)
    (self.stored, self.target, self.both) = (from, to, both)
    let versions = stages.flatMap(\.versions)
    isWhole = try configuration == nil && !Self.isOfConfiguration(from, versions)
    guard !isWhole else {
      isOfBoth = true
      return
    }
    isOfBoth = try versions.contains {
      try $0.hasModel && $0.resolvedModel.checksum(of: both) == from.checksum
    }
  }

  /// Whether a store that is opened with all entities has some of those of a version, as one that was of a configuration.
  private static func isOfConfiguration(_ stored: ModelPart, _ versions: [ManagedObjectModelReference]) throws
    -> Bool
  {
    guard !versions.contains(where: { $0.versionChecksum == stored.checksum }) else { return false }
    return try versions.contains { try $0.hasModel && stored.isPart(of: $0.resolvedModel) }
  }

  /// The entities of a version that the store has.
  func configuration(of version: ManagedObjectModel) throws(HeartwoodError) -> StoreConfiguration {
    guard !isWhole else { return .all }
    if let configuration, version.entityNamesByConfiguration[configuration] != nil {
      return try StoreConfiguration(configuration, of: version)
    }
    let names =
      target.isPart(of: version)
      ? target.names : !isOfBoth && stored.isPart(of: version) ? stored.names : both
    return StoreConfiguration(configuration ?? Self.unnamed, with: names, of: version)
  }

  /// The checksum of what the store has of a version. One that is given by its checksum alone is that of the store.
  ///
  /// - Throws: `.stagedMigrationModelReference` if there is no model.
  func checksum(of version: ManagedObjectModelReference) throws -> String {
    guard !isWhole, version.hasModel else { return version.versionChecksum }
    let model = try version.resolvedModel
    return model.checksum(of: try configuration(of: model).storedNames)
  }

  /// The part of a version that the store has.
  func model(_ version: ManagedObjectModel) throws(HeartwoodError) -> ManagedObjectModel {
    try version.part(configuration(of: version).storedNames)
  }

  /// The checksums of what the store has of a stage's versions, oldest first. Versions that are the same to it are one.
  func checksums(of stage: MigrationStage) throws -> [String] {
    let all = try stage.versions.map(checksum)
    guard !isWhole else { return all }
    return all.enumerated().filter { $0 == 0 || all[$0 - 1] != $1 }.map(\.element)
  }

  /// Whether the store is of the version that it is migrated to, and only the entities of its configuration are others.
  func isOfTarget(_ stages: [MigrationStage]) throws -> Bool {
    guard !isWhole else { return false }
    return try stages.flatMap(\.versions).contains { version in
      guard version.hasModel else { return false }
      let model = try version.resolvedModel
      return stored.isPart(of: model) && target.isPart(of: model)
    }
  }
}

/// A model that may be a part of others.
private struct ModelPart {
  let names: Set<String>
  let checksum: String

  init(_ model: ManagedObjectModel) {
    names = Set(model.entitiesByName.keys)
    checksum = model.versionChecksum
  }

  func isPart(of version: ManagedObjectModel) -> Bool { version.checksum(of: names) == checksum }
}

extension ManagedObjectModel {
  /// The checksum of a part of the model; of all entities if `names` is nil.
  fileprivate func checksum(of names: Set<String>?) -> String {
    guard let names else { return versionChecksum }
    return Self.checksum(
      of: entitiesByName.filter { names.contains($0.key) }.mapValues(\.ownVersionHash))
  }
}
