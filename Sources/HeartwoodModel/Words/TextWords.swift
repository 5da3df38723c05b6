import Foundation

/// The words of a text, which full-text indexes and `MATCHESWORDS` are about.
///
/// A word is a run of letters, digits and marks, without the differences of case and accents that `[cd]` ignores. An ideograph or a kana is a
/// word by itself, because texts in these scripts have no spaces. `Don't stop!` has the words `don`, `t` and `stop`.
///
/// - Invariant: The words do not overlap, are not empty, and have no zero byte.
package struct TextWords {
  /// The folded text, in canonically composed UTF-8.
  private let bytes: [UInt8]
  private let ranges: [Range<Int>]

  /// Bytes that are not UTF-8 have no words.
  package init(_ text: UnsafeRawBufferPointer) {
    (bytes, ranges) =
      text.allSatisfy { $0 < 0x80 }
      ? Self.splitASCII([UInt8](text)) : Self.split(String(validating: text, as: UTF8.self) ?? "")
  }

  private static func splitASCII(_ text: [UInt8]) -> ([UInt8], [Range<Int>]) {
    var bytes = text
    var ranges: [Range<Int>] = []
    var start: Int?
    for place in bytes.indices {
      let byte = bytes[place]
      switch byte {
      case 0x41...0x5A: bytes[place] = byte | 0x20
      case 0x61...0x7A, 0x30...0x39: break
      default:
        if let first = start { ranges.append(first..<place) }
        start = nil
        continue
      }
      if start == nil { start = place }
    }
    if let start { ranges.append(start..<bytes.count) }
    return (bytes, ranges)
  }

  init(_ text: String) {
    var text = text
    self = text.withUTF8 { TextWords(UnsafeRawBufferPointer($0)) }
  }

  private static func split(_ text: String) -> ([UInt8], [Range<Int>]) {
    let folded = text.folded([.caseInsensitive, .diacriticInsensitive])
    var ranges: [Range<Int>] = []
    var start: Int?
    var place = 0
    for scalar in folded.unicodeScalars {
      let next = place + UTF8.width(scalar)
      let isPart = scalar.isPartOfWord
      if let first = start, !isPart || scalar.isWord {
        ranges.append(first..<place)
        start = nil
      }
      if scalar.isWord {
        ranges.append(place..<next)
      } else if isPart, start == nil {
        start = place
      }
      place = next
    }
    if let start { ranges.append(start..<place) }
    return (Array(folded.utf8), ranges)
  }

  var count: Int { ranges.count }

  subscript(place: Int) -> ArraySlice<UInt8> { bytes[ranges[place]] }

  /// Whether the word at a place is this one, or begins with it.
  func isWord(_ word: [UInt8], at place: Int, isPrefix: Bool) -> Bool {
    let range = ranges[place]
    guard isPrefix ? range.count >= word.count : range.count == word.count else { return false }
    for (offset, byte) in word.enumerated() where bytes[range.lowerBound + offset] != byte { return false }
    return true
  }
}

/// The words that an index has entries of.
extension TextWords {
  /// The most bytes of a word in an index. Longer ones are cut; their rows decide.
  static let longestIndexed = 96

  /// The first bytes of a word that an index keeps: whole scalars.
  static func cut(_ word: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
    guard word.count > longestIndexed else { return word }
    var end = word.startIndex + longestIndexed
    while word[end] & 0xC0 == 0x80 { end -= 1 }
    return word[..<end]
  }

  /// Calls `body` with each different cut word once, in the order of their bytes.
  package func forEachIndexed(_ body: (ArraySlice<UInt8>) throws -> Void) rethrows {
    let words = ranges.map { Self.cut(bytes[$0]) }.sorted { $0.lexicographicallyPrecedes($1) }
    var previous: ArraySlice<UInt8> = []
    for word in words where word != previous {
      try body(word)
      previous = word
    }
  }
}

extension Unicode.Scalar {
  /// Whether it belongs to a word.
  fileprivate var isPartOfWord: Bool {
    switch properties.generalCategory {
    case .uppercaseLetter, .lowercaseLetter, .titlecaseLetter, .modifierLetter, .otherLetter, .nonspacingMark,
      .spacingMark, .enclosingMark, .decimalNumber, .letterNumber, .otherNumber:
      true
    default: false
    }
  }

  /// Whether it is a word by itself: an ideograph or a kana.
  fileprivate var isWord: Bool {
    properties.isIdeographic && isPartOfWord || 0x3041...0x3096 ~= value || 0x30A1...0x30FA ~= value
  }
}
