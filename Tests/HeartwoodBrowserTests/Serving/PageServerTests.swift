import HeartwoodFiles
import TestSupport
import Testing

@testable import HeartwoodBrowser

/// A server on a port of its own, and clients that behave well or badly.
struct PageServerTests {
  private static func server(
    limits change: (inout PageServer.Limits) -> Void = { _ in },
    handler: @escaping PageServer.Handler = { path, query, _ in
      Response(type: "text/plain", text: "\(path.joined(separator: "/")) \(query["a"] ?? "")")
    }
  ) throws -> PageServer {
    var limits = PageServer.Limits()
    change(&limits)
    let server = try PageServer(port: 0, limits: limits, token: "t", handler)
    server.start()
    return server
  }

  private static func port(of server: PageServer) -> UInt16 {
    UInt16(server.admission.address.split(separator: ":").last?.prefix { $0.isNumber } ?? "") ?? 0
  }

  private static func client(of server: PageServer) throws -> TestClient {
    try TestClient(port: port(of: server))
  }

  private static func head(_ path: String, of server: PageServer, _ rest: String = "", method: String = "GET")
    -> String
  {
    "\(method) \(path) HTTP/1.1\r\nHost: 127.0.0.1:\(port(of: server))\r\n\(rest)\r\n"
  }

  @Test func `requests of one connection are answered in order, also if they are sent together`() throws {
    let server = try Self.server()
    defer { server.stop() }
    let client = try Self.client(of: server)
    client.send(Self.head("/t/one?a=1", of: server))
    #expect(client.read(until: "one 1").hasPrefix("HTTP/1.1 200 OK\r\n"))
    client.send(
      Self.head("/t/two", of: server) + Self.head("/t/three?a=%C3%A9", of: server, "Connection: close\r\n"))
    let answers = client.read()
    #expect(answers.contains("\r\n\r\ntwo HTTP/1.1 200 OK"))
    #expect(answers.hasSuffix("\r\n\r\nthree é"))
  }

  @Test func `an answer to HEAD has no content`() throws {
    let server = try Self.server()
    defer { server.stop() }
    let client = try Self.client(of: server)
    client.send(Self.head("/t/one", of: server, "Connection: close\r\n", method: "HEAD"))
    let answer = client.read()
    #expect(answer.contains("Content-Length: 4\r\n"))
    #expect(answer.hasSuffix("\r\n\r\n"))
  }

  @Test func `a request that is refused ends the connection`() throws {
    let server = try Self.server()
    defer { server.stop() }
    for (text, status) in [
      (Self.head("/wrong/", of: server), "403"), (Self.head("/t/../x", of: server), "400"),
      (Self.head("/t/", of: server, method: "POST"), "405"),
      ("GET /t/ HTTP/1.1\r\nHost: evil.example\r\n\r\n", "403"),
      ("\r\n\r\n", "400"), ("GET /t/ HTTP/1.1\r\n" + String(repeating: "A", count: 20_000), "431"),
    ] {
      let client = try Self.client(of: server)
      client.send(text + (status == "431" ? "" : Self.head("/t/second", of: server)))
      let answer = client.read()
      #expect(answer.hasPrefix("HTTP/1.1 \(status) "), "\(text.prefix(60))")
      #expect(answer.contains("Connection: close\r\n"))
      #expect(!answer.contains("second"))
    }
  }

  @Test func `a client that sends its request too slowly gets an error`() throws {
    let server = try Self.server { $0.head = 20_000_000 }
    defer { server.stop() }
    let client = try Self.client(of: server)
    client.send("GET /t/ HT")
    #expect(client.read().hasPrefix("HTTP/1.1 408 "))
  }

  @Test func `a client that sends nothing is left after a while`() throws {
    let server = try Self.server { $0.idle = 20_000_000 }
    defer { server.stop() }
    #expect(try Self.client(of: server).read() == "")
  }

  @Test func `a client that reads nothing is left after a while`() throws {
    let ended = EventSignal()
    let server = try Self.server {
      $0.writing = 20_000_000
    } handler: { _, _, _ in
      Response(
        type: "text/plain",
        .stream { write in
          defer { ended.raise() }
          while true { try write([UInt8](repeating: 65, count: 1 << 16)) }
        })
    }
    defer { server.stop() }
    let client = try Self.client(of: server)
    client.send(Self.head("/t/", of: server))
    #expect(ended.wait(after: 0, nanoseconds: 60_000_000_000) == 1)
    client.end()
  }

  @Test(arguments: [false, true])
  func `a handler is told of a client that is gone before it is answered`(isStream: Bool) throws {
    let (asked, gone, ended) = (EventSignal(), EventSignal(), EventSignal())
    let wait: @Sendable () -> Void = {
      asked.raise()
      _ = gone.wait(after: 0, nanoseconds: 60_000_000_000)
      ended.raise()
    }
    let server = try Self.server(handler: { path, _, client in
      guard path == ["slow"] else { return Response(type: "text/plain", text: "here") }
      client.whenGone { gone.raise() }
      guard isStream else {
        wait()
        return Response(type: "text/plain", text: "late")
      }
      return Response(type: "text/plain", .stream { _ in wait() })
    })
    defer { server.stop() }
    let client = try Self.client(of: server)
    client.send(Self.head("/t/quick", of: server))
    #expect(client.read(until: "here").contains("200 OK"))
    client.send(Self.head("/t/slow", of: server))
    #expect(asked.wait(after: 0, nanoseconds: 60_000_000_000) == 1)
    #expect(gone.count == 0)
    client.end()
    #expect(ended.wait(after: 0, nanoseconds: 60_000_000_000) == 1)
    #expect(gone.count == 1)
  }

