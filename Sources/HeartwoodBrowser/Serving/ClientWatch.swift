import HeartwoodFiles

/// Notices clients that close the connection while they are answered: nothing needs to be computed for them any more.
///
/// As other servers do, it takes the end of what a client sends for the end of the connection.
final class ClientWatch: @unchecked Sendable {
  // Guards the members below it.
  private let lock = Lock()
  private let changed = ConditionVariable()
  private var watched: [Int: (client: ClientSocket, act: @Sendable () -> Void)] = [:]
  private var next = 0
  private var isEnded = false

  /// How often clients are looked at, in nanoseconds, while there are some.
  private static let interval = 20_000_000

  /// Looks at clients, until `end`.
  func run() {
    lock.lock()
    defer { lock.unlock() }
    while !isEnded {
      guard !watched.isEmpty else {
        changed.wait(lock)
        continue
      }
      changed.wait(lock, nanoseconds: Self.interval)
      for (number, (client, act)) in watched where client.isClosed {
        watched[number] = nil
        act()
      }
    }
  }

  func end() {
    lock.withLock { isEnded = true }
    changed.broadcast()
  }

  fileprivate func add(_ client: ClientSocket, _ act: @escaping @Sendable () -> Void) -> Int {
    let number = lock.withLock {
      next += 1
      watched[next] = (client, act)
      return next
    }
    changed.broadcast()
    return number
  }

  fileprivate func remove(_ number: Int) { lock.withLock { watched[number] = nil } }
}

/// The client of a request that is being answered.
package final class RequestClient {
  private let client: ClientSocket
  private let watch: ClientWatch
  private var number: Int?

  init(_ client: ClientSocket, _ watch: ClientWatch) { (self.client, self.watch) = (client, watch) }

  /// Has a closure called if the client closes the connection before the answer is written. Only the last closure is called.
  ///
  /// - Parameter act: Called on another thread. It must not wait.
  package func whenGone(_ act: @escaping @Sendable () -> Void) {
    end()
    number = watch.add(client, act)
  }

  /// Calls nothing any more.
  func end() {
    if let number { watch.remove(number) }
    number = nil
  }
}
