import Foundation
import HeartwoodFaults
import Testing

@testable import Heartwood
@testable import HeartwoodModel

/// The composed form of texts, by which they are compared, sorted and indexed, beside Swift's equality.
@Suite struct `The composed form of texts` {
  private static func text(_ scalars: [UInt32]) -> String {
    var view = String.UnicodeScalarView()
    for scalar in scalars { if let scalar = Unicode.Scalar(scalar) { view.append(scalar) } }
    return String(view)
  }

  private static func scalars(_ text: String) -> [UInt32] { text.unicodeScalars.map(\.value) }

  /// The forms of texts that were seen, by the texts as Swift compares them.
  private final class Forms {
    private var known: [String: [UInt32]] = [:]

    /// Whether a text has the form of all that equal it, and one that equals it.
    func fits(_ text: String) -> Bool {
      let composed = text.normalizedForComparison
      let form = scalars(composed)
      if composed != text { return false }
      if let other = known[text] { return other == form }
      known[text] = form
      return true
    }
  }

  @Test(
    arguments: [
      ([0xAC00, 0x11A8], [0xAC01]), ([0x1100, 0x1161, 0x11A8], [0xAC01]),
      ([0x1112, 0x1175, 0x11C2], [0xD7A3]),
      ([0x1100, 0x1176], [0x1100, 0x1176]), ([0x1113, 0x1161], [0x1113, 0x1161]),
      ([0xAC00, 0x11A7], [0xAC00, 0x11A7]), ([0xAC01, 0x11A8], [0xAC01, 0x11A8]),
      ([0x1100, 0x301, 0x1161], [0x1100, 0x301, 0x1161]), ([0xAC00, 0x11A8, 0x65, 0x301], [0xAC01, 0xE9]),
      ([0x301, 0xAC00, 0x11A8, 0x323, 0x307], [0x301, 0xAC01, 0x323, 0x307]),
    ] as [([UInt32], [UInt32])]) func `syllables of Hangul are composed as Unicode says`(
      _ given: [UInt32], _ expected: [UInt32]
    )
  {
    #expect(Self.scalars(Self.text(given).normalizedForComparison) == expected)
  }

  @Test func `all syllables have one form, in whatever parts they are written`() {
    let forms = Forms()
    var wrong: [[UInt32]] = []
    for syllable in UInt32(0xAC00)...0xD7A3 {
      let place = syllable - 0xAC00
      let (leading, vowel) = (0x1100 + place / 588, 0x1161 + place % 588 / 28)
      let trailing: [UInt32] = place.isMultiple(of: 28) ? [] : [0x11A7 + place % 28]
      let open = syllable - place % 28
      for written in [[syllable], [leading, vowel] + trailing, [open] + trailing] {
        let text = Self.text(written)
        let isComposed = Self.scalars(text.normalizedForComparison) == [syllable]
        if !isComposed || !forms.fits(text) { wrong.append(written) }
      }
    }
    #expect(wrong == [])
  }

  @Test func `two jamo, and a syllable with a jamo, have the form of what equals them`() {
    let forms = Forms()
    var wrong: [[UInt32]] = []
    let jamo = UInt32(0x1100)...0x11FF
    for first in Array(jamo) + [0xAC00, 0xAC01, 0xAC1C, 0xD788, 0xD7A3] {
      for second in jamo where !forms.fits(Self.text([first, second])) { wrong.append([first, second]) }
    }
    #expect(wrong == [])
  }

  /// Marks and letters that Foundation's tables have, too. Three Tibetan vowels of two signs, whose use Unicode discourages, are left out: Swift has no
  /// one order of them.
  private static func isKnown(_ scalar: Unicode.Scalar) -> Bool {
    guard let age = scalar.properties.age, age.major < 15 else { return false }
    return ![0xF73, 0xF75, 0xF81].contains(scalar.value)
  }

  private static let marks = (UInt32(0x300)...0x1FFFF).compactMap(Unicode.Scalar.init).filter {
    $0.properties.canonicalCombiningClass != .notReordered && isKnown($0)
  }.map(\.value)

  private static let letters = (UInt32(0xC0)...0x2FA1D).compactMap(Unicode.Scalar.init).filter {
    !(0xAC00...0xD7A3).contains($0.value) && isKnown($0)
      && String($0).decomposedStringWithCanonicalMapping.unicodeScalars.count > 1
  }.map(\.value)

