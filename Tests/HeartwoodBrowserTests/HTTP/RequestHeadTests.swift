import HeartwoodFaults
import Testing

@testable import HeartwoodBrowser

/// Heads of requests, as browsers send them and as others do.
struct RequestHeadTests {
  private func head(_ text: String) throws -> RequestHead {
    try RequestHead(Array(text.replacing("\n", with: "\r\n").utf8))
  }

  private func status(_ text: String) -> Status? { status(Array(text.replacing("\n", with: "\r\n").utf8)) }

  private func status(_ bytes: [UInt8]) -> Status? {
    do {
      _ = try RequestHead(bytes)
      return nil
    } catch {
      return error.status
    }
  }

  @Test func `a request has a method, a path, a query and fields`() throws {
    let head = try head(
      "GET /t/api/rows?entity=A%20b&where=a+%3D%3D+%22%C3%A9%22 HTTP/1.1\nHost: h:1\nX-A:\t b \n")
    #expect(head.method == .get)
    #expect(head.target.segments == ["t", "api", "rows"])
    #expect(head.target.query == ["entity": "A b", "where": "a == \"é\""])
    #expect(head.fields == ["host": "h:1", "x-a": "b"])
    #expect(head.keepsConnection)
    #expect(try !self.head("HEAD / HTTP/1.1\nConnection: close\n").keepsConnection)
  }

  @Test func `a request that could change something is refused`() {
    for method in ["POST", "PUT", "DELETE", "PATCH", "OPTIONS", "CONNECT", "get", "TRACE"] {
      #expect(status("\(method) / HTTP/1.1\nHost: h\n") == .methodNotAllowed)
    }
  }

  @Test func `a request with content is refused`() {
    #expect(status("GET / HTTP/1.1\nContent-Length: 1\n") == .contentTooLarge)
    #expect(status("GET / HTTP/1.1\nContent-Length: -1\n") == .contentTooLarge)
    #expect(status("GET / HTTP/1.1\nTransfer-Encoding: chunked\n") == .contentTooLarge)
    #expect(status("GET / HTTP/1.1\nContent-Length: 0\n") == nil)
  }

  @Test func `a head that programs could read differently is refused`() {
    for text in [
      "", "\n", "GET\n", "GET /\n", "GET  / HTTP/1.1\n", "GET / HTTP/1.1 x\n", " GET / HTTP/1.1\n",
      "GET / HTTP/1.1\nHost : h\n", "GET / HTTP/1.1\n: h\n", "GET / HTTP/1.1\nHost h\n",
      "GET / HTTP/1.1\nHost: a\nhost: b\n", "GET / HTTP/1.1\nA: b\n c\n", "GET / HTTP/1.1\nA\u{1}: b\n",
      "GET / HTTP/1.1\nA: \u{0}\n", "GET / HTTP/1.1\nA: é\n", "GET /é HTTP/1.1\n", "GET x HTTP/1.1\n",
      "GET http://h/ HTTP/1.1\n", "GET * HTTP/1.1\n", "GET /#a HTTP/1.1\n",
    ] {
      #expect(status(text) == .badRequest, "\(text.debugDescription)")
    }
    #expect(status(Array("GET / HTTP/1.1\nHost: a\r\n".utf8)) == .badRequest)
    #expect(status(Array("GET / HTTP/1.1\rHost: a\r\n".utf8)) == .badRequest)
    #expect(status(Array("GET / HTTP/1.1\r".utf8)) == .badRequest)
    #expect(status("GET / HTTP/1.0\n") == .versionNotSupported)
    #expect(status("GET / HTTP/2\n") == .versionNotSupported)
  }

  @Test func `a path that leads elsewhere is refused`() {
    for path in [
      "/../etc/passwd", "/t/../x", "/t/%2e%2e/x", "/t/.", "/t/%2E", "/t//x", "//x", "/t/a%2fb", "/t/%00",
      "/t/%", "/t/%4", "/t/%zz", "/t/%ff", "/t/?a=1&a=2", "/t/?a=%c3",
    ] {
      #expect(status("GET \(path) HTTP/1.1\n") == .badRequest, "\(path)")
    }
  }

  @Test func `a head has a limited number of fields`() {
    let fields = (0..<101).map { "A\($0): b\n" }.joined()
    #expect(status("GET / HTTP/1.1\n\(fields)") == .fieldsTooLarge)
  }

  @Test func `no bytes stop the program`() {
    var generator = SplitMix64(seed: 20_261_129)
    let start = Array("GET /a?b=%41 HTTP/1.1\r\nHost: h\r\nA: b\r\n".utf8)
    for _ in 0..<20_000 {
      var bytes = start
      for _ in 0...generator.below(4) {
        switch generator.below(3) {
        case 0: bytes[generator.below(bytes.count)] = UInt8(generator.below(256))
        case 1: bytes.insert(UInt8(generator.below(256)), at: generator.below(bytes.count))
        default: bytes.removeSubrange(generator.below(bytes.count)...)
        }
        if bytes.isEmpty { bytes = start }
      }
      _ = try? RequestHead(bytes)
    }
  }
}
