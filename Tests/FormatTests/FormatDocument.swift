import Foundation

/// The tables and byte dumps of a document that describes a format.
struct FormatDocument {
  /// The rows of each table, by the heading above it.
  private(set) var tables: [String: [[String]]] = [:]
  /// The bytes that the document shows of each file of the example.
  var dumps: [Dump] {
    blocks.filter { $0.name.hasPrefix("hex ") }.map { block in
      Dump(name: String(block.name.dropFirst(4)), lines: block.lines.compactMap(Self.shown))
    }
  }
  /// The fenced blocks, with the info string of the opening fence as name.
  private(set) var blocks: [(name: String, lines: [Substring])] = []

  struct Dump {
    var name: String
    var lines: [(offset: Int, bytes: [UInt8])]

    /// The file's bytes, with zeros where the document shows none.
    func bytes(count: Int) -> [UInt8] {
      var bytes = [UInt8](repeating: 0, count: count)
      for line in lines where line.offset + line.bytes.count <= count {
        bytes.replaceSubrange(line.offset..<line.offset + line.bytes.count, with: line.bytes)
      }
      return bytes
    }
  }

  /// Reads a document.
  ///
  /// - Parameter path: Relative to the package's folder.
  init(at path: String) throws {
    var package = URL(filePath: #filePath)
    for _ in 0..<3 { package.deleteLastPathComponent() }
    self.init(try String(contentsOf: package.appending(path: path), encoding: .utf8))
  }

  init(_ text: String) {
    var heading = ""
    var block: (name: String, lines: [Substring])?
    for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
      if line.hasPrefix("```") {
        if let block { blocks.append(block) }
        block = block == nil ? (String(line.dropFirst(3)), []) : nil
      } else if block != nil {
        block?.lines.append(line)
      } else if line.hasPrefix("#") {
        heading = line.drop { $0 == "#" }.trimmingCharacters(in: .whitespaces)
      } else if line.hasPrefix("|") {
        tables[heading, default: []].append(Self.cells(line))
      }
    }
    // The first row contains the columns' names, the second is the separator.
    tables = tables.mapValues { Array($0.dropFirst(2)) }
  }

  private static func cells(_ line: Substring) -> [String] {
    line.dropFirst().dropLast(line.hasSuffix("|") ? 1 : 0).split(
      separator: "|", omittingEmptySubsequences: false
    )
    .map { $0.trimmingCharacters(in: CharacterSet(charactersIn: " `")) }
  }

  /// "00000080  48 57 46 52 …": an offset and up to 16 bytes, then any text after two spaces.
  private static func shown(_ line: Substring) -> (offset: Int, bytes: [UInt8])? {
    let parts = line.split(separator: "  ", maxSplits: 2)
    guard parts.count >= 2, let offset = Int(parts[0], radix: 16) else { return nil }
    return (offset, parts[1].split(separator: " ").compactMap { UInt8($0, radix: 16) })
  }

  /// A dump of bytes. Omits lines that are all zeros.
  static func dump(_ bytes: [UInt8]) -> String {
    var lines: [String] = []
    for start in stride(from: 0, to: bytes.count, by: 16) {
      let line = bytes[start..<min(start + 16, bytes.count)]
      guard line.contains(where: { $0 != 0 }) else { continue }
      let text = line.map { $0 > 32 && $0 < 127 ? String(UnicodeScalar($0)) : "·" }.joined()
      lines.append(
        "\(hexadecimal(start, 8))  \(line.map { hexadecimal(Int($0), 2) }.joined(separator: " "))  \(text)")
    }
    return lines.joined(separator: "\n")
  }

  static func hexadecimal(_ number: Int, _ count: Int) -> String {
    let digits = String(number, radix: 16)
    return String(repeating: "0", count: max(0, count - digits.count)) + digits
  }
}

/// A structure as its table describes it.
struct FieldTable {
  struct Field {
    var offset: Int
    var bytes: Int
    var name: String
  }

  let fields: [Field]

  /// Nil if the document has no such table, or if its fields are not contiguous.
  init?(_ document: FormatDocument, _ heading: String) {
    guard let rows = document.tables[heading] else { return nil }
    var fields: [Field] = []
    var end = 0
    for row in rows {
      guard row.count >= 3, let offset = Int(row[0]), let bytes = Int(row[1]), offset == end else {
        return nil
      }
      fields.append(Field(offset: offset, bytes: bytes, name: row[2]))
      end = offset + bytes
    }
    self.fields = fields
  }

  var byteCount: Int { fields.last.map { $0.offset + $0.bytes } ?? 0 }
  var names: [String] { fields.map(\.name).filter { $0 != "reserved" } }

  func field(_ name: String) -> Field? { fields.first { $0.name == name } }

  /// The bytes of a field in a structure that begins at `start`.
  func bytes(_ name: String, in bytes: [UInt8], at start: Int = 0) -> [UInt8] {
    guard let field = field(name), start + field.offset + field.bytes <= bytes.count else { return [] }
    return Array(bytes[(start + field.offset)..<(start + field.offset + field.bytes)])
  }

  /// A field as a little-endian number. Uses the first eight bytes of a longer field.
  func number(_ name: String, in bytes: [UInt8], at start: Int = 0) -> UInt64 {
    self.bytes(name, in: bytes, at: start).prefix(8).reversed().reduce(0) { $0 << 8 | UInt64($1) }
  }

  /// Whether all reserved bytes are zeros.
  func isReservedZero(in bytes: [UInt8], at start: Int = 0) -> Bool {
    fields.filter { $0.name == "reserved" }.allSatisfy { field in
      bytes[(start + field.offset)..<(start + field.offset + field.bytes)].allSatisfy { $0 == 0 }
    }
  }
}

extension UInt64 {
  /// Parses a number in the notation of the documents.
  init?(documented text: String) {
    let digits = text.hasPrefix("0x") ? UInt64(text.dropFirst(2), radix: 16) : UInt64(text)
    guard let digits else { return nil }
    self = digits
  }
}
