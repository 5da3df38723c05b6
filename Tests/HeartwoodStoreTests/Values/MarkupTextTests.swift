import HeartwoodFaults
import Testing

@testable import HeartwoodModel

@Suite struct `Texts in XML` {
  /// The same, character by character.
  private static func escaped(_ text: String, keepingLines: Bool) -> String {
    let references: [Character: String] = [
      "&": "&amp;", "<": "&lt;", ">": "&gt;", "\"": "&quot;", "\r": "&#13;", "\r\n": "&#13;\n",
    ]
    let lines: [Character: String] = ["\n": "&#10;", "\t": "&#9;", "\r\n": "&#13;&#10;"]
    return text.map { (keepingLines ? nil : lines[$0]) ?? references[$0] ?? String($0) }.joined()
  }

  @Test(arguments: 0..<4 as Range<UInt64>)
  func `texts of random characters are written with references for those that XML uses`(seed: UInt64) {
    var random = SplitMix64(seed: 0x6d61_726b + seed)
    let characters: [Unicode.Scalar] = [
      "&", "<", ">", "\"", "\r", "\n", "\t", "a", " ", "?", "\u{7F}", "é", "\u{FFFD}", "\u{FEFF}", "\u{FF3F}",
      "\u{FFFE}", "\u{FFFF}", "\u{EFBF}", "😀", "\u{1FFFE}", "\u{0}", "\u{1F}",
    ]
    for step in 0..<500 {
      // Most texts have none of the last characters, which XML does not have.
      let used = random.below(3) == 0 ? characters.count : 15
      var text = ""
      for _ in 0..<random.below(12) { text.unicodeScalars.append(characters[random.below(used)]) }
      for keepsLines in [true, false] {
        #expect(
          text.escapedForMarkup(keepingLines: keepsLines) == Self.escaped(text, keepingLines: keepsLines),
          "seed \(seed), step \(step)")
      }
      #expect(text.isOfMarkup == text.unicodeScalars.allSatisfy(\.isOfMarkup), "seed \(seed), step \(step)")
    }
  }
}
