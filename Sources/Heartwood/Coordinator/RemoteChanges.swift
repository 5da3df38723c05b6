import Foundation
import HeartwoodEngine
import HeartwoodFiles

extension Notification.Name {
  /// Posted when something was saved to a store whose description has `postsRemoteChangeNotifications`: by this
  /// coordinator, by another one, or by another process.
  ///
  /// The notification's object is the coordinator; its `userInfo` has the keys of
  /// `PersistentStoreCoordinator.NotificationKey`. It is posted on a background thread. Saves in quick succession may share
  /// one notification, and it may come without anything new in the history. When it is posted, the saved data can be fetched
  /// and is in the history. Contexts keep their objects' values: fetch the history after the last processed token, and
  /// refresh the objects that it names.
  public static let persistentStoreRemoteChange = Notification.Name("HeartwoodPersistentStoreRemoteChange")
}

extension PersistentStoreCoordinator {
  /// The keys in the `userInfo` of the coordinator's notifications, by their raw values, which are Core Data's.
  public enum NotificationKey: String, Sendable {
    /// The identifier of the store, a `String`.
    case storeUUID = "NSStoreUUID"
    /// The location of the store, a `URL`.
    case persistentStoreURL = "storeURL"
    /// The newest position of the history, a `PersistentHistoryToken`. Absent if the store is open without `tracksHistory`.
    case persistentHistoryToken = "historyToken"
  }

  /// Posts `.persistentStoreRemoteChange`.
  fileprivate func noteChange(of url: URL, _ storeID: String, _ token: PersistentHistoryToken?) {
    var info: [String: Any] = [
      NotificationKey.storeUUID.rawValue: storeID, NotificationKey.persistentStoreURL.rawValue: url,
    ]
    info[NotificationKey.persistentHistoryToken.rawValue] = token
    NotificationCenter.default.post(name: .persistentStoreRemoteChange, object: self, userInfo: info)
  }
}

/// Posts the coordinator's notification for each commit to a store, until it is ended or released.
final class RemoteChanges: Sendable {
  private let observation: CommitObservation

  init(of contents: LogStore, at url: URL, notedBy coordinator: PersistentStoreCoordinator) {
    let storeID = contents.identity.uuid?.uuidString ?? ""
    let tracksHistory = contents.tracksHistory
    observation = contents.engine.observeCommits { [weak coordinator] generation in
      let token = PersistentHistoryToken(storeID: storeID, transactionNumber: generation.rawValue)
      coordinator?.noteChange(of: url, storeID, tracksHistory ? token : nil)
    }
  }

  func end() { observation.cancel() }
}
