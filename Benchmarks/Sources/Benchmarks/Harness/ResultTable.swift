/// The figures of all rows, peers and rounds, and their form as text.
struct ResultTable {
  struct Row {
    let name: String
    let unit: Unit
    /// By peer, one figure for each round.
    var figures: [[Double]]
  }

  let title: String
  let peers: [String]
  private(set) var rows: [Row] = []

  init(title: String, peers: [String]) {
    self.title = title
    self.peers = peers
  }

  mutating func add(_ figure: Double, row name: String, unit: Unit, peer: Int) {
    if let index = rows.firstIndex(where: { $0.name == name }) {
      rows[index].figures[peer].append(figure)
    } else {
      var figures = [[Double]](repeating: [], count: peers.count)
      figures[peer] = [figure]
      rows.append(Row(name: name, unit: unit, figures: figures))
    }
  }

  /// Columns aligned for a terminal.
  func aligned() -> String {
    let cells = [header] + rows.map(cells)
    let widths = header.indices.map { column in cells.map { $0[column].count }.max() ?? 0 }
    let lines = cells.map { line in
      line.indices.map { padded(line[$0], to: widths[$0], left: $0 == 0) }.joined(separator: "  ")
    }
    return title + "\n\n" + lines.joined(separator: "\n") + "\n"
  }

  func markdown() -> String {
    let rule = header.indices.map { $0 == 0 ? "---" : "---:" }
    let lines = ([header, rule] + rows.map(cells)).map { "| " + $0.joined(separator: " | ") + " |" }
    return title + "\n\n" + lines.joined(separator: "\n") + "\n"
  }

  private var header: [String] {
    ["row"] + peers + peers.dropFirst().map { "to " + $0 } + (peers.count > 2 ? ["to the best"] : [])
  }

  private func cells(of row: Row) -> [String] {
    let medians = row.figures.map(median)
    let others = medians.dropFirst()
    let ratios = others.map { ratio(medians[0], to: $0, row.unit) }
    let best = row.unit.biggerIsBetter ? others.max() : others.min()
    let toBest = peers.count > 2 ? [ratio(medians[0], to: best ?? .nan, row.unit)] : []
    return [row.name] + medians.map { $0.isNaN ? "" : row.unit.text($0) } + ratios + toBest
  }

  /// How many times better than `other` the figure is.
  private func ratio(_ figure: Double, to other: Double, _ unit: Unit) -> String {
    let ratio = unit.biggerIsBetter ? figure / other : other / figure
    guard ratio.isFinite else { return "" }
    return ratio >= 100 ? decimal(ratio, places: 0) : decimal(ratio, places: 2)
  }

  private func padded(_ text: String, to width: Int, left: Bool) -> String {
    let space = String(repeating: " ", count: max(0, width - text.count))
    return left ? text + space : space + text
  }
}
