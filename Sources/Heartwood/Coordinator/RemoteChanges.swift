import Foundation
import HeartwoodEngine
import HeartwoodFiles

extension Notification.Name {
  /// Something was saved to a store whose description has `postsRemoteChangeNotifications`: by this coordinator, by another one,
  /// or by another process.
  ///
  /// Its object is the coordinator; `PersistentStoreCoordinator.NotificationKey` tells what else it says. It is posted on a
  /// thread in the background, once for several saves that come together, and what was saved can be fetched and is in the
  /// history when it is. Contexts go on showing what they showed: fetch the history after the last token that was dealt with, and refresh
  /// the objects that it names. It may come without anything new in the history.
  public static let persistentStoreRemoteChange = Notification.Name("HeartwoodPersistentStoreRemoteChange")
}

extension PersistentStoreCoordinator {
  /// What notifications of a coordinator say besides, by the raw value in their `userInfo`.
  public enum NotificationKey: String, Sendable {
    /// The identifier of the store, a `String`.
    case storeUUID
    /// The place of the store, a `URL`.
    case persistentStoreURL
    /// The newest point of the history, a `PersistentHistoryToken`.
    case persistentHistoryToken
  }

  /// Posts `.persistentStoreRemoteChange`.
  fileprivate func noteChange(of url: URL, _ token: PersistentHistoryToken) {
    NotificationCenter.default.post(
      name: .persistentStoreRemoteChange, object: self,
      userInfo: [
        NotificationKey.storeUUID.rawValue: token.storeID,
        NotificationKey.persistentStoreURL.rawValue: url,
        NotificationKey.persistentHistoryToken.rawValue: token,
      ])
  }
}

/// Sees to it that what is saved to a store is noted by its coordinator, until it ends or is released.
final class RemoteChanges: Sendable {
  private let observation: CommitObservation

  init(of contents: LogStore, at url: URL, notedBy coordinator: PersistentStoreCoordinator) {
    let storeID = contents.identity.uuid?.uuidString ?? ""
    observation = contents.engine.observeCommits { [weak coordinator] generation in
      coordinator?.noteChange(
        of: url, PersistentHistoryToken(storeID: storeID, transactionNumber: generation.rawValue))
    }
  }

  func end() { observation.cancel() }
}
