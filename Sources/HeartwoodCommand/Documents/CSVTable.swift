/// The records of a CSV file.
///
/// Source of the format: RFC 4180. Lines may also end with a line feed only, and fields be separated by another character. A field
/// without a character and without quotation marks has no value; `""` is an empty text.
struct CSVTable {
  struct Record {
    /// The line of the file where the record begins, from 1.
    let line: Int
    /// The fields, as many as there are columns; nil for no value.
    let fields: [String?]
  }

  let columns: [String]
  private(set) var records: [Record] = []

  /// Parses a file whose first record names the columns.
  ///
  /// - Throws: A data failure that names the line: no columns, two columns of one name, a record with another number of fields, or
  ///   a quotation mark in the wrong place or without an end.
  init(_ bytes: [UInt8], separator: UInt8 = UInt8(ascii: ",")) throws(CommandFailure) {
    var reader = CSVReader(bytes, separator: separator)
    guard let head = try reader.next() else {
      throw .data("the file is empty; its first line names the columns")
    }
    columns = head.fields.map { $0 ?? "" }
    var seen: Set<String> = []
    for column in columns {
      guard !column.isEmpty else { throw .data("line 1: a column has no name") }
      guard seen.insert(column).inserted else { throw .data("line 1: two columns are named \"\(column)\"") }
    }
    while let record = try reader.next() {
      guard record.fields.count == columns.count else {
        throw .data(
          "line \(record.line): \(Amount.text(record.fields.count, "field")), but line 1 names "
            + Amount.text(columns.count, "column"))
      }
      records.append(record)
    }
  }
}

private struct CSVReader {
  private let bytes: [UInt8]
  private let separator: UInt8
  private var place: Int
  private var line = 1

  init(_ bytes: [UInt8], separator: UInt8) {
    self.bytes = bytes
    self.separator = separator
    place = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0
  }

  /// The next record; nil at the end. Empty lines are skipped.
  mutating func next() throws(CommandFailure) -> CSVTable.Record? {
    while place < bytes.count, isAtLineEnd { skipLineEnd() }
    guard place < bytes.count else { return nil }
    let first = line
    var fields: [String?] = []
    while true {
      fields.append(try field())
      guard place < bytes.count, bytes[place] == separator else { break }
      place += 1
    }
    if place < bytes.count { skipLineEnd() }
    return CSVTable.Record(line: first, fields: fields)
  }

  private mutating func field() throws(CommandFailure) -> String? {
    guard place < bytes.count, bytes[place] == Self.quote else {
      let start = place
      while place < bytes.count, bytes[place] != separator, !isAtLineEnd {
        guard bytes[place] != Self.quote else {
          throw .data("line \(line): a quotation mark inside a field that does not begin with one")
        }
        place += 1
      }
      return start == place ? nil : try text(bytes[start..<place])
    }
    let first = line
    place += 1
    var contents: [UInt8] = []
    while place < bytes.count {
      let byte = bytes[place]
      place += 1
      if byte == Self.quote {
        guard place < bytes.count, bytes[place] == Self.quote else {
          guard place == bytes.count || bytes[place] == separator || isAtLineEnd else {
            throw .data("line \(line): text after the quotation mark that ends a field")
          }
          return try text(contents[...])
        }
        place += 1
      } else if byte == Self.lineFeed {
        line += 1
      }
      contents.append(byte)
    }
    throw .data("line \(first): a quotation mark has no end")
  }

  private func text(_ bytes: ArraySlice<UInt8>) throws(CommandFailure) -> String {
    guard let text = String(validating: bytes, as: UTF8.self) else { throw .data("line \(line): not UTF-8") }
    return text
  }

  private var isAtLineEnd: Bool {
    bytes[place] == Self.lineFeed
      || bytes[place] == Self.carriageReturn
        && (place + 1 == bytes.count || bytes[place + 1] == Self.lineFeed)
  }

  private mutating func skipLineEnd() {
    if bytes[place] == Self.carriageReturn { place += 1 }
    if place < bytes.count, bytes[place] == Self.lineFeed { place += 1 }
    line += 1
  }

  private static let quote = UInt8(ascii: "\"")
  private static let lineFeed = UInt8(ascii: "\n")
  private static let carriageReturn = UInt8(ascii: "\r")
}
