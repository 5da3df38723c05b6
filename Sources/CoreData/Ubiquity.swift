import Foundation
import Heartwood

// The names of Core Data over documents in iCloud, which Apple's systems have no longer done since 2016: programs still observe them.

extension Notification.Name {
  /// Never posted.
  @available(*, deprecated, message: "Nothing posts it any more")
  public static let NSPersistentStoreDidImportUbiquitousContentChanges = Notification.Name(
    "com.apple.coredata.ubiquity.importer.didfinishimport")
}

/// A key of an option without effect.
@available(*, deprecated, message: "It has no effect")
public let NSPersistentStoreUbiquitousContentNameKey = "NSPersistentStoreUbiquitousContentNameKey"
/// A key of an option without effect.
@available(*, deprecated, message: "It has no effect")
public let NSPersistentStoreUbiquitousContentURLKey = "NSPersistentStoreUbiquitousContentURLKey"
/// A key of an option without effect.
@available(*, deprecated, message: "It has no effect")
public let NSPersistentStoreUbiquitousContainerIdentifierKey =
  "NSPersistentStoreUbiquitousContainerIdentifierKey"
/// A key of an option without effect.
@available(*, deprecated, message: "It has no effect")
public let NSPersistentStoreUbiquitousPeerTokenOption = "NSPersistentStoreUbiquitousPeerTokenOption"
/// A key of an option without effect.
@available(*, deprecated, message: "It has no effect")
public let NSPersistentStoreRemoveUbiquitousMetadataOption = "NSPersistentStoreRemoveUbiquitousMetadataOption"
/// A key of an option without effect.
@available(*, deprecated, message: "It has no effect")
public let NSPersistentStoreRebuildFromUbiquitousContentOption =
  "NSPersistentStoreRebuildFromUbiquitousContentOption"

/// The names of all of these options.
let ubiquityOptions: Set = [
  "NSPersistentStoreUbiquitousContentNameKey",
  "NSPersistentStoreUbiquitousContentURLKey",
  "NSPersistentStoreUbiquitousContainerIdentifierKey",
  "NSPersistentStoreUbiquitousPeerTokenOption",
  "NSPersistentStoreRemoveUbiquitousMetadataOption",
  "NSPersistentStoreRebuildFromUbiquitousContentOption",
]

/// A key of notifications, which none has.
@available(*, deprecated, message: "Nothing posts it any more")
public let NSPersistentStoreUbiquitousTransitionTypeKey = "NSPersistentStoreUbiquitousTransitionTypeKey"

/// Why stores came or went, which no notification says any more.
@available(*, deprecated, message: "Nothing posts it any more")
public enum NSPersistentStoreUbiquitousTransitionType: UInt, Sendable {
  /// Another account came.
  case accountAdded = 1
  /// The account went.
  case accountRemoved
  /// The content went.
  case contentRemoved
  /// The first import is done.
  case initialImportCompleted
}
