/// The scope of a run.
enum Size: String, CaseIterable, Sendable {
  /// A fifth of the figures and small stores: required for every change.
  case short
  /// The figures that the documents quote.
  case standard
  /// As much as time allows.
  case long
}

/// One part of the programme: independent pieces, run in order of their numbers until the goals of the part
/// are reached.
protocol Part: Sendable {
  /// The name on the command line, one word.
  var name: String { get }
  /// A description in one sentence.
  var summary: String { get }
  /// The figures to reach. The long size has the goals of the standard one and continues after them.
  func goals(of size: Size) -> [Goal]
  /// The number of pieces to run even if the goals are reached earlier.
  func leastPieces(of size: Size) -> Int
  /// The piece with this number, from 0; nil after the last one. A piece is deterministic.
  func piece(_ number: Int, of size: Size, seed: UInt64) -> Piece?
}

extension Part {
  func leastPieces(of size: Size) -> Int { 1 }
}

/// A figure and the value that it has to reach.
struct Goal: Sendable {
  let figure: String
  let count: Int
}

/// A unit of work that takes seconds, not minutes.
struct Piece: Sendable {
  /// A short description.
  let name: String
  /// Runs the piece and adds to the figures. Throws a finding.
  let run: @Sendable (inout Figures) throws -> Void
}

/// Counters by name in the plural.
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
  /// The number with a comma as the thousands separator.
  var grouped: String {
    var text = ""
    for (place, digit) in String(self).reversed().enumerated() {
      if place > 0, place.isMultiple(of: 3), digit != "-" { text.append(",") }
      text.append(digit)
    }
    return String(text.reversed())
  }
}

/// A violation that a piece has found.
struct Finding: Error, CustomStringConvertible {
  let description: String

  init(_ description: String) { self.description = description }
}

/// Throws a finding if `condition` is false.
func require(_ condition: Bool, _ finding: @autoclosure () -> String) throws {
  if !condition { throw Finding(finding()) }
}