  private static let hangul =
    Array(UInt32(0x1100)...0x11FF) + Array(0xAC00...0xAC40) + [0xA960, 0xD7B0, 0xD788]

  @Test func `Tibetan vowels of two signs have one form among other marks`() {
    for (vowel, end) in [(0xF73, 0xF72), (0xF75, 0xF74), (0xF81, 0xF80)] as [(UInt32, UInt32)] {
      let classes: Set<Unicode.CanonicalCombiningClass> = Set(
        [0xF71, end].compactMap { Unicode.Scalar($0)?.properties.canonicalCombiningClass })
      for mark in Self.marks {
        guard let scalar = Unicode.Scalar(mark), !classes.contains(scalar.properties.canonicalCombiningClass)
        else {
          continue
        }
        for base in [[], [0xF40], [0x61]] as [[UInt32]] {
          let whole = Value.string(Self.text(base + [0xF71, end, mark]))
          for text in [base + [vowel, mark], base + [mark, vowel], base + [0xF71, mark, end]] {
            let other = Value.string(Self.text(text))
            #expect(other == whole && other.hashValue == whole.hashValue && Value.compare(other, whole) == 0)
            #expect(
              Self.scalars(Self.text(text).normalizedForComparison)
                == whole.text.map { Self.scalars($0.normalizedForComparison) })
          }
        }
      }
    }
  }

  private static func random(_ random: inout SplitMix64) -> String {
    text(
      (0...random.below(7)).map { _ in
        switch random.below(8) {
        case 0...2: hangul[random.below(hangul.count)]
        case 3, 4: marks[random.below(marks.count)]
        case 5: letters[random.below(letters.count)]
        case 6: UInt32(0x300 + random.below(0x30))
        default: [0x61, 0x65, 0x20, 0x3D, 0x2208][random.below(5)]
        }
      })
  }

  /// The same text with some of its parts decomposed.
  private static func rewritten(_ text: String, _ random: inout SplitMix64) -> String {
    var rewritten = ""
    for character in text {
      let part = String(character)
      rewritten += random.below(2) == 0 ? part : part.decomposedStringWithCanonicalMapping
    }
    return rewritten
  }

  @Test func `texts have the same form exactly if Swift says that they are equal`() {
    let seed: UInt64 = 0x5EED_0059
    var random = SplitMix64(seed: seed)
    let forms = Forms()
    var equal = 0
    for round in 0..<6000 {
      let text = Self.random(&random)
      let other = Self.rewritten(text, &random)
      if Self.scalars(other) != Self.scalars(text) { equal += 1 }
      #expect(forms.fits(text), "seed \(seed), round \(round): \(Self.scalars(text))")
      // Foundation decomposes as wrongly as it composes, and may have made another text.
      #expect(
        (Self.scalars(text.normalizedForComparison) == Self.scalars(other.normalizedForComparison))
          == (text == other), "seed \(seed), round \(round): \(Self.scalars(text))")
      #expect(
        Self.scalars(text.normalizedForComparison.normalizedForComparison)
          == Self.scalars(text.normalizedForComparison))
    }
    #expect(equal > 1000)
  }

  @Test func `texts that are canonically equal are the same without case and accents`() {
    let seed: UInt64 = 0x5EED_0060
    var random = SplitMix64(seed: seed)
    let options: [ComparisonOptions] = [
      .caseInsensitive, .diacriticInsensitive, [.caseInsensitive, .diacriticInsensitive],
    ]
    var texts = Self.letters.map { Self.text([$0]) }
    for _ in 0..<3000 { texts.append(Self.random(&random)) }
    for text in texts {
      let other = Self.rewritten(text, &random)
      guard other == text else { continue }
      for options in options {
        let (one, two) = (text.folded(options), other.folded(options))
        #expect(Self.scalars(one) == Self.scalars(two), "seed \(seed), \(options): \(Self.scalars(text))")
      }
      for function in [ConditionFunction.uppercase, .lowercase, .canonical] {
        #expect(
          function.apply([.string(text)]) == function.apply([.string(other)]), "seed \(seed), \(text)")
      }
    }
    #expect("\u{2209}".folded(.diacriticInsensitive) == "\u{2208}\u{338}".folded(.diacriticInsensitive))
  }
}
