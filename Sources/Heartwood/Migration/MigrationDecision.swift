import Foundation

/// A store's record of the model that it was written with.
struct StoreVersion {
  /// Where the store is, for messages.
  let place: String
  /// Why the store cannot be opened with the wanted model as it is; nil if it can.
  let difference: HeartwoodError?
  /// The stage whose handler has still to run.
  let pendingStage: String?
  /// The checksums of the models that the store had before.
  let formerModels: [String]
  /// Reads the model that the store was written with; throws `.migrationMissingSourceModel` if the store does not keep it.
  let model: () throws -> ManagedObjectModel
}

/// The way in which a store is opened with a model: decided here for every kind of store, for openings and rehearsals.
enum MigrationDecision {
  /// The store is opened as it is, but for what differs without effect on its rows.
  case open
  /// The store goes through the stages of a manager.
  case stages(StagedMigrationManager)
  /// A mapping makes another store. `formerModels` are those of that.
  case map(MappingModel, from: ManagedObjectModel, formerModels: [String])
  /// The migration of each row is inferred from the two models.
  case infer(from: ManagedObjectModel, formerModels: [String])

  /// The first row that fits decides:
  ///
  /// | the store | the program | decision |
  /// |---|---|---|
  /// | has a pending stage | writes, is in no stage, migrates, has a manager | stages |
  /// | has a pending stage | writes, is in no stage | refused: unfinished stage |
  /// | has no difference | | open |
  /// | differs | does not migrate | refused: the difference |
  /// | differs | only reads | refused: open it for writing |
  /// | differs | has a manager | stages |
  /// | differs, and its model is not known | | refused: no source model |
  /// | had the model before | does not allow that | refused: a newer program has migrated it |
  /// | differs | has or finds a mapping that is not the inferred one | map, or refused: it is not complete |
  /// | differs | has the inferred mapping, or infers | infer |
  /// | differs | | refused: no mapping |
  ///
  /// Before any of them, `reading(_:_:_:)` refuses stages of a store whose record only a newer version of the library reads.
  ///
  /// - Parameters:
  ///   - wishes: The description that the program opens the store with.
  ///   - target: The model that the store is to have: of a configuration, its part.
  /// - Throws: The refusals, with their codes; what reading the store's model and finding a mapping throw.
  init(of version: StoreVersion, _ wishes: PersistentStoreDescription, to target: ManagedObjectModel) throws {
    if let stage = version.pendingStage, !wishes.isReadOnly, !wishes.isInStage {
      guard wishes.shouldMigrateStoreAutomatically, let manager = wishes.stagedMigrationManager else {
        throw HeartwoodError.unfinishedStage(stage, version.place)
      }
      self = .stages(manager)
      return
    }
    guard let difference = version.difference else {
      self = .open
      return
    }
    guard wishes.shouldMigrateStoreAutomatically else { throw difference }
    guard !wishes.isReadOnly else {
      throw HeartwoodError(
        difference.code,
        "\(difference.message): it cannot be migrated, because it is opened read-only; open it for writing")
    }
    if let manager = wishes.stagedMigrationManager {
      self = .stages(manager)
      return
    }
    let source = try version.model()
    let former = try StoreMetadata.formerModels(
      version.formerModels, of: target, after: source, wishes.allowsMigrationToFormerModel, version.place)
    let mapping = try wishes.mappingModel ?? wishes.mappingModelFinder?.find(source, target)
    if let mapping, !mapping.isInferred(from: source, to: target) {
      try mapping.requireEntities(of: source, in: target, version.place)
      self = .map(mapping, from: source, formerModels: former)
      return
    }
    guard mapping != nil || wishes.shouldInferMappingModelAutomatically else {
      throw HeartwoodError(
        .migrationMissingMappingModel,
        "\(difference.message): there is no mapping model: give one, or set "
          + "shouldInferMappingModelAutomatically")
    }
    self = .infer(from: source, formerModels: former)
  }

  /// Runs `body`, which reads the record of the store at a URL.
  ///
  /// - Throws: The error of `body`; `.stagedMigrationFrameworkVersionMismatch` if there are stages, and the record is of a newer format.
  static func reading<Result>(
    _ url: URL, _ wishes: PersistentStoreDescription, _ body: () throws -> Result
  ) throws -> Result {
    do {
      return try body()
    } catch let error as HeartwoodError
      where error.underlying is NewerSchemaRecord && wishes.stagedMigrationManager != nil
    {
      throw HeartwoodError(
        .stagedMigrationFrameworkVersionMismatch,
        "the store at \(LogStore.path(of: url)) cannot be migrated in stages: \(error.message)",
        underlying: error)
    }
  }
}

extension StoreVersion {
  /// The version of a store on the engine.
  ///
  /// - Parameters:
  ///   - target: The model that the store is to have.
  ///   - difference: Why it cannot be opened, if that is known; otherwise a sentence is made of what differs.
  ///   - prepare: Is given the store's model as it is read.
  /// - Throws: If there is no store with a model.
  init(
    at url: URL, _ options: LogStoreOptions, to target: ManagedObjectModel,
    difference known: HeartwoodError? = nil, _ prepare: ((ManagedObjectModel) -> Void)?
  ) throws {
    var reading = options
    (reading.isReadOnly, reading.createsStore) = (true, false)
    let (record, metadata, _) = try LogStore.metadata(at: url, options: reading)
    let place = LogStore.path(of: url)
    let differences = try record.differences(from: SchemaRecord(numbering: target))
    self.init(
      place: place,
      difference: differences.isEmpty
        ? nil : known ?? .otherModel(place, differences.joined(separator: "; ")),
      pendingStage: metadata.pendingStage, formerModels: metadata.formerModels
    ) {
      try record.model.withUnsafeBytes { try ManagedObjectModel(decoding: $0, prepare: prepare) }
    }
  }
}

extension HeartwoodError {
  /// - Parameter what: The difference, with its verb.
  static func otherModel(_ place: String, _ what: String) -> HeartwoodError {
    HeartwoodError(
      .persistentStoreIncompatibleVersionHash,
      "the store at \(place) was written with another model: \(what)")
  }
}
