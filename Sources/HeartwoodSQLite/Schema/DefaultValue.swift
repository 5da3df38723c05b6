import Foundation

/// The value of a column that a row has not, because the column was added later: a constant of the schema.
enum DefaultValue {
  /// - Parameter tokens: The tokens after `DEFAULT`.
  static func value(_ tokens: [SQLTokens.Token], _ affinity: SQLiteAffinity) -> SQLiteValue {
    var tokens = tokens[...]
    var isNegative = false
    while let first = tokens.first {
      if first == .symbol("-") {
        isNegative.toggle()
      } else if first == .symbol("(") {
        guard tokens.last == .symbol(")") else { return .null }
        tokens.removeLast()
      } else if first != .symbol("+") {
        break
      }
      tokens.removeFirst()
    }
    guard let token = tokens.first, tokens.count == 1 else { return .null }
    switch token {
    case .number(let text): return number(text, isNegative, affinity)
    case .string(let text), .name(let text):
      return isNegative ? number(text, true, affinity) : applying(affinity, to: .text(text))
    case .blob(let digits): return blob(digits)
    case .word(let word):
      switch word.lowercasedName {
      case "null", "current_time", "current_date", "current_timestamp": return .null
      case "true": return affinity == .real ? .real(1) : .integer(1)
      case "false": return affinity == .real ? .real(0) : .integer(0)
      default: return applying(affinity, to: .text(word))
      }
    case .symbol: return .null
    }
  }

  private static func number(_ text: String, _ isNegative: Bool, _ affinity: SQLiteAffinity) -> SQLiteValue {
    if text.lowercased().hasPrefix("0x") {
      let value = UInt64(text.dropFirst(2), radix: 16).map { Int64(bitPattern: $0) } ?? 0
      return applying(affinity, to: .integer(isNegative ? 0 &- value : value))
    }
    let signed = (isNegative ? "-" : "") + text
    // Text keeps the digits as they are written.
    if affinity == .text { return .text(signed) }
    if let value = Int64(signed) { return affinity == .real ? .real(Double(value)) : .integer(value) }
    guard let value = Double(signed) else { return .null }
    return applying(affinity == .blob ? .numeric : affinity, to: .real(value))
  }

  private static func blob(_ digits: String) -> SQLiteValue {
    let digits = Array(digits.utf8)
    var bytes: [UInt8] = []
    for index in stride(from: 0, to: digits.count - 1, by: 2) {
      guard let byte = UInt8(String(decoding: digits[index...index + 1], as: UTF8.self), radix: 16) else {
        return .null
      }
      bytes.append(byte)
    }
    return .blob(bytes)
  }

  /// The value as a column of the affinity stores it.
  static func applying(_ affinity: SQLiteAffinity, to value: SQLiteValue) -> SQLiteValue {
    switch (affinity, value) {
    case (.text, .integer(let number)): return .text(String(number))
    case (.real, .integer(let number)): return .real(Double(number))
    case (.integer, .real(let number)), (.numeric, .real(let number)):
      guard let integer = Int64(exactly: number) else { return value }
      return .integer(integer)
    case (.integer, .text(let text)), (.numeric, .text(let text)), (.real, .text(let text)):
      let trimmed = text.trimmingCharacters(in: CharacterSet(charactersIn: " \t\n\u{B}\u{C}\r"))
      if let integer = Int64(trimmed) {
        return affinity == .real ? .real(Double(integer)) : .integer(integer)
      }
      // No names of numbers, no hexadecimal digits.
      guard trimmed.allSatisfy({ "0123456789+-.eE".contains($0) }), let number = Double(trimmed) else {
        return value
      }
      return affinity == .real ? .real(number) : applying(affinity, to: .real(number))
    default: return value
    }
  }
}