  @Test func `a client that has sent its next request is not taken for gone`() throws {
    let gone = EventSignal()
    let server = try Self.server(handler: { path, _, client in
      client.whenGone { gone.raise() }
      // Some looks at the clients pass meanwhile.
      if path == ["slow"] { _ = gone.wait(after: 0, nanoseconds: 100_000_000) }
      return Response(type: "text/plain", text: path.joined())
    })
    defer { server.stop() }
    let client = try Self.client(of: server)
    client.send(
      Self.head("/t/slow", of: server) + Self.head("/t/next", of: server, "Connection: close\r\n"))
    let answers = client.read()
    #expect(answers.contains("\r\n\r\nslow"))
    #expect(answers.hasSuffix("\r\n\r\nnext"))
    #expect(gone.count == 0)
  }

  @Test func `more connections than may be open get an error, and there is room again after one has ended`()
    throws
  {
    let server = try Self.server { $0.connections = 2 }
    defer { server.stop() }
    let first = try Self.client(of: server)
    let second = try Self.client(of: server)
    for client in [first, second] {
      client.send(Self.head("/t/open", of: server))
      #expect(client.read(until: "open ").contains("200 OK"))
    }
    #expect(try Self.client(of: server).read().hasPrefix("HTTP/1.1 503 "))
    first.send(Self.head("/t/last", of: server, "Connection: close\r\n"))
    #expect(first.read().hasSuffix("last "))
    // The thread of the connection ends after the client has seen its end.
    var answer = ""
    while !answer.contains("200 OK") {
      let client = try Self.client(of: server)
      client.send(Self.head("/t/again", of: server, "Connection: close\r\n"))
      answer = client.read()
    }
    #expect(answer.hasSuffix("again "))
  }

  @Test func `clients that send nothing make room for one that does`() throws {
    let server = try Self.server { $0.connections = 3 }
    defer { server.stop() }
    let known = try Self.client(of: server)
    known.send(Self.head("/t/known", of: server))
    #expect(known.read(until: "known ").contains("200 OK"))
    let silent = try (0..<2).map { _ in try Self.client(of: server) }
    for number in 0..<4 {
      let client = try Self.client(of: server)
      client.send(Self.head("/t/\(number)", of: server, "Connection: close\r\n"))
      #expect(client.read().hasSuffix("\(number) "))
    }
    #expect(silent[0].read() == "")
    known.send(Self.head("/t/again", of: server, "Connection: close\r\n"))
    #expect(known.read().hasSuffix("again "))
  }

  @Test func `a stream is sent in chunks, and its failure cuts it`() throws {
    let server = try Self.server(handler: { path, _, _ in
      Response(
        type: "text/plain",
        .stream { write in
          try write(Array("ab".utf8))
          try write([])
          if path == ["cut"] { throw ClientIsGone() }
          try write(Array("cde".utf8))
        })
    })
    defer { server.stop() }
    let client = try Self.client(of: server)
    client.send(Self.head("/t/whole", of: server, "Connection: close\r\n"))
    #expect(client.read().hasSuffix("\r\n\r\n2\r\nab\r\n3\r\ncde\r\n0\r\n\r\n"))
    let other = try Self.client(of: server)
    other.send(Self.head("/t/cut", of: server))
    #expect(other.read().hasSuffix("\r\n\r\n2\r\nab\r\n"))
  }

  @Test func `stopping ends idle connections, requests that are not whole, and streams`() throws {
    let signal = EventSignal()
    let started = EventSignal()
    let server = try Self.server(handler: { _, _, _ in
      Response(
        type: "text/event-stream",
        .stream { write in
          try write(Array("x".utf8))
          started.raise()
          while signal.wait(after: 0, nanoseconds: 1_000_000_000_000) != nil {}
        })
    })
    let (idle, half, following) = (
      try Self.client(of: server), try Self.client(of: server), try Self.client(of: server)
    )
    half.send("GET /t/")
    following.send(Self.head("/t/", of: server))
    #expect(started.wait(after: 0, nanoseconds: 60_000_000_000) == 1)
    signal.end()
    server.stop()
    #expect(idle.read() == "")
    #expect(half.read() == "")
    #expect(following.read().contains("\r\n\r\n1\r\nx\r\n"))
  }

  @Test func `a port that is in use is reported`() throws {
    let server = try Self.server()
    defer { server.stop() }
    #expect {
      _ = try PageServer(port: Self.port(of: server)) { _, _, _ in Response(type: "", text: "") }
    } throws: {
      ($0 as? SocketError)?.isInUse == true
    }
  }

  @Test func `only this computer reaches the server`() throws {
    let server = try Self.server()
    defer { server.stop() }
    #expect(server.admission.address.hasPrefix("http://127.0.0.1:"))
  }
}
