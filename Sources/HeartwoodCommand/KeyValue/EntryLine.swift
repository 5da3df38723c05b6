/// The line of an entry: the key, a tab, and the value.
enum EntryLine {
  private static let tab = UInt8(ascii: "\t")
  private static let newline = UInt8(ascii: "\n")

  static func append(
    _ key: some RandomAccessCollection<UInt8>, _ value: some RandomAccessCollection<UInt8>,
    _ notation: ByteNotation, to text: inout [UInt8]
  ) {
    appendKey(key, notation, to: &text)
    text.append(tab)
    notation.append(value, to: &text)
    text.append(newline)
  }

  /// Appends a key. If it starts with the comment character, the character is escaped.
  static func appendKey(
    _ key: some RandomAccessCollection<UInt8>, _ notation: ByteNotation, to text: inout [UInt8]
  ) {
    guard notation == .text, let first = key.first, first == UInt8(ascii: "#") else {
      return notation.append(key, to: &text)
    }
    EscapedText.append(escaped: first, to: &text)
    notation.append(key.dropFirst(), to: &text)
  }

  static func entry(
    _ line: ArraySlice<UInt8>, _ notation: ByteNotation
  ) throws(ByteNotation.Misspelling) -> (key: [UInt8], value: [UInt8]) {
    let parts = line.split(separator: tab, omittingEmptySubsequences: false)
    guard parts.count == 2 else {
      throw ByteNotation.Misspelling(
        message: "a line is a key, a tab and a value; this one has \(Amount.text(parts.count - 1, "tab"))")
    }
    let key = try notation.bytes(parts[0], in: .line)
    guard !key.isEmpty else { throw ByteNotation.Misspelling(message: "the key is empty") }
    return (key, try notation.bytes(parts[1], in: .line))
  }
}
