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
      ? Self.splitASCII(text) : Self.split(String(validating: text, as: UTF8.self) ?? "")
    assert(zip(ranges, ranges.dropFirst()).allSatisfy { $0.upperBound <= $1.lowerBound }, "words overlap")
    assert(ranges.allSatisfy { !$0.isEmpty && !bytes[$0].contains(0) }, "a word is empty, or has a zero byte")
  }

  private static func splitASCII(_ text: UnsafeRawBufferPointer) -> ([UInt8], [Range<Int>]) {
    var ranges: [Range<Int>] = []
    ranges.reserveCapacity(min(text.count / 4 + 1, 64))
    let bytes = [UInt8](unsafeUninitializedCapacity: text.count) { bytes, count in
      var start = -1
      for place in text.indices {
        var byte = text[place]
        switch byte {
        case 0x41...0x5A: byte |= 0x20
        case 0x61...0x7A, 0x30...0x39: break
        default:
          if start >= 0 { ranges.append(start..<place) }
          start = -1
          bytes.initializeElement(at: place, to: byte)
          continue
        }
        bytes.initializeElement(at: place, to: byte)
        if start < 0 { start = place }
      }
      if start >= 0 { ranges.append(start..<text.count) }
      count = text.count
    }
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
    let words = bytes.withUnsafeBytes { all in
      ranges.map { IndexedWord(Self.cut(bytes[$0]).indices, in: all) }.sorted { $0.precedes($1, in: all) }
    }
    var previous: ArraySlice<UInt8> = []
    for word in words {
      let word = bytes[word.range]
      guard word != previous else { continue }
      try body(word)
      previous = word
    }
  }

  /// How many different cut words the text has.
  var distinctCount: Int {
    guard ranges.count > 1 else { return ranges.count }
    var size = 4
    while size < ranges.count * 2 { size *= 2 }
    return withUnsafeTemporaryAllocation(of: Int.self, capacity: size) { table in
      // The numbers of words, from 1, at the places of their hashes or at the next free ones.
      table.initialize(repeating: 0)
      return bytes.withUnsafeBytes { all in
        ranges.indices.count { number in
          let range = Self.cut(bytes[ranges[number]]).indices
          let word = UnsafeRawBufferPointer(rebasing: all[range])
          var place = Self.hash(of: word) & (size - 1)
          while table[place] != 0 {
            let other = UnsafeRawBufferPointer(
              rebasing: all[Self.cut(bytes[ranges[table[place] - 1]]).indices])
            if other.elementsEqual(word) {
              return false
            }
            place = (place + 1) & (size - 1)
          }
          table[place] = number + 1
          return true
        }
      }
    }
  }

  private static let seed = UInt64.random(in: .min ... .max)

  /// The hash function FNV-1a (Fowler, Noll and Vo), from a random beginning.
  private static func hash(of word: UnsafeRawBufferPointer) -> Int {
    var hash = seed
    for byte in word { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
    return Int(truncatingIfNeeded: hash ^ hash >> 32)
  }
}

/// A word to be sorted: by its first eight bytes as a number, and by the others only where these are equal.
private struct IndexedWord {
  let range: Range<Int>
  private let beginning: UInt64

  init(_ range: Range<Int>, in bytes: UnsafeRawBufferPointer) {
    self.range = range
    var beginning: UInt64 = 0
    for place in range.prefix(8) { beginning = beginning << 8 | UInt64(bytes[place]) }
    self.beginning = range.count < 8 ? beginning << UInt64(64 - 8 * range.count) : beginning
  }

  /// A word has no zero byte, so that what a short one is filled with precedes all.
  func precedes(_ other: IndexedWord, in bytes: UnsafeRawBufferPointer) -> Bool {
    if beginning != other.beginning { return beginning < other.beginning }
    let (own, others) = (range.dropFirst(8), other.range.dropFirst(8))
    return bytes[own].lexicographicallyPrecedes(bytes[others])
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
