import Foundation

/// Prepares the processing instructions of a document for Foundation's parser, which traps on one that is only a name.
enum MarkupInstructions {
  /// The document with a space behind the name of each instruction that has nothing else, which means the same. Lines stay as they are.
  ///
  /// - Parameter file: The name of the document in messages.
  /// - Throws: `.coreData` if the characters are not those that the bytes say, or come of others: an entity is declared with references in
  ///   its text, or the declared encoding is no superset of ASCII.
  static func separated(_ data: Data, file: String) throws(HeartwoodError) -> Data {
    let bytes = Array(data)
    if let encoding = declaredEncoding(bytes), !supersets.contains(where: encoding.lowercased().hasPrefix) {
      throw HeartwoodError(
        .coreData, "\(file) is no XML that can be read: it is not in UTF-8, but in \(encoding)")
    }
    if let line = lineOfComposedEntity(bytes) {
      throw HeartwoodError(
        .coreData,
        "\(file) is no XML that can be read: line \(line) declares an entity with references in its text: write what they stand for"
      )
    }
    var separated = Data()
    separated.reserveCapacity(bytes.count + 16)
    var isName = false
    for (place, byte) in bytes.enumerated() {
      if isName, byte == mark, place + 1 < bytes.count, bytes[place + 1] == end {
        separated.append(space)
        isName = false
      }
      if isName { isName = !spaces.contains(byte) }
      if byte == mark, place > 0, bytes[place - 1] == start { isName = true }
      separated.append(byte)
    }
    return separated
  }

  /// The line, from 1, of a declared entity with a reference in its text; nil if there is none.
  private static func lineOfComposedEntity(_ bytes: [UInt8]) -> Int? {
    let declaration = Array("<!ENTITY".utf8)
    for place in bytes.indices where bytes[place] == start && bytes[place...].starts(with: declaration) {
      let rest = bytes[(place + declaration.count)...]
      guard let open = rest.firstIndex(where: quotes.contains) else { return nil }
      let text = bytes[(open + 1)...].prefix { $0 != bytes[open] }
      if text.contains(where: references.contains) { return bytes[..<place].count { $0 == 0x0A } + 1 }
    }
    return nil
  }

  /// The encoding that the declaration of the document names; nil for none.
  private static func declaredEncoding(_ bytes: [UInt8]) -> String? {
    guard let end = bytes.firstIndex(of: end) else { return nil }
    let declaration = String(decoding: bytes[..<end], as: UTF8.self)
    guard declaration.contains("<?xml"), let name = declaration.range(of: "encoding") else { return nil }
    let parts = declaration[name.upperBound...].split(
      omittingEmptySubsequences: false, whereSeparator: { $0 == "\"" || $0 == "'" })
    return parts.count > 1 ? String(parts[1]) : nil
  }

  private static let supersets = [
    "utf-8", "utf8", "us-ascii", "ascii", "iso-8859-", "windows-125", "macintosh",
  ]
  private static let (start, mark, end, space) = (
    UInt8(ascii: "<"), UInt8(ascii: "?"), UInt8(ascii: ">"), UInt8(ascii: " ")
  )
  private static let spaces: Set<UInt8> = [0x20, 0x09, 0x0A, 0x0D]
  private static let quotes: Set<UInt8> = [UInt8(ascii: "\""), UInt8(ascii: "'")]
  private static let references: Set<UInt8> = [UInt8(ascii: "&"), UInt8(ascii: "%")]
}
