import Foundation
import HeartwoodFiles

/// A regular expression that has to match a whole text, in ICU's syntax. Characters are Unicode scalars of the composed form.
///
/// The time of a match is linear in the text, unless the pattern has references to groups, looks ahead or behind, or repeats possessively:
/// then there is a limit of steps.
struct RegularExpression: Sendable {
  private let program: PatternProgram
  private let ignoresDiacritics: Bool
  private let text: String

  /// - Throws: `.coreData` if the text is no regular expression.
  init(_ text: String, _ options: ComparisonOptions = []) throws(HeartwoodError) {
    ignoresDiacritics = options.contains(.diacriticInsensitive)
    self.text = text
    var flags = PatternParser.Flags()
    flags.ignoresCase = options.contains(.caseInsensitive)
    do throws(PatternParser.Mistake) {
      let node = try PatternParser.parse(
        ignoresDiacritics ? text.folded([.diacriticInsensitive]) : text.normalizedForComparison, flags)
      do throws(PatternProgram.TooLarge) {
        program = try PatternProgram(node)
      } catch {
        throw PatternParser.Mistake(
          what: "its repetitions have more than \(PatternProgram.mostSteps) steps in all", position: 0)
      }
    } catch {
      throw .predicate(
        "the regular expression \"\(Self.shown(text))\" cannot be read: at character \(error.position + 1): \(error.what)"
      )
    }
  }

  private static func shown(_ text: String) -> String {
    text.utf8.count <= 120 ? text : "\(text.prefix(100))…"
  }

  /// Whether it matches a text as a whole.
  ///
  /// - Parameter isCancellable: Whether a cancelled fetch or task ends the match.
  /// - Throws: `.coreData` if the match takes too many steps; `CancellationError`.
  func matches(_ subject: String, isCancellable: Bool = true) throws -> Bool {
    let comparable =
      ignoresDiacritics ? subject.folded([.diacriticInsensitive]) : subject.normalizedForComparison
    let scalars = comparable.unicodeScalars.map(\.value)
    let check = { if isCancellable { try ScanControl.checkHere() } }
    if program.isRegular {
      var match = PatternMatch(program, scalars)
      return try match.run(check)
    }
    var match = BacktrackingMatch(program, scalars)
    do {
      return try match.run(check)
    } catch is BacktrackingMatch.TooManySteps {
      throw HeartwoodError.predicate(
        "the regular expression \"\(Self.shown(text))\" takes more than \(BacktrackingMatch.mostSteps) steps for a text of "
          + "\(scalars.count) characters: it has references to groups, looks ahead or behind, or repeats possessively; write it without"
      )
    }
  }

  // MARK: Of rules

  private static let known = Guarded<[String: RegularExpression]>([:])
  private static let mostKnown = 256

  /// An expression that was made before, or is made now.
  static func known(_ text: String) throws(HeartwoodError) -> RegularExpression {
    if let found = known.withLock({ $0[text] }) { return found }
    let made = try RegularExpression(text)
    known.withLock { known in
      if known.count >= mostKnown { known.removeAll() }
      known[text] = made
    }
    return made
  }
}
