import Testing

@testable import HeartwoodBrowser

struct ResponseTests {
  private func lines(_ response: Response) -> [String] {
    String(decoding: response.head(keepsConnection: true), as: UTF8.self).split(separator: "\r\n").map(
      String.init)
  }

  @Test func `every answer forbids scripts of others, frames, guesses of types, and copies`() {
    let answers = [
      Response(type: "text/html", text: "a"), Response(Refusal(.forbidden, "no")),
      Response(type: "text/plain", .stream { _ in }),
    ]
    for lines in answers.map(lines) {
      let policy = lines.first { $0.hasPrefix("Content-Security-Policy: ") } ?? ""
      for part in ["default-src 'none'", "script-src 'self'", "frame-ancestors 'none'", "base-uri 'none'"] {
        #expect(policy.contains(part))
      }
      #expect(!policy.contains("unsafe") && !policy.contains("http"))
      #expect(lines.contains("X-Content-Type-Options: nosniff"))
      #expect(lines.contains("Cache-Control: no-store"))
      #expect(lines.contains("Referrer-Policy: no-referrer"))
      #expect(lines.contains("X-Frame-Options: DENY"))
      #expect(!lines.contains { $0.lowercased().hasPrefix("set-cookie") || $0.hasPrefix("Access-Control") })
    }
  }

  @Test func `a field of an answer cannot make another field`() {
    var response = Response(type: "text/plain", text: "")
    response.fields = [("X-Name", "a\r\nSet-Cookie: b\u{0}é")]
    #expect(lines(response).filter { $0.hasPrefix("Set-Cookie") } == [])
    #expect(lines(response).contains("X-Name: aSet-Cookie: b"))
  }

  @Test func `content has its length, and a stream is in chunks`() {
    #expect(lines(Response(type: "text/plain", text: "é")).contains("Content-Length: 2"))
    #expect(lines(Response(type: "text/plain", .stream { _ in })).contains("Transfer-Encoding: chunked"))
    #expect(lines(Response(Refusal(.methodNotAllowed, "no"))).contains("Allow: GET, HEAD"))
  }
}
