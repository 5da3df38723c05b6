import HeartwoodFiles

/// The requests of one connection, each answered before the next one is read.
struct Exchange {
  private let client: ClientSocket
  private let admission: Admission
  private let limits: PageServer.Limits
  private let watch: ClientWatch
  private let handler: PageServer.Handler
  private let admitted: () -> Void

  /// - Parameter admitted: Called for each request that is admitted.
  init(
    _ client: ClientSocket, _ admission: Admission, _ limits: PageServer.Limits, _ watch: ClientWatch,
    _ handler: @escaping PageServer.Handler, admitted: @escaping () -> Void
  ) {
    (self.client, self.admission, self.limits) = (client, admission, limits)
    (self.watch, self.handler, self.admitted) = (watch, handler, admitted)
  }

  /// Answers until the client ends the connection, a request is refused, or a deadline passes.
  func run() {
    var input = HeadBuffer()
    do {
      while let bytes = try nextHead(&input) {
        guard try answer(bytes) else { return }
      }
    } catch let refusal as Refusal {
      refuse(refusal)
    } catch {
      // The client is gone: no answer reaches it.
      return
    }
  }

  /// Answers and ends the connection. What the client still sends is read for a moment, as the system drops an answer before bytes that are
  /// not read.
  private func refuse(_ refusal: Refusal) {
    try? write(Response(refusal), isHead: false, keepsConnection: false)
    client.endWriting()
    let deadline = MonotonicTime.nanoseconds + Self.moment
    for _ in 0..<Self.mostIgnored {
      guard client.read(4096, until: deadline)?.isEmpty == false else { return }
    }
  }

  private static let moment = 200_000_000
  private static let mostIgnored = 64

  /// Waits for a head; nil at the end of the connection, and where no request begins in time.
  private func nextHead(_ input: inout HeadBuffer) throws -> [UInt8]? {
    var deadline = MonotonicTime.nanoseconds + (input.isEmpty ? limits.idle : limits.head)
    while true {
      if let head = try input.next() { return head }
      let wasEmpty = input.isEmpty
      guard let bytes = client.read(4096, until: deadline) else {
        guard !wasEmpty else { return nil }
        throw Refusal(.requestTimeout, "the request did not arrive in time")
      }
      guard !bytes.isEmpty else { return nil }
      if wasEmpty { deadline = MonotonicTime.nanoseconds + limits.head }
      input.append(bytes)
    }
  }

  /// Answers a request; false if the connection ends with it.
  private func answer(_ bytes: [UInt8]) throws -> Bool {
    let head = try RequestHead(bytes)
    let path = try admission.path(of: head)
    admitted()
    let asking = RequestClient(client, watch)
    defer { asking.end() }
    let response = handler(path, head.target.query, asking)
    try write(response, isHead: head.method == .head, keepsConnection: head.keepsConnection)
    return head.keepsConnection
  }

  private func write(_ response: Response, isHead: Bool, keepsConnection: Bool) throws {
    let head = response.head(keepsConnection: keepsConnection)
    switch response.body {
    case .bytes(let content): try write(isHead ? head : head + content)
    case .stream(let body):
      try write(head)
      guard !isHead else { return }
      try body { (bytes) throws(ClientIsGone) in
        // A chunk without bytes is the end of the content.
        if !bytes.isEmpty { try write(Self.chunk(bytes)) }
      }
      try write(Self.chunk([]))
    }
  }

  private func write(_ bytes: [UInt8]) throws(ClientIsGone) {
    try client.write(bytes, until: MonotonicTime.nanoseconds + limits.writing)
  }

  private static func chunk(_ bytes: [UInt8]) -> [UInt8] {
    Array((String(bytes.count, radix: 16) + "\r\n").utf8) + bytes + [13, 10]
  }
}

/// The bytes that a client has sent, cut into heads.
struct HeadBuffer {
  private var bytes: [UInt8] = []
  /// How far there is no end of a head.
  private var searched = 0

  var isEmpty: Bool { bytes.isEmpty }

  mutating func append(_ more: [UInt8]) { bytes += more }

  /// Takes the next head, without the empty line after it; nil if it is not whole.
  ///
  /// - Throws: If it is longer than any.
  mutating func next() throws(Refusal) -> [UInt8]? {
    var place = max(0, searched - Self.end.count)
    while place + Self.end.count <= min(bytes.count, RequestHead.longest + Self.end.count) {
      if bytes[place..<place + Self.end.count].elementsEqual(Self.end) {
        let head = Array(bytes[..<place])
        bytes.removeFirst(place + Self.end.count)
        searched = 0
        return head
      }
      place += 1
    }
    searched = bytes.count
    guard bytes.count < RequestHead.longest + Self.end.count else {
      throw Refusal(.fieldsTooLarge, "the head of the request is too long")
    }
    return nil
  }

  private static let end: [UInt8] = [13, 10, 13, 10]
}
