/// The names of options of stores. The values are Core Data's.
public let NSReadOnlyPersistentStoreOption = "NSReadOnlyPersistentStoreOption"
/// A key or option of stores, with Core Data's text.
public let NSValidateXMLStoreOption = "NSValidateXMLStoreOption"
/// A key or option of stores, with Core Data's text.
public let NSPersistentStoreTimeoutOption = "NSPersistentStoreTimeoutOption"
/// A key or option of stores, with Core Data's text.
public let NSSQLitePragmasOption = "NSSQLitePragmasOption"
/// A key or option of stores, with Core Data's text.
public let NSSQLiteAnalyzeOption = "NSSQLiteAnalyzeOption"
/// A key or option of stores, with Core Data's text.
public let NSSQLiteManualVacuumOption = "NSSQLiteManualVacuumOption"
/// A key or option of stores, with Core Data's text.
public let NSIgnorePersistentStoreVersioningOption = "NSIgnorePersistentStoreVersioningOption"
/// A key or option of stores, with Core Data's text.
public let NSMigratePersistentStoresAutomaticallyOption = "NSMigratePersistentStoresAutomaticallyOption"
/// A key or option of stores, with Core Data's text.
public let NSInferMappingModelAutomaticallyOption = "NSInferMappingModelAutomaticallyOption"
/// A key or option of stores, with Core Data's text.
public let NSStoreModelVersionHashesKey = "NSStoreModelVersionHashes"
/// A key or option of stores, with Core Data's text.
public let NSStoreModelVersionIdentifiersKey = "NSStoreModelVersionIdentifiers"
/// A key or option of stores, with Core Data's text.
public let NSPersistentStoreOSCompatibility = "NSPersistentStoreOSCompatibility"
/// A key or option of stores, with Core Data's text.
public let NSPersistentStoreConnectionPoolMaxSizeKey = "NSPersistentStoreConnectionPoolMaxSize"
/// A key or option of stores, with Core Data's text.
public let NSPersistentHistoryTrackingKey = "NSPersistentHistoryTrackingKey"
/// A key or option of stores, with Core Data's text.
public let NSBinaryStoreSecureDecodingClasses = "NSBinaryStoreSecureDecodingClasses"
/// A key or option of stores, with Core Data's text.
public let NSBinaryStoreInsecureDecodingCompatibilityOption =
  "NSBinaryStoreInsecureDecodingCompatibilityOption"
/// A key or option of stores, with Core Data's text.
public let NSPersistentStoreForceDestroyOption = "NSPersistentStoreForceDestroyOption"
/// A key or option of stores, with Core Data's text.
public let NSPersistentStoreFileProtectionKey = "NSPersistentStoreFileProtectionKey"
/// A key or option of stores, with Core Data's text.
public let NSPersistentStoreRemoteChangeNotificationPostOptionKey =
  "NSPersistentStoreRemoteChangeNotificationOptionKey"
/// A key or option of stores, with Core Data's text.
public let NSPersistentStoreDeferredLightweightMigrationOptionKey =
  "NSPersistentStoreDeferredLightweightMigrationOptionKey"
/// A key or option of stores, with Core Data's text.
public let NSPersistentStoreStagedMigrationManagerOptionKey =
  "NSPersistentStoreStagedMigrationManagerOptionKey"
/// A key or option of stores, with Core Data's text.
public let NSPersistentStoreModelVersionChecksumKey = "NSStoreModelVersionChecksumKey"
/// A key or option of stores, with Core Data's text.
public let NSCoreDataCoreSpotlightExporter = "NSCoreDataCoreSpotlightExporter"
/// The keys of the metadata of stores.
public let NSStoreTypeKey = "NSStoreType"
/// A key or option of stores, with Core Data's text.
public let NSStoreUUIDKey = "NSStoreUUID"
/// The keys of notifications of coordinators.
public let NSAddedPersistentStoresKey = "added"
/// A key or option of stores, with Core Data's text.
public let NSRemovedPersistentStoresKey = "removed"
/// A key or option of stores, with Core Data's text.
public let NSUUIDChangedPersistentStoresKey = "changed"
/// A key or option of stores, with Core Data's text.
public let NSPersistentStoreURLKey = "storeURL"
/// A key or option of stores, with Core Data's text.
public let NSPersistentHistoryTokenKey = "historyToken"
