import Foundation

extension PersistentStore {
  /// Options of a store by key, as `PersistentStoreCoordinator.addPersistentStore(type:configuration:at:options:)` takes them.
  public typealias Options = [OptionKey: any Sendable]

  /// The key of an option. The raw values are those of Core Data's constants.
  ///
  /// Each option has a typed property in `PersistentStoreDescription`, except where noted.
  public struct OptionKey: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
    /// The name.
    public let rawValue: String

    /// A key by its name. Options with unknown keys are refused when the store is opened.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// The name.
    public var description: String { rawValue }

    /// A `Bool`: `PersistentStoreDescription.isReadOnly`.
    public static let readOnly = OptionKey(rawValue: "NSReadOnlyPersistentStoreOption")
    /// A number of seconds: `PersistentStoreDescription.timeout`.
    public static let timeout = OptionKey(rawValue: "NSPersistentStoreTimeoutOption")
    /// A `Bool`: `PersistentStoreDescription.tracksHistory`.
    public static let historyTracking = OptionKey(rawValue: "NSPersistentHistoryTrackingKey")
    /// A `Bool`: `PersistentStoreDescription.postsRemoteChangeNotifications`.
    public static let remoteChangeNotificationPost = OptionKey(
      rawValue: "NSPersistentStoreRemoteChangeNotificationOptionKey")
    /// A `Bool`: whether `destroyPersistentStore(at:type:options:)` removes a store that is open elsewhere. Opening a store
    /// refuses it.
    public static let forceDestroy = OptionKey(rawValue: "NSPersistentStoreForceDestroyOption")

    /// A `Bool`: `PersistentStoreDescription.shouldMigrateStoreAutomatically`; false by default where options are given by key.
    public static let migratePersistentStoresAutomatically = OptionKey(
      rawValue: "NSMigratePersistentStoresAutomaticallyOption")
    /// A `Bool`: `PersistentStoreDescription.shouldInferMappingModelAutomatically`; false by default where options are given by key.
    public static let inferMappingModelAutomatically = OptionKey(
      rawValue: "NSInferMappingModelAutomaticallyOption")
    /// A `Bool`: `PersistentStoreDescription.defersLightweightMigration`.
    public static let deferredLightweightMigration = OptionKey(
      rawValue: "NSPersistentStoreDeferredLightweightMigrationOptionKey")

    /// A `StagedMigrationManager`: `PersistentStoreDescription.stagedMigrationManager`.
    public static let stagedMigrationManager = OptionKey(
      rawValue: "NSPersistentStoreStagedMigrationManagerOptionKey")

    static let ofOpening: [OptionKey] = [
      readOnly, timeout, historyTracking, remoteChangeNotificationPost, migratePersistentStoresAutomatically,
      inferMappingModelAutomatically, deferredLightweightMigration,
      stagedMigrationManager,
    ]
  }
}

extension PersistentStoreDescription {
  /// Sets an option by its key; nil restores its default.
  ///
  /// An unknown key, or a value of another type, is refused when the store is opened.
  ///
  /// - Parameters:
  ///   - option: The value, of the type that the key's documentation names.
  ///   - key: The key of the option.
  public func setOption(_ option: (any Sendable)?, forKey key: PersistentStore.OptionKey) {
    refusedOptions[key] = nil
    if !take(option, key) { refusedOptions[key] = option }
  }

  /// The options that have keys, with their values, and those that opening will refuse.
  public var options: PersistentStore.Options {
    var options: PersistentStore.Options = [
      .readOnly: isReadOnly, .timeout: timeout, .historyTracking: tracksHistory,
      .remoteChangeNotificationPost: postsRemoteChangeNotifications,
      .migratePersistentStoresAutomatically: shouldMigrateStoreAutomatically,
      .inferMappingModelAutomatically: shouldInferMappingModelAutomatically,
      .deferredLightweightMigration: defersLightweightMigration,
    ]
    if let stagedMigrationManager { options[.stagedMigrationManager] = stagedMigrationManager }
    for (key, value) in refusedOptions { options[key] = value }
    return options
  }

  /// Sets the option's property.
  ///
  /// - Returns: Whether there is one that takes the value.
  private func take(_ option: (any Sendable)?, _ key: PersistentStore.OptionKey) -> Bool {
    switch key {
    case .timeout:
      let seconds = (option as? Double) ?? (option as? Int).map(Double.init)
      guard option == nil || seconds.map({ $0 >= 0 }) == true else { return false }
      givenTimeout = seconds
    case .stagedMigrationManager:
      guard option == nil || option is StagedMigrationManager else { return false }
      stagedMigrationManager = option as? StagedMigrationManager
    case .readOnly: return take(option, \.isReadOnly, false)
    case .historyTracking: return take(option, \.tracksHistory, true)
    case .remoteChangeNotificationPost: return take(option, \.postsRemoteChangeNotifications, false)
    case .migratePersistentStoresAutomatically: return take(option, \.shouldMigrateStoreAutomatically, true)
    case .inferMappingModelAutomatically: return take(option, \.shouldInferMappingModelAutomatically, true)
    case .deferredLightweightMigration: return take(option, \.defersLightweightMigration, true)
    default: return option == nil
    }
    return true
  }

  private func take(
    _ option: (any Sendable)?,
    _ property: ReferenceWritableKeyPath<PersistentStoreDescription, Bool>, _ fallback: Bool
  ) -> Bool {
    guard option == nil || option is Bool else { return false }
    self[keyPath: property] = option as? Bool ?? fallback
    return true
  }

  /// - Throws: `.persistentStoreOpen` if an option is unknown or has a value of another type, if the timeout is no time, or if two ways to
  ///   migrate are given.
  func checkOptions() throws(HeartwoodError) {
    guard timeout >= 0 else {
      throw notOpened("the timeout is a number of seconds, at least 0, not \(timeout)")
    }
    guard mappingModel == nil || stagedMigrationManager == nil else {
      throw notOpened(
        "the description has a mappingModel and a stagedMigrationManager: set one of them to nil; a stage whose handler moves values takes "
          + "the place of a mapping")
    }
    guard let (key, value) = refusedOptions.min(by: { $0.key.rawValue < $1.key.rawValue }) else { return }
    guard PersistentStore.OptionKey.ofOpening.contains(key) else {
      let known = PersistentStore.OptionKey.ofOpening.map(\.rawValue).joined(separator: ", ")
      throw notOpened("no option is called \(key); those are \(known)")
    }
    let wanted =
      key == .timeout
      ? "a number of seconds, at least 0"
      : key == .stagedMigrationManager ? "a StagedMigrationManager" : "a Bool"
    throw notOpened("the option \(key) takes \(wanted), not \(Swift.type(of: value)) \(value)")
  }

  /// - Throws: `.persistentStoreOpen` if the place is one of another scheme than that of files, for a store of the library.
  func checkPlace() throws(HeartwoodError) {
    guard type != .inMemory, let url, !url.isFileURL, url.scheme != nil else { return }
    throw HeartwoodError(
      .persistentStoreOpen,
      "\(url.withoutPassword) is no place of a store of type \(type.rawValue): pass a file URL, such as URL(fileURLWithPath:) makes"
    )
  }

  private func notOpened(_ reason: String) -> HeartwoodError {
    HeartwoodError(
      .persistentStoreOpen, "the store at \(url?.path ?? "no place") was not opened: \(reason)")
  }
}
