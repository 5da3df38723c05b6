import Foundation
import Heartwood
import HeartwoodBrowser

/// Tells pages that something was saved to the store, by whichever program.
struct ChangeFeed: Sendable {
  let store: BrowsedStore
  let signal: EventSignal

  /// Begins to note what is saved.
  ///
  /// - Returns: The token with which `NotificationCenter` ends it.
  func start() -> any NSObjectProtocol {
    NotificationCenter.default.addObserver(
      forName: .persistentStoreRemoteChange, object: store.coordinator, queue: nil
    ) { [signal] _ in signal.raise() }
  }

  /// Events as browsers read them, until the client or the server ends: the newest generation at once and after each change.
  var response: Response {
    Response(
      type: "text/event-stream",
      .stream { write in
        var known = signal.count
        try write(event)
        while let count = signal.wait(after: known, nanoseconds: Self.pause) {
          // A comment shows whether the client is still there.
          try write(count == known ? Array(":\n\n".utf8) : event)
          known = count
        }
      })
  }

  private var event: [UInt8] {
    Array("data: {\"generation\": \(store.newest.map(String.init) ?? "null")}\n\n".utf8)
  }

  private static let pause = 15_000_000_000
}
