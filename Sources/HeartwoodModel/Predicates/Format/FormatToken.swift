import Foundation

/// A token of a predicate's text.
package struct FormatToken {
  package enum Kind: Equatable {
    /// A name. An escaped one (`#any`) is never a keyword.
    case name(String, isEscaped: Bool)
    /// `@count` and the like, without the sign.
    case function(String)
    /// `$x`, without the sign.
    case variable(String)
    /// `%@`, `%K`, `%d` and the like, without the sign.
    case placeholder(String)
    case text(String)
    case integer(Int64)
    case number(Double)
    /// A number with more digits than a floating-point number has.
    case decimal(Decimal)
    /// A UUID as Core Data prints it, in capitals and without quotes.
    case uuid(UUID)
    case sign(String)
    case end
  }

  package var kind: Kind
  /// The position of the first scalar, counted from 1.
  package var column: Int

  /// The token as a keyword, in capitals; nil unless it is an unescaped name.
  package var keyword: String? {
    guard case .name(let name, isEscaped: false) = kind else { return nil }
    return name.uppercased()
  }

  /// The token as quoted in messages.
  package var quoted: String {
    switch kind {
    case .name(let name, let isEscaped): "'\(isEscaped ? "#" : "")\(name)'"
    case .function(let name): "'@\(name)'"
    case .variable(let name): "'$\(name)'"
    case .placeholder(let name): "'%\(name)'"
    case .text(let text): "the text \(text.count > 30 ? "\"\(text.prefix(30))…\"" : "\"\(text)\"")"
    case .integer(let number): "'\(number)'"
    case .number(let number): "'\(number)'"
    case .decimal(let number): "'\(number)'"
    case .uuid(let uuid): "'\(uuid)'"
    case .sign(let sign): "'\(sign)'"
    case .end: "the end"
    }
  }
}

/// A parser that reads tokens one after the other.
package protocol TokenReader {
  var tokens: [FormatToken] { get }
  /// The place of the next token.
  var position: Int { get set }
}

extension TokenReader {
  package var next: FormatToken { tokens[position] }

  package mutating func advance() { if position + 1 < tokens.count { position += 1 } }

  package mutating func skip(sign: String) -> Bool {
    guard next.kind == .sign(sign) else { return false }
    advance()
    return true
  }

  package mutating func skip(keyword: String) -> Bool {
    guard next.keyword == keyword else { return false }
    advance()
    return true
  }

  package mutating func expect(sign: String, _ purpose: String = "") throws(HeartwoodError) {
    guard skip(sign: sign) else {
      throw unexpected(purpose.isEmpty ? "'\(sign)'" : "'\(sign)' \(purpose)")
    }
  }

  package mutating func expect(keyword: String, _ purpose: String) throws(HeartwoodError) {
    guard skip(keyword: keyword) else { throw unexpected("\(keyword) \(purpose)") }
  }

  package func unexpected(_ wanted: String) -> HeartwoodError {
    .predicate("there should be \(wanted) instead of \(next.quoted)", column: next.column)
  }
}
