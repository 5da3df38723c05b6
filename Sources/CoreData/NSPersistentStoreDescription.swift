import Foundation
import Heartwood

/// How a store is opened.
open class NSPersistentStoreDescription: NSObject, NSCopying {
  /// Where the store is. Nothing is stored at `/dev/null`: the store is in memory.
  open var url: URL?
  /// The configuration whose entities the store has; nil for all.
  open var configuration: String?
  /// The kind of the store, such as `NSSQLiteStoreType`, which is a store of Heartwood's engine.
  open var type = NSSQLiteStoreType
  /// Whether the store is opened in the background.
  open var shouldAddStoreAsynchronously = false
  /// The options, by the names of constants such as `NSPersistentHistoryTrackingKey`.
  open private(set) var options: [String: NSObject] = [
    NSMigratePersistentStoresAutomaticallyOption: NSNumber(value: true),
    NSInferMappingModelAutomaticallyOption: NSNumber(value: true),
  ]

  /// A store at a place.
  public init(url: URL) { self.url = url }
  /// A store without a place.
  public override init() {}

  /// Sets an option; nil for its default.
  open func setOption(_ option: NSObject?, forKey key: String) { options[key] = option }

  private func flag(_ key: String, _ fallback: Bool) -> Bool {
    (options[key] as? NSNumber)?.boolValue ?? fallback
  }

  /// Whether the store is only read.
  open var isReadOnly: Bool {
    get { flag(NSReadOnlyPersistentStoreOption, false) }
    set { options[NSReadOnlyPersistentStoreOption] = NSNumber(value: newValue) }
  }
  /// How many seconds opening waits for another process.
  open var timeout: TimeInterval {
    get { (options[NSPersistentStoreTimeoutOption] as? NSNumber)?.doubleValue ?? 240 }
    set { options[NSPersistentStoreTimeoutOption] = NSNumber(value: newValue) }
  }
  /// Whether a store of a former model is migrated.
  open var shouldMigrateStoreAutomatically: Bool {
    get { flag(NSMigratePersistentStoresAutomaticallyOption, true) }
    set { options[NSMigratePersistentStoresAutomaticallyOption] = NSNumber(value: newValue) }
  }
  /// Whether the mapping of a migration is inferred.
  open var shouldInferMappingModelAutomatically: Bool {
    get { flag(NSInferMappingModelAutomaticallyOption, true) }
    set { options[NSInferMappingModelAutomaticallyOption] = NSNumber(value: newValue) }
  }
  /// The settings of SQLite, which have no meaning here.
  open var sqlitePragmas: [String: NSObject] {
    options[NSSQLitePragmasOption] as? NSDictionary as? [String: NSObject] ?? [:]
  }
  /// Keeps a setting of SQLite, which has no effect.
  open func setValue(_ value: NSObject?, forPragmaNamed name: String) {
    var pragmas = sqlitePragmas
    pragmas[name] = value
    options[NSSQLitePragmasOption] = NSDictionary(dictionary: pragmas)
  }

  /// A description with the same settings.
  open func copy(with zone: NSZone? = nil) -> Any {
    let copy = NSPersistentStoreDescription()
    copy.url = url
    copy.configuration = configuration
    copy.type = type
    copy.shouldAddStoreAsynchronously = shouldAddStoreAsynchronously
    copy.options = options
    return copy
  }

  /// Kind and place.
  open override var description: String { "\(type) store at \(url?.path ?? "no place")" }

  /// The description as Heartwood opens it.
  final func converted() throws -> PersistentStoreDescription {
    try PersistentStoreDescription.make(type: type, configuration: configuration, url: url, options: options)
  }
}

extension PersistentStoreDescription {
  /// A description of what Core Data's methods of coordinators take.
  ///
  /// - Throws: `.persistentStoreOpen` for an option that has a value of a wrong type.
  static func make(
    type: String, configuration: String?, url: URL?, options: [AnyHashable: Any]?
  ) throws -> PersistentStoreDescription {
    let made = PersistentStoreDescription()
    made.url = url ?? URL(fileURLWithPath: "/dev/null")
    made.type = StoreTypes.kind(type)
    made.configuration = StoreTypes.configuration(configuration)
    // Core Data records no history unless it is asked to.
    made.tracksHistory = false
    made.shouldMigrateStoreAutomatically = false
    made.shouldInferMappingModelAutomatically = false
    made.mappingModelFinder = MappingModels.finder
    for (key, value) in options ?? [:] {
      guard let key = key.base as? String else { continue }
      try made.take(value, key)
    }
    return made
  }

  private func take(_ value: Any, _ key: String) throws {
    let flag = (value as? NSNumber)?.boolValue ?? (value as? Bool)
    func truth() throws -> Bool {
      guard let flag else {
        throw HeartwoodError(
          .persistentStoreOpen, "the option \(key) takes a Boolean, not \(Swift.type(of: value))")
      }
      return flag
    }
    switch key {
    case NSReadOnlyPersistentStoreOption: isReadOnly = try truth()
    case NSMigratePersistentStoresAutomaticallyOption: shouldMigrateStoreAutomatically = try truth()
    case NSInferMappingModelAutomaticallyOption: shouldInferMappingModelAutomatically = try truth()
    // An option that was once a dictionary of CloudKit's.
    case NSPersistentHistoryTrackingKey: tracksHistory = flag ?? true
    case NSPersistentStoreRemoteChangeNotificationPostOptionKey: postsRemoteChangeNotifications = try truth()
    case NSPersistentStoreDeferredLightweightMigrationOptionKey: defersLightweightMigration = try truth()
    case NSPersistentStoreTimeoutOption:
      timeout = (value as? NSNumber)?.doubleValue ?? (value as? Double) ?? 240
    case NSPersistentStoreStagedMigrationManagerOptionKey:
      stagedMigrationManager = value as? StagedMigrationManager
    // What concerns SQLite, file protection and other systems has no meaning here.
    case NSSQLitePragmasOption, NSSQLiteAnalyzeOption, NSSQLiteManualVacuumOption,
      NSPersistentStoreFileProtectionKey,
      NSIgnorePersistentStoreVersioningOption, NSPersistentStoreConnectionPoolMaxSizeKey,
      NSCoreDataCoreSpotlightExporter,
      NSBinaryStoreSecureDecodingClasses, NSBinaryStoreInsecureDecodingCompatibilityOption,
      NSValidateXMLStoreOption,
      NSPersistentStoreForceDestroyOption:
      break
    default: break
    }
  }
}
