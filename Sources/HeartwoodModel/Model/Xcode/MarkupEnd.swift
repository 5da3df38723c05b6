import Foundation

/// Finds what follows the root element of a document that is well-formed up to the end of that.
struct MarkupEnd {
  private let bytes: [UInt8]
  private var place = 0

  private init(_ data: Data) { bytes = Array(data) }

  /// The line, from 1, of what follows the root element and is neither space, a comment nor a processing instruction; nil if there is nothing.
  static func lineOfRest(in data: Data) -> Int? {
    var end = MarkupEnd(data)
    end.skipRoot()
    guard let rest = end.rest() else { return nil }
    return end.bytes[..<rest].count { $0 == UInt8(ascii: "\n") } + 1
  }

  /// Goes behind the root element.
  private mutating func skipRoot() {
    var depth = 0
    while place < bytes.count {
      guard skip(to: "<") else { return }
      if skipRemark() { continue }
      if begins("<!DOCTYPE") {
        skipDeclaration()
        continue
      }
      let isEnd = begins("</")
      let isEmpty = skipTag()
      if isEnd { depth -= 1 } else if !isEmpty { depth += 1 }
      if depth <= 0 { return }
    }
  }

  /// The place of the first byte after the root element that means something.
  private mutating func rest() -> Int? {
    while place < bytes.count {
      if [0x20, 0x09, 0x0A, 0x0D].contains(bytes[place]) {
        place += 1
      } else if !skipRemark() {
        return place
      }
    }
    return nil
  }

  /// Goes behind a comment, a processing instruction or a part of plain text, if one begins here.
  private mutating func skipRemark() -> Bool {
    for (start, end) in [("<!--", "-->"), ("<?", "?>"), ("<![CDATA[", "]]>")] where begins(start) {
      place += start.utf8.count
      if skip(to: end) { place += end.utf8.count }
      return true
    }
    return false
  }

  /// Goes behind a declaration of the document's type, which may have others in brackets.
  private mutating func skipDeclaration() {
    var depth = 0
    while place < bytes.count {
      let byte = bytes[place]
      if byte == UInt8(ascii: "<"), skipRemark() { continue }
      place += 1
      switch byte {
      case UInt8(ascii: "\""), UInt8(ascii: "'"): skipText(endedBy: byte)
      case UInt8(ascii: "<"): depth += 1
      case UInt8(ascii: ">"):
        depth -= 1
        if depth == 0 { return }
      default: break
      }
    }
  }

  /// Goes behind a tag.
  ///
  /// - Returns: Whether the element ends with it.
  private mutating func skipTag() -> Bool {
    while place < bytes.count {
      let byte = bytes[place]
      place += 1
      switch byte {
      case UInt8(ascii: "\""), UInt8(ascii: "'"): skipText(endedBy: byte)
      case UInt8(ascii: ">"): return bytes[place - 2] == UInt8(ascii: "/")
      default: break
      }
    }
    return false
  }

  private mutating func skipText(endedBy quote: UInt8) {
    while place < bytes.count, bytes[place] != quote { place += 1 }
    place += 1
  }

  private func begins(_ text: String) -> Bool { bytes[place...].starts(with: text.utf8) }

  /// - Returns: Whether the text is there; the place is that of its beginning then.
  private mutating func skip(to text: String) -> Bool {
    let first = text.utf8.first
    while place < bytes.count {
      if bytes[place] == first, begins(text) { return true }
      place += 1
    }
    return false
  }
}
