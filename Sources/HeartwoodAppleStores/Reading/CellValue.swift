import Foundation
import Heartwood
import HeartwoodSQLite

/// The cells of a row as values of the graph.
///
/// Cells of another storage class than their attribute are converted as SQLite's own functions do that Core Data calls: text gives the number
/// at its beginning, a number gives its digits.
extension SQLiteRow {
  /// - Parameter encoding: That of the file.
  /// - Returns: nil for a value that the attribute cannot have.
  func storedValue(_ column: Int, _ kind: CellKind, _ encoding: SQLiteTextEncoding) -> StoredValue? {
    if isNull(column) { return .null }
    switch kind {
    case .integer16:
      return number(column, encoding).flatMap { Int16(exactly: $0) }.map { .integer(Int64($0)) }
    case .integer32:
      return number(column, encoding).flatMap { Int32(exactly: $0) }.map { .integer(Int64($0)) }
    case .integer64: return number(column, encoding).map { .integer($0) }
    case .boolean: return number(column, encoding).map { .boolean($0 != 0) }
    case .double: return cell(column, encoding).asDouble.map { .double($0) }
    case .float:
      guard let number = cell(column, encoding).asDouble, Float(number).isFinite || !number.isFinite else {
        return nil
      }
      return .double(number)
    case .date: return cell(column, encoding).asDouble.map { .date($0) }
    case .decimal: return cell(column, encoding).asDecimal.map { .decimal($0) }
    case .text: return .string(cell(column, encoding).asText)
    case .uri:
      let text = cell(column, encoding).asText
      return URL(string: text) == nil ? nil : .string(text)
    case .uuid: return uuid(column).map { .uuid($0) }
    case .bytes, .external: return data(column).map { .data($0) } ?? .data(Data(self[column].asText.utf8))
    case .reference, .none: return .null
    }
  }

  private func number(_ column: Int, _ encoding: SQLiteTextEncoding) -> Int64? {
    integer(column) ?? cell(column, encoding).asInteger
  }

  /// The value, a blob as the UTF-8 of the text that SQLite's functions take it for: its bytes are in the encoding of the file.
  private func cell(_ column: Int, _ encoding: SQLiteTextEncoding) -> SQLiteValue {
    let value = self[column]
    guard encoding != .utf8, case .blob(let bytes) = value else { return value }
    let (low, high) = encoding == .utf16LittleEndian ? (0, 1) : (1, 0)
    // A byte that is left over at the end is not part of the text.
    let units = (0..<bytes.count / 2).lazy.map { unit in
      UInt16(bytes[2 * unit + high]) << 8 | UInt16(bytes[2 * unit + low])
    }
    return .blob(Array(String(decoding: units, as: UTF16.self).utf8))
  }

  private func uuid(_ column: Int) -> UUID? {
    if case .text(let text) = self[column] { return UUID(uuidString: text) }
    return withBytes(of: column) { bytes in
      bytes.count == 16 ? UUID(uuid: bytes.loadUnaligned(as: uuid_t.self)) : nil
    } ?? nil
  }
}

extension SQLiteValue {
  /// As `sqlite3_column_int64`; nil for a number that is none.
  var asInteger: Int64? {
    switch self {
    case .null: nil
    case .integer(let number): number
    case .real(let number): Self.whole(number)
    case .text(let text): Self.integer(atBeginningOf: text.utf8)
    case .blob(let bytes): Self.integer(atBeginningOf: bytes)
    }
  }

  /// As `sqlite3_column_double`.
  var asDouble: Double? {
    switch self {
    case .null: nil
    case .integer(let number): Double(number)
    case .real(let number): number
    case .text(let text): Self.double(atBeginningOf: text)
    case .blob(let bytes): Self.double(atBeginningOf: String(decoding: bytes, as: UTF8.self))
    }
  }

  /// The number with the fewest digits that are the same floating-point number. What is no floating-point number without loss, such as `NaN` or a
  /// number of many digits, is a text in the file.
  var asDecimal: Decimal? {
    switch self {
    case .null: return nil
    case .integer(let number): return Decimal(number)
    case .real(let number): return number.isFinite ? Decimal(string: "\(number)") : nil
    case .text(let text):
      let text = text.trimmingCharacters(in: .whitespaces)
      return DecimalText.decimal(text) ?? Decimal(string: text, locale: Locale(identifier: "en_US_POSIX"))
    case .blob: return asDouble.flatMap { $0.isFinite ? Decimal(string: "\($0)") : nil }
    }
  }

  /// As `sqlite3_column_text`.
  var asText: String {
    switch self {
    case .null: ""
    case .integer(let number): "\(number)"
    case .real(let number): "\(number)"
    case .text(let text): text
    case .blob(let bytes): String(decoding: bytes, as: UTF8.self)
    }
  }

  private static func whole(_ number: Double) -> Int64 {
    if number.isNaN { return 0 }
    if number <= -0x1p63 { return .min }
    return number >= 0x1p63 ? .max : Int64(number)
  }

  private static func integer(atBeginningOf bytes: some Sequence<UInt8>) -> Int64 {
    var (digits, isNegative, hasBegun) = (Int64(0), false, false)
    for byte in bytes {
      switch byte {
      case 0x20 where !hasBegun: continue
      case 0x09...0x0D where !hasBegun: continue
      case UInt8(ascii: "-") where !hasBegun: (isNegative, hasBegun) = (true, true)
      case UInt8(ascii: "+") where !hasBegun: hasBegun = true
      case UInt8(ascii: "0")...UInt8(ascii: "9"):
        hasBegun = true
        let (product, overflows) = digits.multipliedReportingOverflow(by: 10)
        let digit = Int64(byte - UInt8(ascii: "0"))
        let (sum, overflowsToo) = product.addingReportingOverflow(isNegative ? -digit : digit)
        if overflows || overflowsToo { return isNegative ? .min : .max }
        digits = sum
      default: return digits
      }
    }
    return digits
  }

  /// The longest beginning that is a number in decimal digits; 0 without one.
  private static func double(atBeginningOf text: String) -> Double {
    let bytes = Array(text.utf8.drop { $0 == 0x20 || (0x09...0x0D).contains($0) })
    var place = 0
    func skipSign() {
      if place < bytes.count, bytes[place] == UInt8(ascii: "-") || bytes[place] == UInt8(ascii: "+") {
        place += 1
      }
    }
    func skipDigits() -> Int {
      let start = place
      while place < bytes.count, (0x30...0x39).contains(bytes[place]) { place += 1 }
      return place - start
    }
    skipSign()
    var digits = skipDigits()
    if place < bytes.count, bytes[place] == UInt8(ascii: ".") {
      place += 1
      digits += skipDigits()
    }
    guard digits > 0 else { return 0 }
    let end = place
    if place < bytes.count, bytes[place] | 0x20 == UInt8(ascii: "e") {
      place += 1
      skipSign()
      if skipDigits() == 0 { place = end }
    }
    return Double(String(decoding: bytes[..<place], as: UTF8.self)) ?? 0
  }
}
