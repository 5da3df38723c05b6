import Foundation
import Heartwood

/// The notifications of one context.
///
/// Unchecked, because a context posts on the thread that uses it.
package final class Heard: @unchecked Sendable {
  package private(set) var notifications: [Notification] = []
  private var token: (any NSObjectProtocol)?

  package init(_ context: ManagedObjectContext, _ name: Notification.Name) {
    token = NotificationCenter.default.addObserver(forName: name, object: context, queue: nil) {
      [unowned self] notification in self.notifications.append(notification)
    }
  }

  deinit { token.map(NotificationCenter.default.removeObserver) }

  package var all: [ContextChanges] { notifications.compactMap { ContextChanges($0) } }
}
