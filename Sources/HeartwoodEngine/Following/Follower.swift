import HeartwoodFiles
import Synchronization

/// A report on the work of a follower.
public struct FollowingReport: Hashable, Sendable {
  /// The newest generation of the follower's store.
  public var generation: Generation
  /// The number of the newest piece.
  public var piece: UInt64
  /// The commit time of its newest transaction, in nanoseconds since 1970.
  public var time: Int64
  /// When it was shipped.
  public var shipped: Int64
  /// Bytes that were copied.
  public var bytes: Int64 = 0
}

/// Keeps a copy of a store up to date with what is shipped to a destination.
///
/// The copy is a store that any number of processes may open for reading only; each read sees the newest generation that was
/// copied. A follower that cannot go on says so: whatever is missing, altered or out of order at the destination is an error
/// of the next `advance`, with the piece and the reason. A piece that has not been shipped yet is none.
public final class Follower: Sendable {
  private let destination: any ShippingDestination
  private let path: String
  private let fileSystem: any FileSystem
  /// Held while pieces are copied.
  private let session = StateLock(Session())
  private let hasStopped = Atomic(false)
  private let alarm = Guarded<(any DirectoryWatch)?>(nil)

  private final class Session {
    /// Nil before the first copy, and after one that was interrupted.
    var state: FollowingState?
  }

  /// Creates a follower, which copies nothing before `advance` or `run`.
  ///
  /// - Parameters:
  ///   - destination: Where the store is shipped to.
  ///   - path: A folder that is missing, empty, or contains the store of a follower of the same store.
  ///   - fileSystem: The file system of that folder.
  public init(
    from destination: any ShippingDestination, to path: String,
    fileSystem: any FileSystem = PosixFileSystem()
  ) {
    self.destination = destination
    self.path = path
    self.fileSystem = fileSystem
  }

  /// Copies everything that was shipped since.
  ///
  /// - Returns: The state reached; 0 bytes if nothing was new.
  /// - Throws: `.missingPiece`, `.damaged`, `.otherStore`, `.otherLineage` and `.wentBack` for what is wrong at the destination;
  ///   `.diverged` if the follower's store was written to; `.replaced` once if it was moved, replaced or deleted in part; `.exists` if the folder contains another store; `.notFound` if nothing
  ///   was shipped yet; `.locked` if another process has the store open for writing; errors of the file systems. The store is
  ///   as it was then, and it can be called again.
  /// - Complexity: O(n) in the new bytes; O(n) in the size of the store for the first copy.
  @discardableResult
  public func advance() throws(EngineError) -> FollowingReport {
    try session.withLock { (session) throws(EngineError) in
      let state: FollowingState
      if let open = session.state {
        state = open
      } else {
        state = FollowingState(try FollowerStore.open(path, from: destination, fileSystem), destination)
        session.state = state
      }
      do throws(EngineError) { return try state.advance() } catch {
        guard state.isInterrupted || error.code == .replaced else { throw error }
        // Begins again from what is in the folder at the path.
        state.close()
        session.state = nil
        throw error
      }
    }
  }

  /// Copies what is shipped until `stop` is called or `report` returns false.
  ///
  /// - Parameters:
  ///   - seconds: The longest time between two looks at the destination.
  ///   - report: Called after each step that has copied something, and after each error. After an error it is tried again.
  public func run(
    every seconds: Double = 1, _ report: (Result<FollowingReport, EngineError>) -> Bool
  ) {
    let watch = destination.watch() ?? TimedWatch(interval: nil)
    alarm.withLock { $0 = watch }
    while !hasStopped.load(ordering: .acquiring) {
      let outcome = Result { () throws(EngineError) in try advance() }
      if (try? outcome.get())?.bytes != 0, !report(outcome) { return }
      _ = watch.wait(seconds: seconds)
    }
  }

  /// Ends `run`, from any thread.
  public func stop() {
    hasStopped.store(true, ordering: .releasing)
    alarm.withLock { $0 }?.wake()
  }

  /// Releases the store, which can then be followed by another process, or opened for writing: from then on it is one of its own.
  public func close() {
    session.withLock {
      $0.state?.close()
      $0.state = nil
    }
  }

  deinit { close() }
}
