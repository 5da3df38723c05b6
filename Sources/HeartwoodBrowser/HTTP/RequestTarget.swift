/// The path and the query of a request.
package struct RequestTarget: Equatable, Sendable {
  /// The parts of the path; the last one is empty if the path ends with a slash.
  package let segments: [String]
  /// The values of the query by their names.
  package let query: [String: String]

  /// Reads a target in origin form, such as `/a/b?c=d`.
  ///
  /// - Throws: A refusal for another form, for a part that leads elsewhere, for bytes that are no UTF-8, and for a name that is there twice.
  package init(_ text: String) throws(Refusal) {
    let parts = text.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
    guard text.hasPrefix("/"), !text.contains("#"), let path = parts.first else {
      throw Refusal(.badRequest, "the request names no path")
    }
    var segments: [String] = []
    for part in path.dropFirst().split(separator: "/", omittingEmptySubsequences: false) {
      segments.append(try Self.decoded(part, plusIsSpace: false))
    }
    guard !segments.contains(where: { $0 == "." || $0 == ".." || $0.contains("/") || $0.contains("\0") }),
      !segments.dropLast().contains("")
    else { throw Refusal(.badRequest, "the path of the request leads elsewhere") }
    self.segments = segments
    query = try Self.query(parts.count == 2 ? parts[1] : "")
  }

  private static func query(_ text: Substring) throws(Refusal) -> [String: String] {
    var query: [String: String] = [:]
    for pair in text.split(separator: "&") {
      let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      guard let first = parts.first else { continue }
      let name = try decoded(first, plusIsSpace: true)
      let value = parts.count == 2 ? try decoded(parts[1], plusIsSpace: true) : ""
      guard query.updateValue(value, forKey: name) == nil else {
        throw Refusal(.badRequest, "the query names something twice")
      }
    }
    return query
  }

  private static func decoded(_ text: Substring, plusIsSpace: Bool) throws(Refusal) -> String {
    var (bytes, rest) = ([UInt8](), text.utf8[...])
    while let byte = rest.popFirst() {
      switch byte {
      case UInt8(ascii: "%"):
        guard let high = rest.popFirst().flatMap(hexadecimal), let low = rest.popFirst().flatMap(hexadecimal)
        else { throw Refusal(.badRequest, "a percent sign of the path has no two digits behind it") }
        bytes.append(high << 4 | low)
      case UInt8(ascii: "+") where plusIsSpace: bytes.append(UInt8(ascii: " "))
      default: bytes.append(byte)
      }
    }
    guard let text = String(validating: bytes, as: UTF8.self) else {
      throw Refusal(.badRequest, "the path of the request is no UTF-8")
    }
    return text
  }

  private static func hexadecimal(_ byte: UInt8) -> UInt8? {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
    case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
    case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
    default: nil
    }
  }
}
