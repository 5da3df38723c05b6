import Foundation
import Heartwood

// The parts of Core Data that this module does not have, with what to use instead.

extension NSManagedObject {
  /// Not here.
  @available(
    *, unavailable,
    message: "observe the object with withObservationTracking, or the notifications of its context"
  )
  public var observationInfo: UnsafeMutableRawPointer? { fatalError() }
}

extension ManagedObjectContext {
  /// Not here.
  @available(*, unavailable, message: "a context is locked by perform(_:) and performAndWait(_:)")
  public func lock() { fatalError() }
  /// Not here.
  @available(*, unavailable, message: "a context is locked by perform(_:) and performAndWait(_:)")
  public func unlock() { fatalError() }
  /// Not here.
  @available(*, unavailable, message: "a context is locked by perform(_:) and performAndWait(_:)")
  public func tryLock() -> Bool { fatalError() }
  /// Not here.
  @available(*, unavailable, message: "observe the notifications of the context")
  public func observeValue(
    forKeyPath keyPath: String?, of object: Any?, change: [String: Any]?, context: UnsafeMutableRawPointer?
  ) { fatalError() }
}

extension PersistentStoreCoordinator {
  /// Not here.
  @available(*, unavailable, message: "a coordinator is locked by perform(_:) and performAndWait(_:)")
  public func lock() { fatalError() }
  /// Not here.
  @available(*, unavailable, message: "a coordinator is locked by perform(_:) and performAndWait(_:)")
  public func unlock() { fatalError() }
  /// Not here.
  @available(*, unavailable, message: "a coordinator is locked by perform(_:) and performAndWait(_:)")
  public func tryLock() -> Bool { fatalError() }
  /// Not here.
  @available(*, unavailable, message: "there are no external records without Spotlight")
  public class func elementsDerived(fromExternalRecordAt fileURL: URL) -> [AnyHashable: Any] { fatalError() }
  /// Not here.
  @available(*, unavailable, message: "there are no external records without Spotlight")
  public func importStore(
    withIdentifier storeIdentifier: String?, fromExternalRecordsDirectoryAt externalRecordsURL: URL,
    to destinationURL: URL, options: [AnyHashable: Any]? = nil, ofType storeType: String
  ) throws -> NSPersistentStore { fatalError() }
}

// In an extension of a protocol, so that classes of stores can declare them.
extension _PersistentStoreValues where Self: PersistentStore {
  /// Not here.
  @available(
    *, unavailable, message: "use NSPersistentStoreCoordinator.metadataForPersistentStore(ofType:at:options:)"
  )
  public static func metadataForPersistentStore(with url: URL) throws -> [String: Any] { fatalError() }
  /// Not here.
  @available(
    *, unavailable,
    message: "use NSPersistentStoreCoordinator.setMetadata(_:forPersistentStoreOfType:at:options:)"
  )
  public static func setMetadata(_ metadata: [String: Any]?, forPersistentStoreAt url: URL) throws {
    fatalError()
  }
  /// Not here.
  @available(*, unavailable, message: "migrate with NSMigrationManager")
  public static func migrationManagerClass() -> AnyClass { fatalError() }
}

extension PersistentStore {
  /// Not here.
  @available(
    *, unavailable,
    message:
      "inherit from NSIncrementalStore or NSAtomicStore, and let a coordinator make the store of its type"
  )
  public convenience init(
    persistentStoreCoordinator root: NSPersistentStoreCoordinator?, configurationName name: String?,
    at url: URL, options: [AnyHashable: Any]? = nil
  ) { fatalError() }
  /// Not here.
  @available(*, unavailable, message: "there is no Spotlight on this system")
  public var coreSpotlightExporter: NSCoreDataCoreSpotlightDelegate { fatalError() }
}

extension MergeConflict {
  /// Not here.
  @available(*, unavailable, message: "conflicts are made by saves")
  public init(
    source srcObject: NSManagedObject, newVersion newvers: Int, oldVersion oldvers: Int,
    cachedSnapshot cachesnap: [String: Any]?,
    persistedSnapshot persnap: [String: Any]?
  ) { fatalError() }
}

extension ConstraintConflict {
  /// Not here.
  @available(*, unavailable, message: "conflicts are made by saves")
  public init(
    constraint contraint: [String], database databaseObject: NSManagedObject?,
    databaseSnapshot: [AnyHashable: Any]?,
    conflicting conflictingObjects: [NSManagedObject], conflictingSnapshots: [Any]
  ) { fatalError() }
}

extension EntityMapping.MappingType {
  /// Core Data's older name.
  public static let undefinedEntityMappingType = Self.undefined
  /// Core Data's older name.
  public static let customEntityMappingType = Self.custom
  /// Core Data's older name.
  public static let addEntityMappingType = Self.add
  /// Core Data's older name.
  public static let removeEntityMappingType = Self.remove
  /// Core Data's older name.
  public static let copyEntityMappingType = Self.copy
  /// Core Data's older name.
  public static let transformEntityMappingType = Self.transform
}

/// A fetch within a predicate.
@available(
  *, unavailable, message: "use SUBQUERY in a predicate, or ConditionExpression(fetch:) of Heartwood"
)
public final class NSFetchRequestExpression: NSExpression {}

/// The index of Spotlight.
@available(
  *, unavailable,
  message:
    "there is no Spotlight on this system: use an index of words, of Heartwood's FetchIndexElementDescription"
)
public final class NSCoreDataCoreSpotlightDelegate {}

/// A container that CloudKit synchronises.
@available(
  *, unavailable,
  message: "there is no CloudKit on this system: use NSPersistentContainer, and synchronise by its history"
)
public final class NSPersistentCloudKitContainer {}

/// External records of Spotlight.
@available(*, unavailable, message: "there are no external records without Spotlight")
public var NSExternalRecordsFileFormatOption: String { fatalError() }
/// Not here.
@available(*, unavailable, message: "there are no external records without Spotlight")
public var NSExternalRecordsDirectoryOption: String { fatalError() }
/// Not here.
@available(*, unavailable, message: "there are no external records without Spotlight")
public var NSExternalRecordExtensionOption: String { fatalError() }
/// Not here.
@available(*, unavailable, message: "there are no external records without Spotlight")
public var NSEntityNameInPathKey: String { fatalError() }
/// Not here.
@available(*, unavailable, message: "there are no external records without Spotlight")
public var NSStoreUUIDInPathKey: String { fatalError() }
/// Not here.
@available(*, unavailable, message: "there are no external records without Spotlight")
public var NSStorePathKey: String { fatalError() }
/// Not here.
@available(*, unavailable, message: "there are no external records without Spotlight")
public var NSModelPathKey: String { fatalError() }
/// Not here.
@available(*, unavailable, message: "there are no external records without Spotlight")
public var NSObjectURIKey: String { fatalError() }
/// Not here.
@available(*, unavailable, message: "there are no external records without Spotlight")
public var NSXMLExternalRecordType: String { fatalError() }
/// Not here.
@available(*, unavailable, message: "there are no external records without Spotlight")
public var NSBinaryExternalRecordType: String { fatalError() }
/// Not here.
@available(*, unavailable, message: "use SUBQUERY in a predicate")
public var NSFetchRequestExpressionType: NSExpression.ExpressionType { fatalError() }
/// The version of the framework; Heartwood has none of Apple's.
@available(*, unavailable, message: "there is no version of Apple's framework here")
public var NSCoreDataVersionNumber: Double { fatalError() }
