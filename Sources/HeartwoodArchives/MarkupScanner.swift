/// Reads an XML document in UTF-8 part by part, with references and sections of characters resolved. Comments and processing instructions
/// are passed over.
package struct MarkupScanner {
  package enum Part: Equatable {
    case start(String, [String: String])
    case end(String)
    case text(String)
  }

  /// The treatment of a declaration of the document's type.
  package enum DocumentTypes {
    case refused
    /// Without declarations in it.
    case named
    /// With entities, but for those whose texts have references or elements: a small document stays small in memory.
    case declaring
  }

  private let bytes: [UInt8]
  private let deepest: Int
  private let documentTypes: DocumentTypes
  package private(set) var position: Int
  private var open: [String] = []
  private var hasBegun = false
  /// The end of an element without contents follows its start.
  private var isEmptyElement = false
  /// The texts of the document's own entities.
  private var entities: [String: String] = [:]
  private var expanded = 0
  private static let mostExpanded = 1 << 20
  private var counted = (position: 0, line: 1)

  /// - Parameter deepest: How many elements may be inside of each other.
  package init(_ bytes: [UInt8], deepest: Int, documentTypes: DocumentTypes) {
    self.bytes = bytes
    self.deepest = deepest
    self.documentTypes = documentTypes
    position = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0
  }

  /// The line, from 1. Linear in the bytes since the last call.
  package mutating func line() -> Int {
    counted.line += bytes[counted.position..<position].count { $0 == 0x0A }
    counted.position = position
    return counted.line
  }

  /// The next part; nil at the end of the document.
  package mutating func next() throws(ArchiveError) -> Part? {
    if isEmptyElement {
      isEmptyElement = false
      return .end(open.removeLast())
    }
    let text = try characters()
    if !text.isEmpty { return .text(text) }
    guard position < bytes.count else {
      if let name = open.last { throw error("it ends inside of <\(name)>") }
      return nil
    }
    return try tag()
  }

  /// The next start or end of an element; nil at the end of the document. Only space may be between them.
  package mutating func nextElement() throws(ArchiveError) -> Part? {
    let part = try next()
    guard case .text(let text) = part else { return part }
    guard text.allSatisfy(\.isWhitespace) else { throw error("a text is where none belongs") }
    return try next()
  }

  /// The text of an element without elements, up to and with its end.
  package mutating func text() throws(ArchiveError) -> String {
    var (text, part) = ("", try next())
    if case .text(let found) = part { (text, part) = (found, try next()) }
    guard case .end = part else { throw error("an element is inside of one that has only text") }
    return text
  }

  /// The line of what follows the root element and is neither space, a comment nor an instruction; nil if nothing does.
  package mutating func lineOfRest() -> Int? {
    repeat { skipSpace() } while (try? skipRemark()) == true
    return position < bytes.count ? line() : nil
  }

  // MARK: Tags

  private mutating func tag() throws(ArchiveError) -> Part {
    hasBegun = true
    position += 1
    if take("/") {
      let name = try name()
      skipSpace()
      guard take(">"), open.popLast() == name else { throw error("</\(name)> ends no open element") }
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
      guard take("=") else { throw error("the attribute \(attribute) has no value") }
      skipSpace()
      guard attributes.updateValue(try quoted(), forKey: attribute) == nil else {
        throw error("the attribute \(attribute) occurs twice")
      }
    }
    guard open.count < deepest else {
      throw error("more than \(deepest) elements are inside of each other")
    }
    open.append(name)
    return .start(name, attributes)
  }

  private mutating func name() throws(ArchiveError) -> String {
    let start = position
    while let byte = peek,
      byte >= 0x80 || byte == UInt8(ascii: "_") || byte == UInt8(ascii: ":")
        || byte == UInt8(ascii: "-") || byte == UInt8(ascii: ".") || (0x30...0x39).contains(byte)
        || (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte)
    {
      position += 1
    }
    guard position > start else { throw error("a name is missing") }
    return try decoded(bytes[start..<position])
  }

  /// The value of an attribute.
  private mutating func quoted() throws(ArchiveError) -> String {
    guard let quote = peek, Self.isQuote(quote) else {
      throw error("the value of an attribute is not in quotes")
    }
    position += 1
    var text: [UInt8] = []
    while let byte = peek, byte != quote, byte != UInt8(ascii: "<") {
      if byte == UInt8(ascii: "&") {
        text += Array(try reference().utf8)
      } else {
        text.append(Self.isSpace(byte) ? 0x20 : byte)
        position += 1
      }
    }
    guard peek == quote else { throw error("the value of an attribute has no end") }
    position += 1
    return try decoded(text[...])
  }

  // MARK: Texts

  /// The text up to the next start or end of an element.
  private mutating func characters() throws(ArchiveError) -> String {
    var text: [UInt8] = []
    while let byte = peek {
      if byte == UInt8(ascii: "&") {
        text += Array(try reference().utf8)
      } else if byte == UInt8(ascii: "<") {
        if take("<![CDATA[") {
          text += try skip(past: "]]>")
        } else if try !skipRemark() {
          guard begins("<!") else { break }
          try skipDocumentType()
        }
      } else {
        // The ends of lines are single line feeds, whatever the file has.
        position += 1
        if byte != 0x0D { text.append(byte) } else if peek != 0x0A { text.append(0x0A) }
      }
    }
    return try decoded(text[...])
  }

  private mutating func reference() throws(ArchiveError) -> String {
    guard let end = bytes[position...].prefix(64).firstIndex(of: UInt8(ascii: ";")) else {
      throw error("a reference has no end")
    }
    let name = String(decoding: bytes[(position + 1)..<end], as: UTF8.self)
    position = end + 1
    switch name {
    case "amp": return "&"
    case "lt": return "<"
    case "gt": return ">"
    case "quot": return "\""
    case "apos": return "'"
    default:
      if let text = entities[name] { return try expanding(text) }
      let number =
        name.hasPrefix("#x")
        ? UInt32(name.dropFirst(2), radix: 16) : name.hasPrefix("#") ? UInt32(name.dropFirst()) : nil
      guard let scalar = number.flatMap(Unicode.Scalar.init) else {
        throw error("there is no entity \"\(name)\"")
      }
      return String(scalar)
    }
  }

  private mutating func expanding(_ text: String) throws(ArchiveError) -> String {
    expanded += text.utf8.count
    guard expanded <= Self.mostExpanded else { throw error("its entities stand for too much text") }
    return text
  }

  private func decoded(_ text: ArraySlice<UInt8>) throws(ArchiveError) -> String {
    guard let decoded = String(validating: text, as: UTF8.self) else { throw error("a text is not in UTF-8") }
    return decoded
  }

  // MARK: The document's type

  private mutating func skipDocumentType() throws(ArchiveError) {
    guard documentTypes != .refused, !hasBegun, take("<!DOCTYPE") else {
      throw error("document types are not read")
    }
    while let byte = nextUnquoted() {
      if byte == UInt8(ascii: ">") { return }
      guard byte == UInt8(ascii: "[") else { continue }
      guard documentTypes == .declaring else {
        throw error("the document declares entities of its own, which are not read")
      }
      try readDeclarations()
    }
    throw error("the declaration of the document type has no end")
  }

  /// Reads the declarations up to and with their end.
  private mutating func readDeclarations() throws(ArchiveError) {
    while !take("]") {
      if try skipRemark() { continue }
      if take("<!ENTITY") {
        try readEntity()
      } else if nextUnquoted() == nil {
        throw error("the declaration of the document type has no end")
      }
    }
  }

  /// Reads the name and the text of an entity. Those of other files, and of declarations, are passed over.
  private mutating func readEntity() throws(ArchiveError) {
    skipSpace()
    let isForDeclarations = take("%")
    skipSpace()
    let name = try name()
    skipSpace()
    guard let quote = peek, Self.isQuote(quote) else { return }
    let text = bytes[(position + 1)...].prefix { $0 != quote }
    guard !text.contains(where: { $0 == UInt8(ascii: "&") || $0 == UInt8(ascii: "%") }) else {
      throw error("an entity is declared with references in its text: write what they stand for")
    }
    position = min(text.endIndex + 1, bytes.count)
    guard !isForDeclarations, entities[name] == nil, !text.contains(UInt8(ascii: "<")) else { return }
    entities[name] = try decoded(text)
  }

  /// Moves behind the next byte that is outside of quotes; nil at the end.
  private mutating func nextUnquoted() -> UInt8? {
    var quote: UInt8?
    while let byte = peek {
      position += 1
      if byte == quote {
        quote = nil
      } else if quote == nil {
        guard Self.isQuote(byte) else { return byte }
        quote = byte
      }
    }
    return nil
  }

  // MARK: Bytes

  private var peek: UInt8? { position < bytes.count ? bytes[position] : nil }

  private func begins(_ text: String) -> Bool { bytes[position...].starts(with: text.utf8) }

  private mutating func take(_ text: String) -> Bool {
    guard begins(text) else { return false }
    position += text.utf8.count
    return true
  }

  static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 || byte == 0x0A || byte == 0x0D }

  private static func isQuote(_ byte: UInt8) -> Bool { byte == 0x22 || byte == 0x27 }

  private mutating func skipSpace() {
    while let byte = peek, Self.isSpace(byte) { position += 1 }
  }

  /// Goes behind a comment or an instruction, if one begins here.
  private mutating func skipRemark() throws(ArchiveError) -> Bool {
    if take("<!--") {
      _ = try skip(past: "-->")
    } else if take("<?") {
      _ = try skip(past: "?>")
    } else {
      return false
    }
    return true
  }

  private mutating func skip(past end: String) throws(ArchiveError) -> ArraySlice<UInt8> {
    let start = position
    while position < bytes.count {
      if take(end) { return bytes[start..<(position - end.utf8.count)] }
      position += 1
    }
    throw error("\(end) is missing")
  }

  private func error(_ message: String) -> ArchiveError { ArchiveError(message, at: position) }
}
