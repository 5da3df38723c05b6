import Foundation
import HeartwoodBrowser

/// A page about a store that is being served.
struct BrowserSession {
  private let server: PageServer
  private let feed: ChangeFeed
  private let observation: any NSObjectProtocol

  /// - Parameter port: 0 for one that is free.
  init(_ store: ServedStore, port: UInt16) throws(CommandFailure) {
    let feed = ChangeFeed(store: store, signal: EventSignal())
    let routes = PageRoutes(served: store, feed: feed)
    do {
      server = try PageServer(port: port) { routes.response($0, $1, $2) }
    } catch {
      let reason =
        error.isInUse ? "another program uses it; leave out --port for one that is free" : "\(error)"
      throw CommandFailure(.unavailable, "the page cannot be served at port \(port): \(reason)")
    }
    self.feed = feed
    observation = feed.start()
  }

  var address: String { server.admission.address }

  /// Answers requests on other threads, until `stop`.
  func start() { server.start() }

  /// Ends all requests and waits for them.
  func stop() {
    NotificationCenter.default.removeObserver(observation)
    feed.signal.end()
    server.stop()
  }
}
