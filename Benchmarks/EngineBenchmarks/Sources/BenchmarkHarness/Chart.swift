import Foundation

/// A table's ratios as bars, in SVG: one for each row, with a tick where its goal is. The scale is logarithmic, and
/// what is better by more than it shows is cut off and said in figures.
public struct Chart {
  private let table: ResultTable
  private let subtitle: String

  private static let (least, most) = (0.25, 16.0)
  private static let (left, right, top, step) = (300.0, 90.0, 76.0, 24.0)
  private static let width = 860.0

  /// A chart of a table.
  /// - Parameter subtitle: A line below the heading: the machine, and the day.
  public init(table: ResultTable, subtitle: String) {
    self.table = table
    self.subtitle = subtitle
  }

  /// The chart as an SVG document, for light and dark pages.
  public func svg() -> String {
    let rows = table.rows.filter { $0.ratio != nil }
    let bottom = Self.top + Double(rows.count) * Self.step
    let lines =
      [opening(height: bottom + 34), style, heading]
      + [0.25, 0.5, 1, 2, 4, 8, 16].map { gridLine($0, bottom) }
      + [legend(bottom + 18)]
      + rows.enumerated().map { bar($1, at: Self.top + Double($0) * Self.step) }
    return (lines + ["</svg>"]).joined(separator: "\n") + "\n"
  }

  private func opening(height: Double) -> String {
    let size = "width=\"\(number(Self.width))\" height=\"\(number(height))\""
    let box = "viewBox=\"0 0 \(number(Self.width)) \(number(height))\""
    return "<svg xmlns=\"http://www.w3.org/2000/svg\" \(size) \(box) role=\"img\">"
  }

  private var style: String {
    """
    <title>\(escaped(table.title))</title>
    <style>
      text { font: 13px system-ui, sans-serif; fill: #768390 }
      .head { font-weight: 600; font-size: 15px } .small { font-size: 11px }
      .grid { stroke: #768390; opacity: 0.3 } .one { stroke: #768390 }
      .good { fill: #2da44e } .less { fill: #d4702c } .free { fill: #5a8dd6 }
      .goal { stroke: #768390; stroke-width: 2.5 }
      @media (prefers-color-scheme: light) { text { fill: #24292f } .goal { stroke: #24292f } }
      @media (prefers-color-scheme: dark) { text { fill: #e6edf3 } .goal { stroke: #f0f6fc } }
    </style>
    """
  }

  private var heading: String {
    let others = table.peers.dropFirst().joined(separator: ", ")
    let meaning = "\(table.peers.first ?? ""): how many times better than the best of \(others)"
    return [
      text(12, 22, "head", "start", table.title.split(separator: ",").first.map(String.init) ?? ""),
      text(12, 40, "small", "start", meaning), text(12, 56, "small", "start", subtitle),
    ].joined(separator: "\n")
  }

  /// The legend under the chart: the colours and the tick.
  private func legend(_ y: Double) -> String {
    let kinds = [("good", "reached", 12.0), ("less", "missed", 78.0), ("free", "no goal", 140.0)]
    let marks = kinds.map { kind, words, x in
      "<rect class=\"\(kind)\" x=\"\(number(x))\" y=\"\(number(y - 10))\" width=\"12\" height=\"12\" rx=\"2\"/>"
        + text(x + 17, y, "small", "start", words)
    }
    return (marks + [line(212, y - 12, y + 3, "goal"), text(220, y, "small", "start", "goal")])
      .joined(separator: "\n")
  }

  private func gridLine(_ ratio: Double, _ bottom: Double) -> String {
    let kind = ratio == 1 ? "one" : "grid"
    return line(place(ratio), Self.top - 4, bottom, kind)
      + text(place(ratio), bottom + 18, "small", "middle", decimal(ratio, places: ratio < 1 ? 2 : 0) + "x")
  }

  private func bar(_ row: ResultTable.Row, at y: Double) -> String {
    guard let ratio = row.ratio else { return "" }
    let (start, end) = (min(place(1), place(ratio)), max(place(1), place(ratio)))
    let kind = row.goalRatio.map { ratio >= $0 ? "good" : "less" } ?? "free"
    let figure = decimal(ratio, places: ratio >= 100 ? 0 : 2) + (ratio > Self.most ? "x →" : "x")
    let (barY, width) = (number(y + 4), number(max(1, end - start)))
    var parts = [
      text(Self.left - 10, y + 16, nil, "end", row.name),
      "<rect class=\"\(kind)\" x=\"\(number(start))\" y=\"\(barY)\" "
        + "width=\"\(width)\" height=\"\(number(Self.step - 8))\" rx=\"2\"/>",
      text(Self.width - 8, y + 16, nil, "end", figure),
    ]
    if let goal = row.goalRatio, goal <= Self.most {
      parts.append(line(place(goal), y + 1, y + Self.step - 1, "goal"))
    }
    return parts.joined(separator: "\n")
  }

  /// Where on the axis a ratio lies.
  private func place(_ ratio: Double) -> Double {
    let held = min(max(ratio, Self.least), Self.most)
    let share = log2(held / Self.least) / log2(Self.most / Self.least)
    return Self.left + share * (Self.width - Self.left - Self.right)
  }

  private func line(_ x: Double, _ from: Double, _ to: Double, _ kind: String) -> String {
    let ends = "x1=\"\(number(x))\" x2=\"\(number(x))\" y1=\"\(number(from))\" y2=\"\(number(to))\""
    return "<line class=\"\(kind)\" \(ends)/>"
  }

  private func text(_ x: Double, _ y: Double, _ kind: String?, _ anchor: String, _ words: String) -> String {
    let named = kind.map { "class=\"\($0)\" " } ?? ""
    let place = "x=\"\(number(x))\" y=\"\(number(y))\""
    return "<text \(named)\(place) text-anchor=\"\(anchor)\">\(escaped(words))</text>"
  }

  private func number(_ value: Double) -> String { decimal(value, places: 1) }

  private func escaped(_ text: String) -> String {
    text.replacingOccurrences(of: "&", with: "&amp;").replacingOccurrences(of: "<", with: "&lt;")
  }
}
