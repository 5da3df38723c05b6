/// The tags and texts of an XML document in UTF-8, one after the other.
struct MarkupText {
  /// Attributes are passed over.
  enum Tag: Equatable {
    case start(String, isEmpty: Bool)
    case end(String)
  }

  private let bytes: [UInt8]
  private(set) var position: Int

  init(_ bytes: [UInt8]) {
    self.bytes = bytes
    position = bytes.starts(with: [0xef, 0xbb, 0xbf]) ? 3 : 0
  }

  static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 || byte == 0x0a || byte == 0x0d }

  /// The next tag, after space, comments, instructions and the declaration of a document type. Nil at the end.
  mutating func next() throws(ArchiveError) -> Tag? {
    while true {
      while position < bytes.count, Self.isSpace(bytes[position]) { position += 1 }
      guard position < bytes.count else { return nil }
      guard bytes[position] == UInt8(ascii: "<") else {
        throw ArchiveError("there is text where an element is expected", at: position)
      }
      if begins("<!--") {
        try skip(past: "-->")
      } else if begins("<?") {
        try skip(past: "?>")
      } else if begins("<!DOCTYPE") {
        try skipDocumentType()
      } else {
        return try tag()
      }
    }
  }

  /// The text up to the next tag, with references and sections of characters resolved.
  mutating func content() throws(ArchiveError) -> String {
    let start = position
    var text: [UInt8] = []
    while true {
      guard position < bytes.count else {
        throw ArchiveError("the document ends within a text", at: position)
      }
      switch bytes[position] {
      case UInt8(ascii: "<"):
        if begins("<!--") {
          try skip(past: "-->")
        } else if begins("<![CDATA[") {
          let from = position + 9
          try skip(past: "]]>")
          guard position - 3 >= from else { throw ArchiveError("a section has no end", at: from) }
          text += bytes[from..<position - 3]
        } else {
          guard let result = String(validating: text, as: UTF8.self) else {
            throw ArchiveError("a text is not in UTF-8", at: start)
          }
          return result
        }
      case UInt8(ascii: "&"): try appendReference(to: &text)
      case 0x0d:
        // A line ends in one way in a document that was read.
        text.append(0x0a)
        position += position + 1 < bytes.count && bytes[position + 1] == 0x0a ? 2 : 1
      default:
        text.append(bytes[position])
        position += 1
      }
    }
  }

  private func begins(_ prefix: String) -> Bool { bytes[position...].starts(with: prefix.utf8) }

  private mutating func skip(past end: String) throws(ArchiveError) {
    let start = position
    while position < bytes.count {
      if begins(end) {
        position += end.utf8.count
        return
      }
      position += 1
    }
    throw ArchiveError("what begins here has no end", at: start)
  }

  private mutating func skipDocumentType() throws(ArchiveError) {
    let start = position
    while let byte = nextUnquoted() {
      if byte == UInt8(ascii: "[") {
        throw ArchiveError("the document declares entities of its own, which are not read", at: position - 1)
      }
      if byte == UInt8(ascii: ">") { return }
    }
    throw ArchiveError("the declaration of the document type has no end", at: start)
  }

  /// Moves behind the next byte that is outside of quotes; nil at the end.
  private mutating func nextUnquoted() -> UInt8? {
    var quote: UInt8?
    while position < bytes.count {
      let byte = bytes[position]
      position += 1
      if let open = quote {
        if byte == open { quote = nil }
      } else if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "'") {
        quote = byte
      } else {
        return byte
      }
    }
    return nil
  }

  private mutating func tag() throws(ArchiveError) -> Tag {
    let start = position
    let isEnd = begins("</")
    position += isEnd ? 2 : 1
    let nameStart = position
    while position < bytes.count, !Self.isSpace(bytes[position]), bytes[position] != UInt8(ascii: ">"),
      bytes[position] != UInt8(ascii: "/")
    { position += 1 }
    guard position > nameStart,
      let name = String(validating: bytes[nameStart..<position], as: UTF8.self)
    else { throw ArchiveError("an element has no name", at: start) }
    while let byte = nextUnquoted() {
      guard byte == UInt8(ascii: ">") else { continue }
      return isEnd ? .end(name) : .start(name, isEmpty: bytes[position - 2] == UInt8(ascii: "/"))
    }
    throw ArchiveError("an element has no end", at: start)
  }

  private mutating func appendReference(to text: inout [UInt8]) throws(ArchiveError) {
    let start = position
    guard let end = bytes[position...].prefix(16).firstIndex(of: UInt8(ascii: ";")),
      let name = String(validating: bytes[position + 1..<end], as: UTF8.self)
    else { throw ArchiveError("a reference has no end", at: start) }
    position = end + 1
    switch name {
    case "lt": text.append(UInt8(ascii: "<"))
    case "gt": text.append(UInt8(ascii: ">"))
    case "amp": text.append(UInt8(ascii: "&"))
    case "quot": text.append(UInt8(ascii: "\""))
    case "apos": text.append(UInt8(ascii: "'"))
    default:
      let isHexadecimal = name.hasPrefix("#x")
      guard name.hasPrefix("#"),
        let number = UInt32(name.dropFirst(isHexadecimal ? 2 : 1), radix: isHexadecimal ? 16 : 10),
        let scalar = Unicode.Scalar(number)
      else { throw ArchiveError("there is no entity \"\(name)\"", at: start) }
      text += Array(String(Character(scalar)).utf8)
    }
  }
}
