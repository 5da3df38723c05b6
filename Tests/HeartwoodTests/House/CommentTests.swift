import TestSupport
import Testing

/// The comments of the package: each opens with the name of the thing that it describes, or with a verb.
struct CommentTests {
  @Test(arguments: ["Sources", "Tests", "Benchmarks", "Fixtures"])
  func `no comment opens with a clause in place of a noun`(folder: String) throws {
    let found = try PackageFolder.sources(in: folder).flatMap { path, text in
      Self.clauses(in: text).map { "\(folder)/\(path): \($0)" }
    }
    #expect(found == [], "name the thing: \"The results that …\"")
  }

  @Test func `clauses are found where paragraphs, items and headings begin, and questions are none`() {
    let text = """
      /// @ a store finds.
      let a = 1
        // @ever follows
        // is sorted.
      /// A list.
      ///
      /// @ is in it: much. More.
      /// - Parameter key: @ it
      ///   has.
      /// - @ else: all.
      // MARK: @ others do
      /// A thing.
      /// @ it is continues a paragraph.
      let b = "// @ is in a text."
      // @ if `a.b` is
      // missing? It is nil.

      // @soever.
      """
    #expect(
      Self.clauses(in: text.replacing("@", with: "What")) == [
        "What a store finds.", "Whatever follows is sorted.", "What is in it: much.", "What it has.",
        "What else: all.", "What others do",
      ])
  }

  /// The sentences that open a paragraph, an item or a heading with "What" or "Whatever". A question is none.
  private static func clauses(in text: String) -> [String] {
    let comments = text.split(separator: "\n", omittingEmptySubsequences: false).map(comment)
    var clauses: [String] = []
    for (index, comment) in comments.enumerated() where comment.contains("What") {
      guard let opening = opening(of: comment, after: index > 0 ? comments[index - 1] : ""),
        opening.hasPrefix("What ") || opening.hasPrefix("Whatever ")
      else { continue }
      let further = comments[(index + 1)...].prefix { self.opening(of: $0, after: comment) == nil }
      let sentence = sentence(of: ([opening] + further).joined(separator: " "))
      if !sentence.hasSuffix("?") { clauses.append(sentence) }
    }
    return clauses
  }

  /// The text of a line that is a comment; empty for code.
  private static func comment(_ line: Substring) -> Substring {
    let code = line.drop { $0 == " " }
    return code.hasPrefix("//") ? code.drop { $0 == "/" }.drop { $0 == " " } : ""
  }

  /// The text with which a line begins a paragraph, an item or a heading; nil for a line that continues one.
  private static func opening(of comment: Substring, after former: Substring) -> Substring? {
    if comment.hasPrefix("MARK: ") { return comment.dropFirst(6) }
    guard comment.hasPrefix("- ") else {
      return comment.isEmpty || former.isEmpty || former.hasPrefix("MARK: ") ? comment : nil
    }
    let item = comment.dropFirst(2)
    // The name of a parameter comes first.
    return item.hasPrefix("What") ? item : item.split(separator: ": ", maxSplits: 1).last
  }

  /// The first sentence of a text.
  private static func sentence(of text: String) -> String {
    text.firstMatch(of: /[.?!](?:\s|$)/).map { String(text[...$0.range.lowerBound]) } ?? text
  }
}
