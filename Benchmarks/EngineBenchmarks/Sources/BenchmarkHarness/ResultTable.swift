/// The figures of all rows, peers and rounds, and their form as text.
public struct ResultTable {
  /// One row: its figures of every peer.
  public struct Row {
    /// The row's name.
    public let name: String
    /// The unit of its figures.
    public let unit: RowUnit
    let goal: Goal?
    /// Whether the ratio is that to the last peer, and not to the best of the others.
    let comparesWithLast: Bool
    /// By peer, one figure for each round; none where the row is left out for the peer.
    public internal(set) var figures: [[Double]]
  }

  /// A line above the table.
  public let title: String
  /// The names of the peers, in the order of the columns.
  public let peers: [String]
  /// Whether the first peer is compared with the last, and not with the best of the others.
  let comparesWithLast: Bool
  /// The rows, in the order in which they were first added.
  public private(set) var rows: [Row] = []

  /// A table without rows.
  /// - Parameters:
  ///   - title: A line above the table.
  ///   - peers: The names of the peers, in the order of the columns.
  ///   - comparesWithLast: Whether the first peer is compared with the last, and not with the best of the others.
  public init(title: String, peers: [String], comparesWithLast: Bool = false) {
    self.title = title
    self.peers = peers
    self.comparesWithLast = comparesWithLast
  }

  /// Adds a figure of one round.
  /// - Parameters:
  ///   - figure: Not a number where there is none in this round.
  ///   - name: The row, which is added where it is not there.
  ///   - unit: The unit of the row's figures.
  ///   - peer: The number of the peer, from 0.
  ///   - goal: The goal of a row that is added, in a column of its own.
  public mutating func add(_ figure: Double, row name: String, unit: RowUnit, peer: Int, goal: Goal? = nil) {
    guard !figure.isNaN else { return }
    if let index = rows.firstIndex(where: { $0.name == name }) {
      rows[index].figures[peer].append(figure)
    } else {
      var figures = [[Double]](repeating: [], count: peers.count)
      figures[peer] = [figure]
      rows.append(
        Row(name: name, unit: unit, goal: goal, comparesWithLast: comparesWithLast, figures: figures))
    }
  }

  /// The table with columns aligned for a terminal.
  public func aligned() -> String {
    let cells = [header] + rows.map(cells)
    let widths = header.indices.map { column in cells.map { $0[column].count }.max() ?? 0 }
    let lines = cells.map { line in
      line.indices.map { padded(line[$0], to: widths[$0], left: $0 == 0) }.joined(separator: "  ")
    }
    return title + "\n\n" + lines.joined(separator: "\n") + "\n"
  }

  /// The table in Markdown.
  public func markdown() -> String {
    let rule = header.indices.map { $0 == 0 ? "---" : "---:" }
    let lines = ([header, rule] + rows.map(cells)).map { "| " + $0.joined(separator: " | ") + " |" }
    return title + "\n\n" + lines.joined(separator: "\n") + "\n"
  }

  private var hasGoals: Bool { rows.contains { $0.goal != nil } }

  private var header: [String] {
    let compared =
      comparesWithLast && peers.count > 1
      ? ["to " + peers[peers.count - 1]]
      : peers.count > 2 ? ["to the best"] : peers.dropFirst().map { "to " + $0 }
    return ["row"] + peers + compared + (hasGoals ? ["goal"] : [])
  }

  private func cells(of row: Row) -> [String] {
    let figures = row.figures.map { row.unit.text($0, spreads: true) }
    let compared = peers.count > 1 ? [row.ratioText] : []
    return [row.name] + figures + compared + (hasGoals ? [row.goal?.text(row.unit) ?? ""] : [])
  }

  private func padded(_ text: String, to width: Int, left: Bool) -> String {
    let space = String(repeating: " ", count: max(0, width - text.count))
    return left ? text + space : space + text
  }
}

extension ResultTable.Row {
  /// How many times better the first peer's median is than the best one of the others; `nil` where there is none.
  public var ratio: Double? { ratio(figures.map(median)) }

  /// The ratio if the goal were reached exactly.
  var goalRatio: Double? {
    switch goal {
    case .ratio(let ratio): ratio
    case .atMost(let figure), .atLeast(let figure): ratio([figure] + figures.dropFirst().map(median))
    case nil: nil
    }
  }

  /// The ratio, and the least and greatest that a single round had.
  fileprivate var ratioText: String {
    guard let ratio else { return "" }
    let rounds = figures[0].indices.compactMap { round in
      self.ratio(figures.map { round < $0.count ? $0[round] : .nan })
    }
    guard rounds.count > 1, let least = rounds.min(), let most = rounds.max() else { return text(ratio) }
    return "\(text(ratio)) (\(text(least))..\(text(most)))"
  }

  private func text(_ ratio: Double) -> String { decimal(ratio, places: ratio >= 100 ? 0 : 2) }

  private func ratio(_ figures: [Double]) -> Double? {
    guard unit != .times else { return nil }
    let compared = comparesWithLast ? figures.suffix(figures.count > 1 ? 1 : 0) : figures.dropFirst()
    let others = compared.filter { !$0.isNaN }
    guard let best = unit.biggerIsBetter ? others.max() : others.min() else { return nil }
    let ratio = unit.biggerIsBetter ? figures[0] / best : best / figures[0]
    return ratio.isFinite ? ratio : nil
  }
}
