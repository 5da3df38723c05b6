/// How far a step of a migration is.
public struct MigrationProgress: Hashable, Sendable, CustomStringConvertible {
  /// The work: `index of name of Person`.
  public let step: String
  /// How many rows are done.
  public let rows: Int
  /// How many there are.
  public let totalRows: Int

  /// The step with both numbers.
  public var description: String { "\(step): \(rows) of \(totalRows) rows" }
}

/// Counts the rows of one step of a migration, and says so to its log.
final class RowCounter {
  private let log: MigrationLog
  private let step: String
  private let total: Int
  private var rows = 0
  private var said = 0
  /// After how many rows progress is reported, and after how many a line is logged.
  private static let (interval, lineInterval) = (1000, 100_000)

  init(_ log: MigrationLog, _ step: String, _ total: Int) {
    (self.log, self.step, self.total) = (log, step, total)
  }

  func advance(by count: Int = 1) {
    rows += count
    if rows - said >= Self.interval { say() }
  }

  func finish() { if rows != said { say() } }

  private func say() {
    let progress = MigrationProgress(step: step, rows: rows, totalRows: max(rows, total))
    log.report(progress, isLine: rows / Self.lineInterval > said / Self.lineInterval)
    said = rows
  }
}
