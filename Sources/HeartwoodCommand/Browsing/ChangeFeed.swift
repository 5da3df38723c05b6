import Foundation
import Heartwood
import HeartwoodBrowser

/// Tells pages that something was saved to the store, by whichever program, and that the store was deleted or made anew.
struct ChangeFeed: Sendable {
  let store: ServedStore
  let signal: EventSignal

  /// Begins to note what is saved.
  ///
  /// - Returns: The token with which `NotificationCenter` ends it.
  func start() -> any NSObjectProtocol {
    NotificationCenter.default.addObserver(
      forName: .persistentStoreRemoteChange, object: nil, queue: nil
    ) { [store, signal] notification in
      if notification.object as? PersistentStoreCoordinator === store.last.coordinator { signal.raise() }
    }
  }

  /// Events as browsers read them, until the client or the server ends: what is at the path at once, and after each change.
  var response: Response {
    Response(
      type: "text/event-stream",
      .stream { write in
        var (known, sent, looks) = (signal.count, event, 0)
        try write(sent)
        while let count = signal.wait(after: known, nanoseconds: Self.pause) {
          let next = event
          looks += 1
          if count != known || next != sent {
            try write(next)
            looks = 0
          } else if looks % Self.looksOfComment == 0 {
            // A comment shows whether the client is still there.
            try write(Array(":\n\n".utf8))
          }
          (known, sent) = (count, next)
        }
      })
  }

  private var event: [UInt8] {
    let present = store.present
    let event = JSONObject([
      ("generation", present.store.newest.map { .integer(Int64(clamping: $0)) } ?? .null),
      ("number", .integer(Int64(present.number))),
      ("absence", present.absence.map(JSONValue.string) ?? .null),
    ])
    return Array("data: \(JSONWriter.line(.object(event)))\n\n".utf8)
  }

  /// How long a store that was deleted is not noticed, in nanoseconds.
  private static let pause = 500_000_000
  private static let looksOfComment = 30
}
