import Foundation

/// Passes the messages of PostgreSQL's protocol on between clients and a server over Unix sockets, as a rule says: it cuts connections
/// before or after a message, and answers with errors in the place of the server.
final class WireProxy: @unchecked Sendable {
  /// A message, as the rule sees it.
  struct Message {
    let isFromClient: Bool
    /// The letter of its kind; that of the first message of a connection is a space.
    let type: Character
    let body: [UInt8]

    /// The body as a text: the SQL of a statement is in it.
    var text: String { String(decoding: body, as: UTF8.self) }
  }

  enum Action {
    case pass
    /// Ends the connection: the message does not arrive.
    case cutBefore
    /// Ends the connection when the message has arrived.
    case cutAfter
    /// The server does not get the message of a client, which is answered with an error of this SQLSTATE.
    case refuse(String)
    /// Nothing of the connection arrives any more, from this message on, on either side: it stays open.
    case stall
  }

  let folder: String
  private let target: String
  private let listener: Int32
  private let lock = NSLock()
  private var rule: (Message) -> Action = { _ in .pass }
  private var sockets: Set<Int32> = []
  private var takesConnections = true
  private var answersConnections = true
  private var accepted = 0

  /// - Parameter target: The folder of the server's socket.
  init(to target: String) throws {
    signal(SIGPIPE, SIG_IGN)
    self.target = target + "/.s.PGSQL.5432"
    folder = "/tmp/hwpx-\(UUID().uuidString.prefix(8))"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    listener = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
    let path = folder + "/.s.PGSQL.5432"
    guard Self.withAddress(path, { bind(listener, $0, $1) }) == 0, listen(listener, 64) == 0 else {
      throw PostgresServer.Failure(message: "no socket at \(path)")
    }
    // The thread keeps the proxy until it is closed.
    Thread.detachNewThread { self.accept() }
  }

  /// Calls `rule` for each message, one at a time.
  func setRule(_ rule: @escaping (Message) -> Action) { lock.withLock { self.rule = rule } }

  /// Passes everything on.
  func clear() {
    lock.withLock { (rule, takesConnections, answersConnections) = ({ _ in .pass }, true, true) }
  }

  /// Ends new connections at once from now on.
  func refuseConnections() { lock.withLock { takesConnections = false } }

  /// As `refuseConnections()`, from within the rule.
  func refuseFromRule() { takesConnections = false }

  /// Takes new connections from now on, and passes nothing of them on: called from within the rule.
  func stallConnectionsFromRule() { answersConnections = false }

  /// How many connections it has taken.
  var connections: Int { lock.withLock { accepted } }

  func close() {
    shutdown(listener, Int32(SHUT_RDWR))
    Foundation.close(listener)
    try? FileManager.default.removeItem(atPath: folder)
    lock.withLock { for socket in sockets { shutdown(socket, Int32(SHUT_RDWR)) } }
  }

  // MARK: Sockets

