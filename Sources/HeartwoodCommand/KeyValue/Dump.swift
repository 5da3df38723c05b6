import HeartwoodEngine

/// The text format of dumps of keys and values.
enum Dump {
  /// The description of the format in the help text.
  static let help = """
    The format: a line for each key with the key, a tab and the value. In text, printable UTF-8 stands for itself,
    \\\\ for a backslash and \\xNN for any other byte, so that a line feed is \\x0a; with --hex, two digits stand for a
    byte. Lines that begin with # are comments; a key that begins with # is written with \\x23. dump writes
    "# heartwood dump 1 text" (or hex) as the first line and "# end <entries>" as the last. load also reads files
    without both lines. If the first line is present, the last one is required, so that a truncated file is detected.
    """

  static let remark = UInt8(ascii: "#")
  static let end = "# end "

  static func head(_ notation: ByteNotation) -> String {
    "# heartwood dump 1 \(notation == .text ? "text" : "hex")"
  }
}

/// Reads entries from a dump.
struct DumpReader {
  typealias Entry = (key: [UInt8], value: [UInt8])

  private var lines: LineReader
  private var notation: ByteNotation
  private var hasHead = false
  private var hasEnd = false
  private var count = 0

  /// - Parameter path: A file, or - for standard input.
  init(_ path: String, _ notation: ByteNotation) throws(CommandFailure) {
    lines = try LineReader(path)
    self.notation = notation
  }

  /// The next entries, at most `entries`; empty at the end.
  ///
  /// - Parameter bytes: The read stops when the entries reach this size.
  mutating func next(_ entries: Int, bytes: Int) throws(CommandFailure) -> [Entry] {
    var found: [Entry] = []
    var size = 0
    while found.count < entries, size < bytes, let entry = try next() {
      size += entry.key.count + entry.value.count
      found.append(entry)
    }
    return found
  }

  private mutating func next() throws(CommandFailure) -> Entry? {
    while let line = try lines.next() {
      if line.first == Dump.remark {
        try takeRemark(String(decoding: line, as: UTF8.self))
        continue
      }
      guard !hasEnd else { throw lines.failure("something stands behind the end of the dump") }
      do {
        let entry = try EntryLine.entry(line, notation)
        count += 1
        return entry
      } catch {
        throw lines.failure(error.message)
      }
    }
    guard !hasHead || hasEnd else {
      throw lines.wholeFailure("the dump was cut off: its last line, \"\(Dump.end)...\", is missing")
    }
    return nil
  }

  private mutating func takeRemark(_ line: String) throws(CommandFailure) {
    if line.hasPrefix("# heartwood dump ") {
      try takeHead(line)
    } else if hasHead, line.hasPrefix(Dump.end) {
      guard line == Dump.end + "\(count)" else {
        throw lines.failure(
          "\(line.dropFirst(Dump.end.count)) entries should stand before this, and \(count) do")
      }
      hasEnd = true
    }
  }

  private mutating func takeHead(_ line: String) throws(CommandFailure) {
    guard count == 0, !hasHead else { throw lines.failure("the head of a dump stands in the middle of one") }
    hasHead = true
    switch line {
    case Dump.head(.hexadecimal): notation = .hexadecimal
    case Dump.head(.text):
      guard notation == .text else { throw lines.failure("the dump is not in hexadecimal digits") }
    default: throw lines.failure("this version does not know dumps of this kind: \(line)")
    }
  }
}
