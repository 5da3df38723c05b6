import HeartwoodFiles
import Synchronization

/// Ships what is committed to a store to a destination, as pieces of which any base and those after it are a backup.
///
/// Works beside the processes that write the store, in one of them or in another. It changes nothing of the store, except that
/// it syncs the log, and makes the file `lineage` in its folder. Pieces contain only what was synced, so a crash of the store
/// loses nothing that was shipped.
public final class Shipper: Sendable {
  private let engine: Engine
  private let destination: any ShippingDestination
  private let options: ShippingOptions
  /// Held while a piece is shipped.
  private let session = StateLock(Session())
  private let alarm = TimedWatch(interval: nil)
  private let hasStopped = Atomic(false)

  private final class Session {
    /// Nil before the first shipment, and after one that failed.
    var state: ShippingState?
  }

  /// Creates a shipper, which ships nothing before `ship` or `run`.
  ///
  /// - Parameters:
  ///   - engine: The store, open for writing or for reading only.
  ///   - destination: Where to ship it: an empty place, or one that has pieces of this store.
  ///   - options: How often bases are made, and how long pieces are kept.
  public init(
    _ engine: Engine, to destination: any ShippingDestination, options: ShippingOptions = ShippingOptions()
  ) {
    self.engine = engine
    self.destination = destination
    self.options = options
  }

  /// Ships everything that is committed and not at the destination yet.
  ///
  /// - Returns: A report on the shipping; 0 bytes if nothing was new.
  /// - Throws: `.otherStore` or `.otherLineage` if the destination has pieces of another store or of another copy of this one;
  ///   `.diverged` if the store lacks what was shipped; `.wentBack` if pieces have vanished since; `.damaged` if the store or
  ///   the newest piece is damaged; `.locked` if another process ships to it; `.closed`; errors of the file systems and of the
  ///   destination, after which it can be called again.
  /// - Complexity: O(n) in the new bytes, O(n) in the size of the store if a base is due.
  @discardableResult
  public func ship() throws(EngineError) -> ShippingReport {
    try session.withLock { (session) throws(EngineError) in
      do throws(EngineError) {
        let state: ShippingState
        if let open = session.state {
          state = open
        } else {
          state = try ShippingState(engine.handle.open(), destination, options)
          session.state = state
        }
        return try state.ship()
      } catch {
        // Begins again from what is at the destination.
        session.state?.close()
        session.state = nil
        throw error
      }
    }
  }

  /// Ships after each commit until `stop` is called, the store is closed or `report` returns false. Returns then.
  ///
  /// - Parameter report: Called after each shipment that has put something, and after each error. After an error it is tried
  ///   again within a second.
  public func run(_ report: (Result<ShippingReport, EngineError>) -> Bool) {
    let observation = engine.handle.observeCommits { [alarm] _ in alarm.wake() }
    defer { observation.cancel() }
    while !hasStopped.load(ordering: .acquiring) {
      let outcome = Result { () throws(EngineError) in try ship() }
      let isNews = (try? outcome.get())?.bytes != 0
      if isNews, !report(outcome) { return }
      if case .failure(let error) = outcome, error.code == .closed { return }
      pause(afterNews: isNews)
    }
  }

  /// Waits for a commit, a second at most, and so long that commits close together become one piece.
  private func pause(afterNews isNews: Bool) {
    if isNews, options.pauseSeconds > 0 {
      CurrentThread.sleep(microseconds: UInt32(min(options.pauseSeconds, 10) * 1e6))
    }
    guard !hasStopped.load(ordering: .acquiring) else { return }
    _ = alarm.wait(seconds: 1)
  }

  /// Ends `run`, from any thread.
  public func stop() {
    hasStopped.store(true, ordering: .releasing)
    alarm.wake()
  }

  deinit { session.withLock { $0.state?.close() } }
}