  private static func withAddress(_ path: String, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32)
    -> Int32
  {
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: Array(path.utf8) + [0]) }
    return withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        body($0, socklen_t(MemoryLayout<sockaddr_un>.size))
      }
    }
  }

  private func accept() {
    while true {
      let client = Foundation.accept(listener, nil, nil)
      guard client >= 0 else { return }
      let server = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
      let (isOpen, isAnswered) = lock.withLock {
        accepted += 1
        return (takesConnections, answersConnections)
      }
      guard isAnswered else {
        // It stays open until the proxy is closed.
        lock.withLock { _ = sockets.insert(client) }
        Foundation.close(server)
        continue
      }
      guard isOpen, Self.withAddress(target, { connect(server, $0, $1) }) == 0 else {
        Foundation.close(client)
        Foundation.close(server)
        continue
      }
      lock.withLock { sockets.formUnion([client, server]) }
      let pair = Pair(client: client, server: server) { [self] in
        lock.withLock { sockets.subtract([client, server]) }
        Foundation.close(client)
        Foundation.close(server)
      }
      Thread.detachNewThread { self.pump(pair, fromClient: true) }
      Thread.detachNewThread { self.pump(pair, fromClient: false) }
    }
  }

  /// Both ends of a connection, which are closed when both directions have ended.
  private final class Pair: @unchecked Sendable {
    let client: Int32
    let server: Int32
    private let lock = NSLock()
    private var ended = 0
    private var hasStalled = false
    private var status = UInt8(ascii: "I")
    private let close: () -> Void

    init(client: Int32, server: Int32, _ close: @escaping () -> Void) {
      (self.client, self.server, self.close) = (client, server, close)
    }

    /// Whether the server is in a transaction, as it has said last.
    func note(status: UInt8) { lock.withLock { self.status = status } }
    var isInTransaction: Bool { lock.withLock { status != UInt8(ascii: "I") } }

    func stall() { lock.withLock { hasStalled = true } }
    var isStalled: Bool { lock.withLock { hasStalled } }

    func cut() {
      shutdown(client, Int32(SHUT_RDWR))
      shutdown(server, Int32(SHUT_RDWR))
    }

    func end() {
      cut()
      let isLast = lock.withLock {
        ended += 1
        return ended == 2
      }
      if isLast { close() }
    }
  }

  private func pump(_ pair: Pair, fromClient: Bool) {
    defer { pair.end() }
    let (source, destination) = fromClient ? (pair.client, pair.server) : (pair.server, pair.client)
    var isFirst = fromClient
    // The error that answers what comes until the next Sync.
    var refusal: String?
    while true {
      let typeLength = isFirst ? 0 : 1
      guard let head = Self.read(source, typeLength + 4) else { return }
      let length = head.suffix(4).reduce(0) { $0 << 8 | Int($1) }
      guard let body = Self.read(source, length - 4) else { return }
      let type = isFirst ? " " : Character(UnicodeScalar(head[0]))
      isFirst = false
      if pair.isStalled { continue }
      if let state = refusal {
        if type == "S" {
          refusal = nil
          guard Self.write(pair.client, Self.error(state, pair.isInTransaction)) else { return }
        }
        continue
      }
      if !fromClient, type == "Z" { pair.note(status: body[0]) }
      let message = Message(isFromClient: fromClient, type: type, body: body)
      switch lock.withLock({ rule(message) }) {
      case .pass: guard Self.write(destination, head + body) else { return }
      case .stall: pair.stall()
      case .cutBefore: return
      case .cutAfter:
        _ = Self.write(destination, head + body)
        return
      case .refuse(let state):
        if type == "Q" {
          guard Self.write(pair.client, Self.error(state, pair.isInTransaction)) else { return }
        } else {
          refusal = state
        }
      }
    }
  }

  /// An error, and that the server is ready, in a transaction that has failed if there was one.
  private static func error(_ state: String, _ isInTransaction: Bool) -> [UInt8] {
    var fields: [UInt8] = []
    for (code, text) in [("S", "ERROR"), ("V", "ERROR"), ("C", state), ("M", "refused by the proxy")] {
      fields += Array(code.utf8) + Array(text.utf8) + [0]
    }
    fields.append(0)
    func number(_ value: Int) -> [UInt8] {
      withUnsafeBytes(of: UInt32(value).bigEndian) { Array($0) }
    }
    return [UInt8(ascii: "E")] + number(fields.count + 4) + fields + [UInt8(ascii: "Z")] + number(5)
      + [isInTransaction ? UInt8(ascii: "E") : UInt8(ascii: "I")]
  }

  private static func read(_ socket: Int32, _ count: Int) -> [UInt8]? {
    var bytes = [UInt8](repeating: 0, count: count)
    var done = 0
    while done < count {
      let got = bytes.withUnsafeMutableBytes { recv(socket, $0.baseAddress! + done, count - done, 0) }
      guard got > 0 else { return nil }
      done += got
    }
    return bytes
  }

  private static func write(_ socket: Int32, _ bytes: [UInt8]) -> Bool {
    var done = 0
    while done < bytes.count {
      let put = bytes.withUnsafeBytes {
        send(socket, $0.baseAddress! + done, bytes.count - done, Int32(MSG_NOSIGNAL))
      }
      guard put > 0 else { return false }
      done += put
    }
    return true
  }
}
