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

    /// The log with its tree: a folder on disk.
    public static let log = StoreType(rawValue: "Log")
    /// The log with its tree, in memory.
    public static let inMemory = StoreType(rawValue: "InMemory")
    /// What Core Data calls SQLite: here the log with its tree.
    public static let sqlite = StoreType(rawValue: "Log")
  }

  /// The folder of the store; `/dev/null` for one in memory.
  public let url: URL
  /// The kind of store.
  public let type: StoreType
  /// Whether saving to it throws.
  public let isReadOnly: Bool
  /// What tells this store from every other, in identifiers too.
  public let identifier: String
  let contents: LogStore
  /// Nil where nobody wants to know of saves.
  private let remoteChanges = Guarded<RemoteChanges?>(nil)

  init(_ contents: LogStore, url: URL, type: StoreType, isReadOnly: Bool) {
    self.contents = contents
    self.url = url
    self.type = type
    self.isReadOnly = isReadOnly
    identifier = contents.identity.uuid?.uuidString ?? ""
  }

  /// Saves are noted by the coordinator from now on.
  func beginNotices(by coordinator: PersistentStoreCoordinator) {
    let changes = RemoteChanges(of: contents, at: url, notedBy: coordinator)
    remoteChanges.withLock { $0 = changes }
  }

  /// Ends the use of the store.
  func close() throws {
    remoteChanges.withLock { $0 }?.end()
    try contents.close()
  }
}
