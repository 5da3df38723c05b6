import Foundation
import GraphTestSupport
import Heartwood
import Testing

private final class HangulWord: ManagedObject {
  @Attribute(.indexed) var text = ""
  @Attribute var plain = ""
  @Attribute(.unique) var name: String?
}

/// Texts of Hangul whose syllables are written in parts.
@Suite struct `Texts of Hangul` {
  private static let texts = [
    "\u{AC00}", "\u{AC00}\u{11A8}", "\u{AC01}", "\u{1100}\u{1161}\u{11A8}", "\u{AC00}\u{B098}",
    "\u{1100}\u{1176}", "\u{AE4C}", "\u{AC00}\u{11A7}",
  ]

  private func makeContext() throws -> ManagedObjectContext {
    let context = try PersistentContainer(
      name: "Words", types: [HangulWord.self], at: URL(fileURLWithPath: "/dev/null")
    ).newBackgroundContext()
    for text in Self.texts {
      let word = HangulWord(context: context)
      (word.text, word.plain) = (text, text)
    }
    try context.save()
    return context
  }

  @Test func `a syllable is found however it is written, and archaic letters are others`() throws {
    let context = try makeContext()
    func found(_ format: String, _ text: String) throws -> Set<[UInt32]> {
      let request = FetchRequest<HangulWord>()
      request.predicate = try FormatPredicate(format, text)
      return Set(try context.fetch(request).map { $0.text.unicodeScalars.map(\.value) })
    }
    for name in ["text", "plain"] {
      for text in Self.texts {
        let same = Set(Self.texts.filter { $0 == text }.map { $0.unicodeScalars.map(\.value) })
        for format in ["\(name) == %@", "\(name) ==[c] %@", "\(name) IN {%@}", "\(name) MATCHES %@"] {
          #expect(try found(format, text) == same, "\(format) \(text)")
        }
      }
      #expect(try found("\(name) BEGINSWITH %@", "\u{AC01}").count == 3)
      #expect(try found("\(name) BEGINSWITH %@", "\u{AE4C}") == [[0xAE4C]])
    }
  }

  @Test func `syllables are in the order of their composed forms`() throws {
    let context = try makeContext()
    for name in ["text", "plain"] {
      let request = FetchRequest<HangulWord>()
      request.sortDescriptors = [NamedSort(name)]
      let words = try context.fetch(request).map(\.text)
      // Archaic letters are not composed, and are before all syllables.
      let expected = [
        "\u{1100}\u{1176}", "\u{AC00}", "\u{AC00}\u{11A7}", "\u{AC00}\u{B098}", "\u{AC01}", "\u{AC01}",
        "\u{AC01}", "\u{AE4C}",
      ]
      #expect(words == expected, "\(name): \(words)")
    }
  }

  @Test func `a unique text is refused in parts, too`() throws {
    let context = try makeContext()
    HangulWord(context: context).name = "\u{AC01}"
    try context.save()
    for text in ["\u{AC00}\u{11A8}", "\u{1100}\u{1161}\u{11A8}"] {
      HangulWord(context: context).name = text
      #expect(heartwoodError { try context.save() }?.code == .managedObjectConstraintMerge)
      context.rollback()
    }
    HangulWord(context: context).name = "\u{AC00}\u{11A7}"
    HangulWord(context: context).name = "\u{AC00}"
    try context.save()
  }
}
