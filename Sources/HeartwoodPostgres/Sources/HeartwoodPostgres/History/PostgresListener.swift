import Dispatch
import Foundation
import Heartwood

/// Waits for the saves of a store on a connection of its own, on a thread, as long as they are observed.
///
/// When the connection is lost, it is made again, and the observers are told then, too: something may have been saved meanwhile.
final class PostgresListener: @unchecked Sendable {
  /// An observation, which ends with the object.
  private final class Observation {
    private let listener: PostgresListener
    private let number: Int

    init(_ listener: PostgresListener, _ number: Int) { (self.listener, self.number) = (listener, number) }

    deinit { listener.remove(number) }
  }

  /// A thread and its way to be ended.
  private final class Waiting: @unchecked Sendable {
    let reading: Int32
    private let writing: Int32

    init() throws {
      var ends: [Int32] = [0, 0]
      guard pipe(&ends) == 0 else {
        throw HeartwoodError(
          .persistentStoreOperation, "saves are not observed: there is no descriptor left for it")
      }
      (reading, writing) = (ends[0], ends[1])
    }

    func end() { close(writing) }

    deinit { close(reading) }
  }

  private let address: PostgresAddress
  private let channel: String
  private let lock = NSLock()
  private var bodies: [Int: @Sendable () -> Void] = [:]
  private var lastNumber = 0
  private var waiting: Waiting?

  init(_ address: PostgresAddress, channel: String) { (self.address, self.channel) = (address, channel) }

  /// Calls `body` after each save until the result is released.
  ///
  /// - Throws: `PostgresFailure` if no connection can be made.
  func observe(_ body: @escaping @Sendable () -> Void) throws -> AnyObject {
    lock.lock()
    defer { lock.unlock() }
    if waiting == nil {
      let connection = try connect()
      let made = try Waiting()
      waiting = made
      let thread = Thread { [weak self] in PostgresListener.run(made, connection) { self } }
      thread.name = "Heartwood PostgreSQL notices"
      thread.start()
    }
    lastNumber += 1
    bodies[lastNumber] = body
    return Observation(self, lastNumber)
  }

  private func remove(_ number: Int) {
    lock.lock()
    defer { lock.unlock() }
    bodies[number] = nil
    guard bodies.isEmpty else { return }
    waiting?.end()
    waiting = nil
  }

  /// - Parameter attempt: How many have failed.
  private func connect(_ attempt: Int = 0) throws -> PostgresConnection {
    let connection = try PostgresConnection(address.inOrder(ofAttempt: attempt))
    try connection.run("LISTEN \(channel)")
    return connection
  }

  private func tell() {
    lock.lock()
    let bodies = bodies.sorted { $0.key < $1.key }.map(\.value)
    lock.unlock()
    for body in bodies { body() }
  }

  /// How long is waited before a lost connection is made again, in milliseconds: twice as long after each failure.
  private static let (firstPause, longestPause) = (Int32(50), Int32(5000))

  private static func run(
    _ waiting: Waiting, _ first: PostgresConnection, _ listener: () -> PostgresListener?
  ) {
    var (connection, pause, failures) = (PostgresConnection?.some(first), firstPause, 0)
    while true {
      switch connection?.waitForNotices(or: waiting.reading) {
      case .other: return
      case .notices: listener()?.tell()
      case .lost, nil:
        connection = nil
        var ended = pollfd(fd: waiting.reading, events: Int16(POLLIN), revents: 0)
        if poll(&ended, 1, pause) > 0 { return }
        pause = min(pause * 2, longestPause)
        guard let listener = listener() else { return }
        guard let made = try? listener.connect(failures) else {
          failures += 1
          continue
        }
        (connection, pause, failures) = (made, firstPause, 0)
        listener.tell()
      }
    }
  }
}

extension PostgresStore {
  /// Observes the saves of all programs that are recorded in the history.
  ///
  /// The result is nil if there are none, or if a pooler does not pass notices on.
  func observe(_ body: @escaping @Sendable () -> Void) throws -> AnyObject? {
    guard address.dialect.hasHistory, !address.hasPooler else { return nil }
    return try translating(.persistentStoreOperation, "the saves to \(address.text) are not observed") {
      try listener.observe(body)
    }
  }
}
