/// A piece of Swift source. Comments and space are between tokens.
package struct Token {
  package enum Kind {
    /// An identifier, a keyword, `#word`, or an identifier in backticks without these.
    case word
    case punctuation
    case number
    /// A string, or the part of one before, between or after interpolations.
    case string
    case regex
    case end
  }

  package let kind: Kind
  package let text: String
  /// Bytes of the source.
  package let range: Range<Int>
  package let line: Int
  package let isFirstOnLine: Bool

  /// Whether the token is this word or sign.
  package func `is`(_ text: String) -> Bool { self.text == text && (kind == .word || kind == .punctuation) }
}
