/// How much of the programme is run.
enum Size: String, CaseIterable, Sendable {
  /// A fifth of the figures and small stores: what every change has to pass.
  case short
  /// The figures that the documents quote.
  case standard
  /// As long as there is time.
  case long
}

/// One part of the programme: pieces that need nothing of one another, run in the order of their numbers
/// until the part's goals are reached.
protocol Part: Sendable {
  /// One word, by which it is asked for.
  var name: String { get }
  /// What it does, in a sentence.
  var summary: String { get }
  /// The figures to be reached. The long size has those of the standard one, and goes on.
  func goals(of size: Size) -> [Goal]
  /// How many pieces are run even where the goals are reached before.
  func leastPieces(of size: Size) -> Int
  /// The piece with this number, from 0 on, which does the same at every run; nil behind the last.
  func piece(_ number: Int, of size: Size, seed: UInt64) -> Piece?
}

extension Part {
  func leastPieces(of size: Size) -> Int { 1 }
}

/// A figure, and how large it has to become.
struct Goal: Sendable {
  let figure: String
  let count: Int
}

/// What is done in one go: seconds, and not minutes.
struct Piece: Sendable {
  /// What it is, in a few words.
  let name: String
  /// Does it and counts; throws what it finds.
  let run: @Sendable (inout Figures) throws -> Void
}

/// What was counted, by its name in the plural.
struct Figures: Sendable, Equatable, Codable {
  private(set) var counts: [String: Int] = [:]

  subscript(name: String) -> Int {
    get { counts[name] ?? 0 }
    set { counts[name] = newValue }
  }

  static func += (sum: inout Figures, more: Figures) {
    sum.counts.merge(more.counts) { $0 + $1 }
  }

  func reaches(_ goals: [Goal]) -> Bool { goals.allSatisfy { self[$0.figure] >= $0.count } }
}

extension Figures: CustomStringConvertible {
  var description: String {
    counts.sorted { $0.key < $1.key }.map { "\($0.value.grouped) \($0.key)" }.joined(separator: ", ")
  }
}

extension Int {
  /// With a comma between thousands.
  var grouped: String {
    var text = ""
    for (place, digit) in String(self).reversed().enumerated() {
      if place > 0, place.isMultiple(of: 3), digit != "-" { text.append(",") }
      text.append(digit)
    }
    return String(text.reversed())
  }
}

/// Something that must not be.
struct Finding: Error, CustomStringConvertible {
  let description: String

  init(_ description: String) { self.description = description }
}

/// Throws a finding where `condition` does not hold.
func require(_ condition: Bool, _ finding: @autoclosure () -> String) throws {
  if !condition { throw Finding(finding()) }
}
