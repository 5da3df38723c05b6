/// A description of how a fetch is executed: which rows are read, which conditions are checked on each, how they are
/// sorted.
///
/// `ManagedObjectContext.plan(for:)` returns it, with the numbers of rows that are expected; `ManagedObjectContext.analyze(_:)` executes
/// the fetch, and adds the real numbers and times. The plan of a request may change with the contents of the store: the
/// planner chooses by counting in the store's tree.
public struct FetchPlan: Sendable, CustomStringConvertible {
  /// One step of a plan.
  public struct Step: Sendable, CustomStringConvertible {
    /// The action: a kind, a colon and a description, as in `index: Person.name == "Ada"`.
    public let text: String
    /// How many rows are expected after the step; nil for a step that has no rows.
    public internal(set) var expectedRows: Int?
    /// Whether the expected number is exact, as far as the stored rows go.
    public internal(set) var isExact = false
    /// How many rows there were after the step; nil if the plan was not executed.
    public internal(set) var rows: Int?
    /// How long the step took; nil if the plan was not executed, or if the time is part of another step's.
    public internal(set) var duration: Duration?

    /// The text with the numbers.
    public var description: String {
      var notes: [String] = []
      if let expectedRows { notes.append("\(isExact ? "" : "about ")\(Self.rows(expectedRows)) expected") }
      if let rows { notes.append("\(Self.rows(rows)) found") }
      if let duration { notes.append(Self.text(duration)) }
      return notes.isEmpty ? text : "\(text) (\(notes.joined(separator: ", ")))"
    }

    private static func rows(_ count: Int) -> String { count == 1 ? "1 row" : "\(count) rows" }

    private static func text(_ duration: Duration) -> String {
      let microseconds = duration / .microseconds(1)
      return microseconds < 1000
        ? "\(Int(microseconds.rounded())) µs" : "\((microseconds / 100).rounded() / 10) ms"
    }
  }

  /// The steps in order, with the numbers of their rows.
  public internal(set) var details: [Step]

  /// The steps in order, each a kind, a colon and a description: `index: Person.name == "Ada"`.
  public var steps: [String] { details.map(\.text) }

  /// The steps with their numbers, one on each line.
  public var description: String { details.map(\.description).joined(separator: "\n") }
}
