/// Reads the XML of a store element by element: elements, attributes, text, character references, CDATA, comments and processing
/// instructions. Document types and their entities are refused, so that a small file stays small in memory.
struct XMLStoreScanner {
  struct Mistake: Error {
    let line: Int
    let message: String
  }

  enum Event: Equatable {
    case start(String, [String: String])
    case end(String)
  }

  private let bytes: [UInt8]
  private var position = 0
  private var open: [String] = []
  /// The end of an element without contents follows its start.
  private var isEmptyElement = false

  init(_ bytes: [UInt8]) {
    self.bytes = bytes
    if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { position = 3 }
  }

  /// The line, from 1.
  var line: Int { bytes[..<min(position, bytes.count)].reduce(1) { $1 == 0x0A ? $0 + 1 : $0 } }

  /// The next start or end of an element; nil at the end of the document. Only space may be between them.
  mutating func nextElement() throws -> Event? {
    let text = try text(isAllowed: false)
    guard text.allSatisfy(\.isWhitespace) else { throw mistake("a text is where none belongs") }
    return try event()
  }

  /// The text of an element without elements, up to and with its end.
  mutating func text() throws -> String {
    let text = try text(isAllowed: true)
    guard case .end? = try event() else { throw mistake("an element is inside of one that has only text") }
    return text
  }

  /// Checks that nothing follows the document.
  mutating func expectEnd() throws {
    guard open.isEmpty, try nextElement() == nil else { throw mistake("something is behind the end") }
  }

  private mutating func event() throws -> Event? {
    if isEmptyElement {
      isEmptyElement = false
      return .end(open.removeLast())
    }
    guard position < bytes.count else {
      guard open.isEmpty else { throw mistake("it ends inside of <\(open[open.count - 1])>") }
      return nil
    }
    position += 1
    if peek == UInt8(ascii: "/") {
      position += 1
      let name = try name()
      skipSpace()
      guard take(">"), open.popLast() == name else { throw mistake("</\(name)> ends no open element") }
      return .end(name)
    }
    let name = try name()
    var attributes: [String: String] = [:]
    while true {
      skipSpace()
      if take(">") { break }
      if take("/>") {
        isEmptyElement = true
        break
      }
      let attribute = try self.name()
      skipSpace()
      guard take("=") else { throw mistake("the attribute \(attribute) has no value") }
      skipSpace()
      guard attributes.updateValue(try quoted(), forKey: attribute) == nil else {
        throw mistake("the attribute \(attribute) occurs twice")
      }
    }
    guard open.count < 16 else { throw mistake("elements are too deep inside of each other") }
    open.append(name)
    return .start(name, attributes)
  }

  /// The text up to the next start or end of an element.
  private mutating func text(isAllowed: Bool) throws -> String {
    var text: [UInt8] = []
    if isEmptyElement { return "" }
    while let byte = peek {
      if byte == UInt8(ascii: "&") {
        text.append(contentsOf: try reference().utf8)
      } else if byte == UInt8(ascii: "<") {
        if take("<!--") {
          _ = try skip(past: "-->")
        } else if take("<![CDATA[") {
          text.append(contentsOf: try skip(past: "]]>"))
        } else if take("<?") {
          _ = try skip(past: "?>")
        } else if bytes[position...].starts(with: "<!".utf8) {
          throw mistake("document types are not read")
        } else {
          break
        }
      } else {
        // The ends of lines are single line feeds, whatever the file has.
        if byte == 0x0D {
          if position + 1 >= bytes.count || bytes[position + 1] != 0x0A { text.append(0x0A) }
        } else {
          text.append(byte)
        }
        position += 1
      }
    }
    guard let read = String(validating: text, as: UTF8.self) else { throw mistake("a text is not in UTF-8") }
    return read
  }

  private mutating func quoted() throws -> String {
    guard let quote = peek, quote == UInt8(ascii: "\"") || quote == UInt8(ascii: "'") else {
      throw mistake("the value of an attribute is not in quotes")
    }
    position += 1
    var text: [UInt8] = []
    while let byte = peek, byte != quote {
      if byte == UInt8(ascii: "&") {
        text.append(contentsOf: try reference().utf8)
      } else {
        guard byte != UInt8(ascii: "<") else { throw mistake("the value of an attribute has no end") }
        text.append(byte == 0x09 || byte == 0x0A || byte == 0x0D ? 0x20 : byte)
        position += 1
      }
    }
    guard peek == quote, let read = String(validating: text, as: UTF8.self) else {
      throw mistake("the value of an attribute has no end, or is not in UTF-8")
    }
    position += 1
    return read
  }

  private mutating func reference() throws -> String {
    let end = bytes[position...].prefix(12).firstIndex(of: UInt8(ascii: ";"))
    guard let end else { throw mistake("a & without a name and a ;") }
    let name = String(decoding: bytes[(position + 1)..<end], as: UTF8.self)
    position = end + 1
    switch name {
    case "amp": return "&"
    case "lt": return "<"
    case "gt": return ">"
    case "quot": return "\""
    case "apos": return "'"
    default:
      let number =
        name.hasPrefix("#x")
        ? UInt32(name.dropFirst(2), radix: 16) : name.hasPrefix("#") ? UInt32(name.dropFirst()) : nil
      guard let scalar = number.flatMap(Unicode.Scalar.init) else { throw mistake("&\(name); is not known") }
      return String(scalar)
    }
  }

  private mutating func name() throws -> String {
    let start = position
    while let byte = peek,
      byte >= 0x80 || byte == UInt8(ascii: "_") || byte == UInt8(ascii: ":")
        || byte == UInt8(ascii: "-") || byte == UInt8(ascii: ".") || (0x30...0x39).contains(byte)
        || (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte)
    {
      position += 1
    }
    guard position > start else { throw mistake("a name is missing") }
    return String(decoding: bytes[start..<position], as: UTF8.self)
  }

  private mutating func skip(past end: String) throws -> ArraySlice<UInt8> {
    let start = position
    let last = Array(end.utf8)
    while position < bytes.count {
      if bytes[position] == last[0], bytes[position...].starts(with: last) {
        defer { position += last.count }
        return bytes[start..<position]
      }
      position += 1
    }
    throw mistake("\(end) is missing")
  }

  private var peek: UInt8? { position < bytes.count ? bytes[position] : nil }

  private mutating func skipSpace() {
    while let byte = peek, byte == 0x20 || byte == 0x09 || byte == 0x0A || byte == 0x0D { position += 1 }
  }

  private mutating func take(_ text: String) -> Bool {
    guard bytes[position...].starts(with: text.utf8) else { return false }
    position += text.utf8.count
    return true
  }

  private func mistake(_ message: String) -> Mistake { Mistake(line: line, message: message) }
}
