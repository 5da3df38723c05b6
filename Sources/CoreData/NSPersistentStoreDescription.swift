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
  /// - Throws: `.persistentStoreOpen` for an option that is unknown or has a value of a wrong type.
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
      try made.take(StoreOption(key: "\(key.base)", value: value, place: made.url?.path ?? ""))
    }
    return made
  }

  /// Checks options of a method that opens no store with them.
  ///
  /// - Throws: `.persistentStoreOpen` for an option that is unknown or has a value of a wrong type.
  static func check(_ options: [AnyHashable: Any]?, type: String, url: URL) throws {
    _ = try settings(options, type: type, url: url)
  }

  /// The options that destroying and replacing a store heed.
  ///
  /// - Throws: As `check`.
  static func settings(
    _ options: [AnyHashable: Any]?, type: String, url: URL
  ) throws -> PersistentStore.Options {
    let made = try make(type: type, configuration: nil, url: url, options: options)
    var settings: PersistentStore.Options = [:]
    if options?[NSPersistentStoreTimeoutOption] != nil { settings[.timeout] = made.timeout }
    if let value = options?[NSPersistentStoreForceDestroyOption] {
      let option = StoreOption(key: NSPersistentStoreForceDestroyOption, value: value, place: url.path)
      settings[.forceDestroy] = try option.truth()
    }
    return settings
  }

  private func take(_ option: StoreOption) throws {
    switch option.key {
    case NSReadOnlyPersistentStoreOption: isReadOnly = try option.truth()
    case NSMigratePersistentStoresAutomaticallyOption: shouldMigrateStoreAutomatically = try option.truth()
    case NSInferMappingModelAutomaticallyOption: shouldInferMappingModelAutomatically = try option.truth()
    // A dictionary of CloudKit's options asks for a history, too.
    case NSPersistentHistoryTrackingKey:
      tracksHistory = option.value is NSDictionary ? true : try option.truth()
    case NSPersistentStoreRemoteChangeNotificationPostOptionKey:
      postsRemoteChangeNotifications = try option.truth()
    case NSPersistentStoreDeferredLightweightMigrationOptionKey:
      defersLightweightMigration = try option.truth()
    case NSPersistentStoreTimeoutOption: timeout = try option.seconds()
    case NSPersistentStoreStagedMigrationManagerOptionKey:
      stagedMigrationManager = try option.stagedMigrationManager()
    case HeartwoodCopiesAppleStoreOption, NSPersistentStoreForceDestroyOption: _ = try option.truth()
    case _ where StoreOption.withoutMeaning.contains(option.key) || ubiquityOptions.contains(option.key):
      break
    // A class of the program may have options of its own.
    case _ where StoreTypes.programClass(type.rawValue) != nil: break
    case _ where option.isOfFramework: throw option.unknown
    // Programs and libraries keep settings of their own there.
    default: break
    }
  }
}

/// An option of a store, as a program gives it.
private struct StoreOption {
  let key: String
  let value: Any
  let place: String

  /// The options that concern SQLite, file protection and other systems.
  static let withoutMeaning: Set = [
    NSSQLitePragmasOption, NSSQLiteAnalyzeOption, NSSQLiteManualVacuumOption,
    NSPersistentStoreFileProtectionKey, NSIgnorePersistentStoreVersioningOption,
    NSPersistentStoreConnectionPoolMaxSizeKey, NSCoreDataCoreSpotlightExporter,
    NSBinaryStoreSecureDecodingClasses, NSBinaryStoreInsecureDecodingCompatibilityOption,
    NSValidateXMLStoreOption,
  ]

  private static let withMeaning = [
    HeartwoodCopiesAppleStoreOption, NSInferMappingModelAutomaticallyOption,
    NSMigratePersistentStoresAutomaticallyOption, NSPersistentHistoryTrackingKey,
    NSPersistentStoreDeferredLightweightMigrationOptionKey, NSPersistentStoreForceDestroyOption,
    NSPersistentStoreRemoteChangeNotificationPostOptionKey,
    NSPersistentStoreStagedMigrationManagerOptionKey, NSPersistentStoreTimeoutOption,
    NSReadOnlyPersistentStoreOption,
  ]

  /// Whether the name is one that only frameworks give.
  var isOfFramework: Bool { key.hasPrefix("NS") || key.hasPrefix("Heartwood") }

  func truth() throws -> Bool {
    guard let truth = (value as? NSNumber)?.boolValue ?? (value as? Bool) else { throw takes("a Boolean") }
    return truth
  }

  func seconds() throws -> Double {
    let seconds = (value as? NSNumber)?.doubleValue ?? (value as? Double)
    guard let seconds, seconds >= 0 else { throw takes("a number of seconds, at least 0") }
    return seconds
  }

  func stagedMigrationManager() throws -> StagedMigrationManager {
    guard let manager = value as? StagedMigrationManager else { throw takes("an NSStagedMigrationManager") }
    return manager
  }

  private func takes(_ wanted: String) -> HeartwoodError {
    notOpened("the option \(key) takes \(wanted), not \(Swift.type(of: value)) \(value)")
  }

  var unknown: HeartwoodError {
    notOpened(
      "no option is called \(key); those are \(Self.withMeaning.joined(separator: ", ")), and Core Data's for SQLite, which have no "
        + "meaning here")
  }

  private func notOpened(_ reason: String) -> HeartwoodError {
    HeartwoodError(.persistentStoreOpen, "the store at \(place) was not opened: \(reason)")
  }
}
