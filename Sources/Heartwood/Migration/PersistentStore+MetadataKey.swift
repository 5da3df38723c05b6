extension PersistentStore {
  /// Keys of the store's own values in its metadata, equal to those of Core Data's constants.
  public enum MetadataKey {
    /// The kind of store, a `String`.
    public static let storeType = "NSStoreType"
    /// The identifier of the store, a `String`. A copy of a store has the same one.
    public static let storeUUID = "NSStoreUUID"
    /// The version hashes of the entities, a `[String: Data]`.
    public static let modelVersionHashes = "NSStoreModelVersionHashes"
    /// The version identifiers of the model, a `[String]`.
    public static let modelVersionIdentifiers = "NSStoreModelVersionIdentifiers"
    /// The version checksum of the model, a `String`.
    public static let modelVersionChecksum = "NSStoreModelVersionChecksumKey"

    /// There, and true, while rows of a former model remain: see `PersistentStoreCoordinator.finishDeferredLightweightMigration()`.
    public static let hasDeferredLightweightMigration =
      "NSPersistentStoreDeferredLightweightMigrationOptionKey"

    /// There while the last stage of a staged migration is not finished: its name, a `String`.
    public static let pendingMigrationStage = "HeartwoodPendingMigrationStage"

    /// Which transactions the handlers of stages have saved, a `[String]` of ranges of their numbers such as `12-15`; absent if there are none.
    public static let migrationTransactions = "HeartwoodMigrationTransactions"

    /// The version checksums of the models that the store had before, oldest first, a `[String]`; absent if it has had one model.
    public static let formerModelVersionChecksums = "HeartwoodFormerModelVersionChecksums"

    /// The names that entities had in former models, with those that they have now, a `[String: String]`; absent if none was renamed.
    public static let formerEntityNames = "HeartwoodFormerEntityNames"

    /// The store of which a mapping model has made this one, a `[String: Any]` with its identifier and the number of its last transaction;
    /// absent if none has.
    static let formerStore = "HeartwoodFormerStore"

    /// The model that the store was written with, as bytes, a `Data`: of custom stores only, in `storedMetadata`. A class that
    /// keeps it can be migrated.
    public static let modelData = "HeartwoodModel"

    static let all: Set<String> = [
      storeType, storeUUID, modelVersionHashes, modelVersionIdentifiers, modelVersionChecksum,
      hasDeferredLightweightMigration, pendingMigrationStage, migrationTransactions,
      formerModelVersionChecksums, formerEntityNames, formerStore, modelData,
    ]
  }
}
