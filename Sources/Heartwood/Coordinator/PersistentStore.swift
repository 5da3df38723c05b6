import Foundation
import HeartwoodFiles

/// An open store of a coordinator.
public final class PersistentStore: Sendable {
  /// A kind of store.
  public struct StoreType: RawRepresentable, Hashable, Sendable {
    /// The name.
    public let rawValue: String

    /// A kind by its name.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// The log-structured store, as a folder on disk.
    public static let log = StoreType(rawValue: "Log")
    /// The log-structured store, in memory.
    public static let inMemory = StoreType(rawValue: "InMemory")
    /// The whole graph in one file of bytes, which each save writes again.
    public static let binary = StoreType(rawValue: "Binary")
    /// As `binary`, in a JSON file that programs and people read.
    public static let json = StoreType(rawValue: "JSON")
    /// As `binary`, in an XML file that programs and people read.
    public static let xml = StoreType(rawValue: "XML")
    /// Core Data's name for its default store; here the same as `log`.
    public static let sqlite = StoreType(rawValue: "Log")
  }

  /// The folder of the store; `/dev/null` for one in memory.
  public let url: URL
  /// The kind of store.
  public let type: StoreType
  /// Whether the store is read-only: a save to it throws.
  public let isReadOnly: Bool
  /// The UUID of the store, which object identifiers contain too.
  public let identifier: String
  /// The name of the configuration whose entities the store has; nil for all entities of the model.
  public let configurationName: String?
  let configuration: StoreConfiguration
  let contents: LogStore
  /// Nil if remote changes are not posted.
  private let remoteChanges = Guarded<RemoteChanges?>(nil)

  /// How it was opened: a copy, which is not changed.
  let description: PersistentStoreDescription

  init(
    _ contents: LogStore, url: URL, type: StoreType, _ description: PersistentStoreDescription,
    _ configuration: StoreConfiguration
  ) {
    self.configuration = configuration
    configurationName = configuration.name
    self.contents = contents
    self.url = url
    self.type = type
    self.description = description
    isReadOnly = description.isReadOnly
    identifier = contents.identity.uuid?.uuidString ?? ""
    OpenStores.add(self)
  }

  /// Whether closing it loses everything.
  var isInMemory: Bool { url.path == "/dev/null" }

  /// Starts posting notifications of commits through the coordinator.
  func beginNotices(by coordinator: PersistentStoreCoordinator) {
    let changes = RemoteChanges(of: contents, at: url, notedBy: coordinator)
    remoteChanges.withLock { $0 = changes }
  }

  /// Ends the use of the store.
  func close() throws {
    remoteChanges.withLock { $0 }?.end()
    OpenStores.remove(self)
    try contents.close()
  }
}

extension PersistentStore: Hashable {
  /// Whether both are the same instance.
  public static func == (left: PersistentStore, right: PersistentStore) -> Bool { left === right }
  /// Hashes the instance's identity.
  public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}
