/// A piece of Swift source. Comments and space are between tokens.
struct Token {
  enum Kind {
    /// An identifier, a keyword, `#word`, or an identifier in backticks without these.
    case word
    case punctuation
    case number
    /// A string, or the part of one before, between or after interpolations.
    case string
    case regex
    case end
  }

  let kind: Kind
  let text: String
  /// Bytes of the source.
  let range: Range<Int>
  let line: Int
  let isFirstOnLine: Bool

  /// Whether the token is this word or sign.
  func `is`(_ text: String) -> Bool { self.text == text && (kind == .word || kind == .punctuation) }
}

/// What is wrong with a source, with its place.
package struct TranslationError: Error, CustomStringConvertible {
  let file: String
  let line: Int
  let message: String
  package var description: String { "\(file):\(line):1: error: \(message)" }
}
