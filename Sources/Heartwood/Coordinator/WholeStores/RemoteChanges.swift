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

extension PersistentStore {
  /// Starts posting notifications of commits through the coordinator, until the store is closed.
  final func beginNotices(by coordinator: PersistentStoreCoordinator) {
    guard let log else { return beginNotices(ofIncrementalStoreBy: coordinator) }
    let (url, storeID, tracksHistory) = (url, log.identity.uuid?.uuidString ?? "", log.tracksHistory)
    let observation = log.engine.observeCommits { [weak coordinator] generation in
      let token = PersistentHistoryToken(storeID: storeID, transactionNumber: generation.rawValue)
      coordinator?.noteChange(of: url, storeID, tracksHistory ? token : nil)
    }
    keep(SaveObservation(observation))
  }

  private final func beginNotices(ofIncrementalStoreBy coordinator: PersistentStoreCoordinator) {
    guard let followed = objectStore as? any FollowedStore else { return }
    let (url, storeID) = (url, anyIdentifier)
    keep(
      followed.observeSaves { [weak coordinator, weak followed] in
        let source = followed?.newestSave == nil ? nil : followed as? any HistorySource
        coordinator?.noteChange(of: url, storeID, source?.currentHistoryToken())
      })
  }
}
