import Foundation
import TestSupport
import Testing

/// The articles of all modules, and the README: what their examples say is run by tests, in the folders `Documentation` of all targets.
@Suite struct `Articles` {
  /// Documents with examples, but for those of the packages below `Sources`, which test their own.
  static let documents: [String] = {
    let root = PackageFolder.url.appending(path: "Sources")
    let articles = (try? FileManager.default.subpathsOfDirectory(atPath: root.path)) ?? []
    return ["README.md"]
      + articles.filter {
        $0.hasSuffix(".md") && $0.split(separator: "/").dropFirst().first == "Documentation.docc"
      }
      .map { "Sources/" + $0 }.sorted()
  }()

  /// The sources of the tests of all targets, and those of the packages that articles quote.
  static let known: Set<String> = {
    let tests = ((try? PackageFolder.sources(in: "Tests")) ?? [:]).filter {
      $0.key.contains("/Documentation/")
    }
    let corpus = ((try? PackageFolder.sources(in: "Tests/SwiftDataTests/Corpus")) ?? [:])
    let fixtures = (try? PackageFolder.sources(in: "Fixtures/PortedModels/Sources")) ?? [:]
    let plan = (try? PackageFolder.sources(in: "Fixtures/PortedModels/Tests")) ?? [:]
    let observing = (try? PackageFolder.sources(in: "Sources/HeartwoodObservability/Tests")) ?? [:]
    return Set([tests, corpus, fixtures, plan, observing].flatMap(\.values).flatMap(lines))
  }()

  @Test(arguments: documents)
  func `every line of the examples occurs in a test`(document: String) throws {
    let text = try PackageFolder.text(of: document)
    for line in Self.examples(in: text).flatMap(Self.lines) where !Self.known.contains(line) {
      Issue.record("\(document) has a line that no test runs: \(line)")
    }
  }

  @Test func `the site leads to every article`() throws {
    let listed = Set(
      try PackageFolder.text(of: "Tests/Documentation/site").split(separator: "\n").map(String.init))
    for document in Self.documents.dropFirst() {
      let parts = document.split(separator: "/").map(String.init)
      let (module, article) = (parts[1], parts[parts.count - 1].dropLast(3))
      guard module != article, !listed.contains("\(module)/\(article)") else { continue }
      Issue.record("Tests/Documentation/site has no line \(module)/\(article)")
    }
  }

  /// Blocks of Swift, but for manifests of packages.
  private static func examples(in text: String) -> [String] {
    text.components(separatedBy: "```swift\n").dropFirst().map { $0.components(separatedBy: "```")[0] }
      .filter { !$0.contains(".package(") && !$0.contains("package: \"heartwood\"") }
  }

  /// Lines without indentation, marks of functions and trailing comments, except comments and empty lines.
  private static func lines(of text: String) -> [String] {
    text.split(separator: "\n").map { line in
      let code = line.range(of: "  //").map { line[..<$0.lowerBound] } ?? line
      return code.trimmingCharacters(in: .whitespaces)
        .replacing(#/^(private|package|@Sendable) /#, with: "")
    }.filter { !$0.isEmpty && !$0.hasPrefix("//") }
  }
}
