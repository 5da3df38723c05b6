/// The answer to a request.
package struct Response: Sendable {
  package enum Body: Sendable {
    case bytes([UInt8])
    /// Content whose length is not known before: the closure writes it.
    case stream(@Sendable (_ write: @escaping (_ bytes: [UInt8]) throws(ClientIsGone) -> Void) throws -> Void)
  }

  package let status: Status
  /// The media type of the content.
  package let type: String
  /// Fields besides those that every answer has.
  package var fields: [(name: String, value: String)] = []
  package let body: Body

  package init(_ status: Status = .ok, type: String, _ body: Body) {
    (self.status, self.type, self.body) = (status, type, body)
  }

  package init(_ status: Status = .ok, type: String, text: String) {
    self.init(status, type: type, .bytes(Array(text.utf8)))
  }

  package init(_ refusal: Refusal) {
    self.init(refusal.status, type: "text/plain; charset=utf-8", text: refusal.message + "\n")
    if refusal.status == .methodNotAllowed { fields.append(("Allow", "GET, HEAD")) }
  }
}

/// Thrown to who writes to a client that has closed the connection.
package struct ClientIsGone: Error {
  package init() {}
}

extension Response {
  /// The head of the answer, with the empty line after it.
  ///
  /// Nothing of a store is kept by the browser or shown in another page, and nothing in an answer is executed but the page's own script.
  package func head(keepsConnection: Bool) -> [UInt8] {
    var lines = ["HTTP/1.1 \(status.rawValue) \(status.reason)", "Content-Type: \(type)"]
    switch body {
    case .bytes(let bytes): lines.append("Content-Length: \(bytes.count)")
    case .stream: lines.append("Transfer-Encoding: chunked")
    }
    lines.append("Connection: \(keepsConnection ? "keep-alive" : "close")")
    let own = Set(fields.map { $0.name.lowercased() })
    for field in Self.everywhere where !own.contains(field.name.lowercased()) {
      lines.append("\(field.name): \(field.value)")
    }
    lines += fields.map { "\($0.name): \($0.value.filter(Self.isOfValue))" }
    return Array((lines.joined(separator: "\r\n") + "\r\n\r\n").utf8)
  }

  /// Whether a character can be in the value of a field, which ends with its line.
  private static func isOfValue(_ character: Character) -> Bool {
    character.asciiValue.map { (32..<127).contains($0) } ?? false
  }

  private static let everywhere: [(name: String, value: String)] = [
    ("Cache-Control", "no-store"), ("X-Content-Type-Options", "nosniff"), ("X-Frame-Options", "DENY"),
    ("Referrer-Policy", "no-referrer"), ("Cross-Origin-Opener-Policy", "same-origin"),
    ("Cross-Origin-Resource-Policy", "same-origin"),
    (
      "Content-Security-Policy",
      "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
        + "base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'"
    ),
  ]
}
