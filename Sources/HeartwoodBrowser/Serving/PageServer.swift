import HeartwoodFiles

/// Answers requests of one page at 127.0.0.1, with a thread for each connection and a limit on their number.
package final class PageServer: Sendable {
  /// Answers a request that is admitted: the parts of the path behind the token, the query, and who asks.
  package typealias Handler =
    @Sendable (
      _ path: ArraySlice<String>, _ query: [String: String], _ client: RequestClient
    ) -> Response

  /// How long is waited for a client, and how many are answered at once.
  package struct Limits: Sendable {
    package var connections = 64
    /// Nanoseconds for a head to arrive after its first byte.
    package var head = 10_000_000_000
    /// Nanoseconds until the first byte of another request.
    package var idle = 60_000_000_000
    /// Nanoseconds for a client to read what is written.
    package var writing = 30_000_000_000

    package init() {}
  }

  /// Where the page is.
  package let admission: Admission
  private let listener: LoopbackListener
  private let limits: Limits
  private let handler: Handler
  private let connections = OpenConnections()
  private let watch = ClientWatch()

  /// Listens, and answers nothing yet.
  ///
  /// - Parameter port: 0 for one that is free.
  /// - Throws: If the port cannot be listened at.
  package init(
    port: UInt16, limits: Limits = Limits(), token: String = Admission.randomToken(),
    _ handler: @escaping Handler
  ) throws(SocketError) {
    listener = try LoopbackListener(port: port)
    admission = Admission(port: listener.port, token: token)
    (self.limits, self.handler) = (limits, handler)
  }

  /// Answers on threads of its own, until `stop`.
  package func start() {
    SystemThread.start { [watch] in watch.run() }
    SystemThread.start { [self] in
      while let client = listener.accept() { take(client) }
    }
  }

  /// Ends all connections, and waits until the last answer has ended.
  package func stop() {
    listener.stop()
    connections.endAll()
    watch.end()
  }

  private func take(_ client: ClientSocket) {
    guard let number = connections.add(client, most: limits.connections) else {
      let refusal = Refusal(.unavailable, "too many connections are open")
      return ShortAnswer.write(Response(refusal), to: client)
    }
    let isStarted = SystemThread.tryStart { [self] in
      defer { connections.remove(number) }
      Exchange(client, admission, limits, watch, handler) { [connections] in connections.admit(number) }.run()
    }
    if !isStarted { connections.remove(number) }
  }
}

/// An answer that is written without waiting, by the thread that accepts connections.
private enum ShortAnswer {
  static func write(_ response: Response, to client: ClientSocket) {
    guard case .bytes(let content) = response.body else { return }
    let deadline = MonotonicTime.nanoseconds + wait
    try? client.write(response.head(keepsConnection: false) + content, until: deadline)
  }

  private static let wait = 100_000_000
}

/// The connections of a server, which all end with it.
final class OpenConnections: @unchecked Sendable {
  // Guards the members below it.
  private let lock = Lock()
  private let changed = ConditionVariable()
  private var clients: [Int: ClientSocket] = [:]
  /// Those that have not sent a request that is admitted, the oldest first.
  private var strangers: [Int] = []
  /// Those that were shut for others, and are about to be removed.
  private var leaving: Set<Int> = []
  private var next = 0
  private var isEnded = false

  /// Adds a client. If there are as many as there may be, the oldest one ends that has shown no token: any user of the computer can
  /// connect and send nothing.
  ///
  /// - Returns: The number by which it is removed; nil if there is no room.
  func add(_ client: ClientSocket, most: Int) -> Int? {
    lock.withLock {
      guard !isEnded else { return nil }
      if clients.count - leaving.count >= most {
        guard let oldest = strangers.first else { return nil }
        strangers.removeFirst()
        leaving.insert(oldest)
        clients[oldest]?.shutDown()
      }
      next += 1
      clients[next] = client
      strangers.append(next)
      return next
    }
  }

  /// Keeps a client that has sent a request that is admitted.
  func admit(_ number: Int) { lock.withLock { strangers.removeAll { $0 == number } } }

  func remove(_ number: Int) {
    lock.withLock {
      clients[number] = nil
      strangers.removeAll { $0 == number }
      leaving.remove(number)
    }
    changed.broadcast()
  }

  /// Shuts all connections, and waits until they are removed.
  func endAll() {
    lock.lock()
    defer { lock.unlock() }
    isEnded = true
    for client in clients.values { client.shutDown() }
    while !clients.isEmpty { changed.wait(lock) }
  }
}
