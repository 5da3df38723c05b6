/// The lines of the screen.
extension TableScreen {
  /// All lines, each of at most the width of the terminal.
  ///
  /// - Parameter usesColors: Whether the title and the cursor are emphasised.
  func lines(usesColors: Bool) -> [String] {
    func styled(_ text: String, _ style: TerminalStyle) -> String {
      usesColors ? style.styled(text) : text
    }
    let columns = shownColumns
    let heads = columns.map { place, width in
      text(page.columns[place].name + mark(of: page.columns[place]), width, isNumber: false)
    }
    var lines = [
      styled(title.cut(toColumns: width), .bold),
      "  "
        + zip(columns, heads).map { $0.0 == list.column ? styled($1, .bold) : $1 }
        .joined(separator: Self.gap),
    ]
    for (index, row) in page.rows.enumerated() {
      let isCurrent = index + list.top == list.row
      let cells = columns.map { place, width in
        text(row.cells[place].text, width, isNumber: page.columns[place].isNumber)
      }
      let line = (isCurrent ? "> " : "  ") + cells.joined(separator: Self.gap)
      lines.append(isCurrent ? styled(line, .reversed) : line)
    }
    if page.rows.isEmpty { lines.append("  no objects") }
    lines += Array(repeating: "", count: max(0, room + 2 - lines.count))
    return lines + [(message ?? prompt ?? absence ?? Self.keys).cut(toColumns: width)]
  }

  private static let gap = "  "
  private static let widestCell = 40
  private static let keys = "arrows move  Enter opens  u back  / filter  s sort  r read again  q end"

  private var prompt: String? { editor.map { "/" + String($0.line).escapingControls } }

  /// The columns of the terminal before the cursor of the condition; nil while none is written.
  var cursorColumn: Int? {
    guard message == nil, let editor else { return nil }
    return min(width - 1, 1 + TextWidth.columns(of: String(editor.line[..<editor.cursor]).escapingControls))
  }

  private var title: String {
    let last = list.top + page.rows.count
    var parts = [page.title, page.rows.isEmpty ? "0" : "\(list.top + 1) to \(last) of \(page.total)"]
    if let condition = list.condition { parts.append("where \(condition.escapingControls)") }
    if let sort = list.sort { parts.append("by \(sort)") }
    return parts.joined(separator: Self.gap)
  }

  private func mark(of column: TablePage.Column) -> String {
    list.sort == column.name ? " ^" : list.sort == "-" + column.name ? " v" : ""
  }

  private func text(_ text: String, _ width: Int, isNumber: Bool) -> String {
    text.cut(toColumns: width).padded(toColumns: width, onLeft: isNumber)
  }

  private var isOfObject: Bool {
    if case .object = list.content { true } else { false }
  }

  /// The columns that fit, with their widths: from the first one from which the one of the cursor fits too.
  private var shownColumns: [(Int, Int)] {
    let widths = page.columns.indices.map { place in
      let cells = page.rows.map { TextWidth.columns(of: $0.cells[place].text) }
      let head = TextWidth.columns(of: page.columns[place].name) + 2
      // The values of an object have the rest of the line.
      let isRest = place > 0 && isOfObject
      return min(max(cells.max() ?? 0, head), isRest ? width : Self.widestCell)
    }
    var first = 0
    func size(_ places: ClosedRange<Int>) -> Int {
      places.reduce(2 - Self.gap.count) { $0 + widths[$1] + Self.gap.count }
    }
    while first < list.column, size(first...list.column) > width { first += 1 }
    var shown: [(Int, Int)] = []
    var used = 2
    for place in page.columns.indices.dropFirst(first) {
      let left = width - used
      guard left >= min(widths[place], 6) else { break }
      shown.append((place, min(widths[place], left)))
      used += min(widths[place], left) + Self.gap.count
    }
    return shown
  }
}
