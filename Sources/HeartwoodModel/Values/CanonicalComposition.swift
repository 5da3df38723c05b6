import Foundation

extension String {
  /// The canonically composed form, by whose scalars strings are compared, sorted and indexed. Strings that Swift calls equal have the same.
  ///
  /// Returns the string itself, after one pass over its bytes, if all its scalars are below U+0300: none of those composes
  /// with another.
  @usableFromInline package var normalizedForComparison: String {
    var copy = self
    let isComposed = copy.withUTF8 { bytes in bytes.allSatisfy { $0 < 0xCC } }
    return isComposed ? self : composed
  }

  private var composed: String {
    let split = withSplitVowels
    return split.hasConjoiningJamo ? split.composedWithJamo : split.precomposedStringWithCanonicalMapping
  }

  /// Whether two texts are canonically equivalent.
  static func areEquivalent(_ a: String, _ b: String) -> Bool {
    if a == b { return true }
    return (a.hasVowelsToSplit || b.hasVowelsToSplit) && a.withSplitVowels == b.withSplitVowels
  }

  /// The text with the Tibetan vowel signs that have two parts, U+0F73, U+0F75 and U+0F81, as these. They are marks without a combining class
  /// of their own, and Swift does not order their parts among the marks before them. The text itself if it has none.
  var withSplitVowels: String {
    guard hasVowelsToSplit else { return self }
    var split = String.UnicodeScalarView()
    for scalar in unicodeScalars {
      if let end = Self.ends[scalar] {
        split.append("\u{F71}")
        split.append(end)
      } else {
        split.append(scalar)
      }
    }
    return String(split)
  }

  private static let ends: [Unicode.Scalar: Unicode.Scalar] = [
    "\u{F73}": "\u{F72}", "\u{F75}": "\u{F74}", "\u{F81}": "\u{F80}",
  ]

  private var hasVowelsToSplit: Bool {
    var copy = self
    return copy.withUTF8 { bytes in
      bytes.indices.dropLast(2).contains { index in
        guard bytes[index] == 0xE0 else { return false }
        switch (bytes[index + 1], bytes[index + 2]) {
        case (0xBD, 0xB3), (0xBD, 0xB5), (0xBE, 0x81): return true
        default: return false
        }
      }
    }
  }

  /// Whether there is a scalar from U+1100 to U+11FF.
  private var hasConjoiningJamo: Bool {
    var copy = self
    return copy.withUTF8 { bytes in
      zip(bytes, bytes.dropFirst()).contains { $0 == 0xE1 && 0x84...0x87 ~= $1 }
    }
  }

  /// The composed form of a text with parts of Hangul syllables. Foundation composes some that are not modern, and does not add the end of a
  /// syllable to one that is composed. Hangul composes with Hangul only, so that the rest is composed by itself.
  private var composedWithJamo: String {
    var (composed, others) = (String.UnicodeScalarView(), String.UnicodeScalarView())
    var hangul: Unicode.Scalar?
    func addOthers() {
      guard !others.isEmpty else { return }
      composed.append(contentsOf: String(others).precomposedStringWithCanonicalMapping.unicodeScalars)
      others = String.UnicodeScalarView()
    }
    for scalar in unicodeScalars {
      if let syllable = hangul?.syllable(with: scalar) {
        hangul = syllable
        continue
      }
      if let hangul { composed.append(hangul) }
      hangul = scalar.isHangul ? scalar : nil
      if hangul == nil { others.append(scalar) } else { addOthers() }
    }
    if let hangul { composed.append(hangul) }
    addOthers()
    return String(composed)
  }
}

/// The composition of Hangul syllables: section 3.12 of the Unicode Standard.
extension Unicode.Scalar {
  private static let firstLeading: UInt32 = 0x1100
  private static let firstVowel: UInt32 = 0x1161
  /// The place before the first trailing consonant: that of a syllable without one.
  private static let noTrailing: UInt32 = 0x11A7
  private static let firstSyllable: UInt32 = 0xAC00
  private static let leadingCount: UInt32 = 19
  private static let vowelCount: UInt32 = 21
  private static let trailingCount: UInt32 = 28
  private static let syllableCount: UInt32 = 11_172

  fileprivate var isHangul: Bool {
    0x1100...0x11FF ~= value || value &- Self.firstSyllable < Self.syllableCount
  }

  /// The syllable of a leading consonant and a vowel, or of a syllable without an end and a trailing consonant; nil for others.
  fileprivate func syllable(with next: Unicode.Scalar) -> Unicode.Scalar? {
    let (leading, vowel) = (value &- Self.firstLeading, next.value &- Self.firstVowel)
    if leading < Self.leadingCount, vowel < Self.vowelCount {
      return Unicode.Scalar(
        Self.firstSyllable + (leading * Self.vowelCount + vowel) * Self.trailingCount)
    }
    let (syllable, trailing) = (value &- Self.firstSyllable, next.value &- Self.noTrailing)
    guard syllable < Self.syllableCount, syllable.isMultiple(of: Self.trailingCount),
      (1..<Self.trailingCount).contains(trailing)
    else { return nil }
    return Unicode.Scalar(value + trailing)
  }
}
