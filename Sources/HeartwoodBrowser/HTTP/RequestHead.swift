/// The head of a request in HTTP/1.1: what is asked for, and the fields that decide whether it is answered.
///
/// Only requests without content are read, and only in the form that browsers send: a line that ends otherwise, a folded field or a field
/// that is there twice is refused, as programs that read it differently can be led to different answers (RFC 9112, section 11).
package struct RequestHead: Equatable, Sendable {
  package enum Method: String, Sendable { case get = "GET", head = "HEAD" }

  package let method: Method
  package let target: RequestTarget
  /// By their names in lower case.
  package let fields: [String: String]

  /// Whether the client wants to send another request on the connection.
  package var keepsConnection: Bool { fields["connection"]?.lowercased() != "close" }

  /// Reads a head.
  ///
  /// - Parameter bytes: All before the empty line that ends it.
  /// - Throws: A refusal for what is no such head.
  /// - Complexity: Linear in the number of bytes.
  package init(_ bytes: some Collection<UInt8>) throws(Refusal) {
    let lines = try Self.lines(bytes)
    guard let first = lines.first else { throw Refusal(.badRequest, "the request has no first line") }
    (method, target) = try Self.requestLine(first)
    fields = try Self.fields(lines.dropFirst())
    try checkContent()
  }

  /// The longest head, in bytes.
  package static let longest = 16 * 1024
  private static let mostFields = 100

  /// - Throws: If a byte is none of a head: a line feed or a carriage return alone, another control character, or one that is not ASCII.
  private static func lines(_ bytes: some Collection<UInt8>) throws(Refusal) -> [String] {
    var (lines, line) = ([String](), [UInt8]())
    var endsLine = false
    for byte in bytes {
      if endsLine {
        guard byte == 10 else { throw Refusal(.badRequest, "a line of the request does not end with CRLF") }
        lines.append(String(decoding: line, as: UTF8.self))
        line.removeAll(keepingCapacity: true)
        endsLine = false
      } else if byte == 13 {
        endsLine = true
      } else {
        guard byte == 9 || (32..<127).contains(byte) else {
          throw Refusal(.badRequest, "the request has a byte that is not allowed in its head")
        }
        line.append(byte)
      }
    }
    guard !endsLine else { throw Refusal(.badRequest, "a line of the request does not end with CRLF") }
    return line.isEmpty ? lines : lines + [String(decoding: line, as: UTF8.self)]
  }

  private static func requestLine(_ line: String) throws(Refusal) -> (Method, RequestTarget) {
    let parts = line.split(separator: " ", omittingEmptySubsequences: false)
    guard parts.count == 3, !parts[0].isEmpty else {
      throw Refusal(.badRequest, "the first line of the request is not a method, a path and a version")
    }
    guard parts[2] == "HTTP/1.1" else {
      throw Refusal(.versionNotSupported, "only HTTP/1.1 is answered here")
    }
    guard let method = Method(rawValue: String(parts[0])) else {
      throw Refusal(.methodNotAllowed, "only GET and HEAD are answered here: this page changes nothing")
    }
    return (method, try RequestTarget(String(parts[1])))
  }

  private static func fields(_ lines: ArraySlice<String>) throws(Refusal) -> [String: String] {
    guard lines.count <= mostFields else { throw Refusal(.fieldsTooLarge, "the request has too many fields") }
    var fields: [String: String] = [:]
    for line in lines {
      let parts = line.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
      guard parts.count == 2, !parts[0].isEmpty, parts[0].utf8.allSatisfy(isOfToken) else {
        throw Refusal(.badRequest, "a field of the request has no name")
      }
      let value = String(parts[1]).trimmingBlanks
      guard fields.updateValue(value, forKey: parts[0].lowercased()) == nil else {
        throw Refusal(.badRequest, "the request has the field \(parts[0]) twice")
      }
    }
    return fields
  }

  /// Whether a byte can be in a name: RFC 9110, section 5.6.2.
  private static func isOfToken(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"):
      true
    default: "!#$%&'*+-.^_`|~".utf8.contains(byte)
    }
  }

  private func checkContent() throws(Refusal) {
    if fields["transfer-encoding"] != nil {
      throw Refusal(.contentTooLarge, "a request has no content here")
    }
    guard let length = fields["content-length"], length != "0" else { return }
    throw Refusal(.contentTooLarge, "a request has no content here")
  }
}

extension String {
  /// The text without spaces and tabs at its ends.
  fileprivate var trimmingBlanks: String {
    func isBlank(_ character: Character) -> Bool { character == " " || character == "\t" }
    return String(drop(while: isBlank).reversed().drop(while: isBlank).reversed())
  }
}
