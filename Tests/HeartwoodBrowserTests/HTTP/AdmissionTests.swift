import HeartwoodFiles
import Testing

@testable import HeartwoodBrowser

/// Which requests are answered: those of the page that the user has opened.
struct AdmissionTests {
  private let admission = Admission(port: 4321, token: "5ecre7")

  private func path(_ fields: [String], _ path: String = "/5ecre7/api/store") throws -> [String] {
    let lines = ["GET \(path) HTTP/1.1"] + fields
    return Array(try admission.path(of: RequestHead(Array(lines.map { $0 + "\r\n" }.joined().utf8))))
  }

  private func isRefused(_ fields: [String], _ path: String = "/5ecre7/api/store") -> Bool {
    do {
      _ = try self.path(fields, path)
      return false
    } catch {
      return (error as? Refusal)?.status == .forbidden
    }
  }

  @Test func `the address with its token is admitted, by either name of this computer`() throws {
    for host in ["127.0.0.1:4321", "localhost:4321", "LOCALHOST:4321"] {
      #expect(try path(["Host: \(host)"]) == ["api", "store"])
      #expect(try path(["Host: \(host)", "Origin: http://\(host)"]) == ["api", "store"])
    }
    let own = ["Host: 127.0.0.1:4321", "Sec-Fetch-Site: same-origin", "Sec-Fetch-Dest: empty"]
    #expect(try path(own) == ["api", "store"])
    #expect(
      try path(["Host: 127.0.0.1:4321", "Sec-Fetch-Site: none", "Sec-Fetch-Dest: document"]) == [
        "api", "store",
      ])
    #expect(admission.address == "http://127.0.0.1:4321/5ecre7/")
  }

  @Test func `another name of this computer is refused, as a page of another site would use it`() {
    for host in [
      "evil.example:4321", "evil.example", "127.0.0.1", "localhost", "127.0.0.1:4322", "127.0.0.1:43210",
      "0.0.0.0:4321",
      "[::1]:4321", "127.0.0.1:4321.evil.example", "localhost:4321@evil.example", "",
    ] {
      #expect(isRefused(["Host: \(host)"]), "\(host)")
    }
    #expect(isRefused([]))
  }

  @Test func `a request of another page is refused`() {
    let host = "Host: 127.0.0.1:4321"
    for origin in [
      "null", "http://evil.example", "http://127.0.0.1:1", "https://127.0.0.1:4321", "http://localhost:4321",
      "",
    ] {
      #expect(isRefused([host, "Origin: \(origin)"]), "\(origin)")
    }
    for site in ["cross-site", "same-site", "SAME-ORIGIN", ""] {
      #expect(isRefused([host, "Sec-Fetch-Site: \(site)"]), "\(site)")
    }
    for place in ["iframe", "frame", "object", "embed", "fencedframe"] {
      #expect(isRefused([host, "Sec-Fetch-Dest: \(place)"]), "\(place)")
    }
  }

  @Test func `an address without the token is refused, whatever is asked for`() {
    for path in [
      "/", "/api/store", "/5ecre", "/5ecre70/api/store", "/5ECRE7/", "/x/5ecre7/", "/%00ecre7/",
      "/favicon.ico",
    ] {
      #expect(isRefused(["Host: 127.0.0.1:4321"], path) || path.contains("%00"), "\(path)")
    }
  }

  @Test func `tokens are equal only as a whole`() {
    #expect(Admission.isEqual("abc", "abc"))
    for other in ["", "ab", "abcd", "abd", "Abc", "\u{61}bc\u{301}"] {
      #expect(!Admission.isEqual(other, "abc"))
    }
  }

  @Test func `a token has 128 bits of the system's entropy`() {
    struct Fixed: Entropy {
      func next() -> UInt64 { 0xAB }
    }
    #expect(Admission.randomToken(Fixed()) == "00000000000000ab00000000000000ab")
    #expect(Set((0..<100).map { _ in Admission.randomToken() }).count == 100)
  }
}
