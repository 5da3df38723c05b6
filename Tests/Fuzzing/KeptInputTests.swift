import Foundation
import HeartwoodFaults
import Testing

/// Runs the fuzz targets with their seeds, with the kept inputs of past findings, and with random changes of the seeds.
@Suite struct KeptInputTests {
  @Test(arguments: FuzzTarget.allCases)
  func `decoders read what the library writes`(target: FuzzTarget) {
    #expect(!target.seeds.isEmpty)
    for seed in target.seeds { #expect(target.finding(seed) == nil) }
  }

  @Test(arguments: FuzzTarget.allCases)
  func `inputs that once failed are refused or read`(target: FuzzTarget) throws {
    let folder = URL(filePath: #filePath).deletingLastPathComponent()
      .appending(path: "../../Fixtures/Fuzz/\(target.rawValue)").standardized
    let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
    for name in names.sorted() {
      let input = [UInt8](try Data(contentsOf: folder.appending(path: name)))
      #expect(target.finding(input) == nil, "Fixtures/Fuzz/\(target.rawValue)/\(name)")
    }
  }

  @Test(arguments: FuzzTarget.allCases)
  func `seeds with a few bytes changed are refused or read`(target: FuzzTarget) {
    var random = SplitMix64(seed: 31)
    let seeds = target.seeds
    for round in 0..<150 {
      var input = random.pick(seeds)
      for _ in 0..<(1 + random.next() % 4) where !input.isEmpty {
        input[random.below(input.count)] = UInt8(truncatingIfNeeded: random.next())
      }
      if random.next() % 8 == 0 { input.removeLast(random.below(input.count + 1)) }
      #expect(target.finding(input) == nil, "\(target), seed 31, round \(round)")
    }
  }

  @Test(arguments: FuzzTarget.allCases.filter(\.isOfText))
  func `texts with words removed, repeated and exchanged are refused or read`(target: FuzzTarget) {
    var random = SplitMix64(seed: 32)
    let seeds = target.seeds.map(Words.words)
    for round in 0..<150 {
      var words = random.pick(seeds)
      for _ in 0..<(1 + random.next() % 3) where !words.isEmpty {
        let place = random.below(words.count)
        switch random.next() % 5 {
        case 0: words.remove(at: place)
        case 1: words.insert(words[place], at: random.below(words.count))
        case 2: words.swapAt(place, random.below(words.count))
        case 3: words.removeSubrange(place..<min(words.count, place + random.below(12)))
        default: words[place] = Array(random.pick(Words.unusual).utf8)
        }
      }
      #expect(target.finding(words.flatMap { $0 }) == nil, "\(target), seed 32, round \(round)")
    }
  }
}

/// The words of a text: names, numbers, and single signs.
private enum Words {
  /// The words that readers have to refuse, or to read exactly.
  static let unusual = [
    "-1", "0", "1e999", "9223372036854775807", "9223372036854775808", "99999999999999999999999", "0.1", "NaN",
    "null",
    "true", "[]", "{}", "\"\"", "''", "\\u0000", "\u{FEFF}", "\u{1F600}", "<", "</object>", "<object>",
    "&#0;", "&lt;",
    "&a;", "]]>", "<!--", "$", "%@", "(((((((((((((((((((((((((((((((((((((((((", "\n", "\t", ",", ":", "\"",
    "A", "name",
    "Member", "Team", "0000-00-00", "1582-10-10",
  ]

  static func words(_ bytes: [UInt8]) -> [[UInt8]] {
    var words: [[UInt8]] = []
    var isInWord = false
    for byte in bytes {
      let isOfWord =
        (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte)
        || byte >= 0x80
      if isOfWord, isInWord { words[words.count - 1].append(byte) } else { words.append([byte]) }
      isInWord = isOfWord
    }
    return words
  }
}
