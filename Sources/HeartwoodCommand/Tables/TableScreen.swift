/// The screen of `heartwood table`: lists of which each was opened from the one before. It knows keys and lines; `Terminal` reads and
/// shows them.
struct TableScreen {
  enum Outcome: Equatable {
    case showing
    case ended
  }

  private let source: TableSource
  private let complete: (_ entity: String, _ condition: [Character]) -> LineEditor.Completion
  /// Never empty: the last list is shown.
  private var lists: [TableList]
  private(set) var page: TablePage
  private(set) var width: Int
  private var height: Int
  /// Shown instead of the keys until the next key.
  private(set) var message: String?
  /// Why what is shown is not of the store at the path any more, as a phrase; nil if it is. Shown instead of the keys.
  private(set) var absence: String?
  /// The condition that is being written; nil while keys move.
  private(set) var editor: LineEditor?
  private var conditions: [String] = []

  /// - Throws: If the first list can't be read.
  init(
    _ source: TableSource, _ first: TableList, width: Int, height: Int,
    complete: @escaping (_ entity: String, _ condition: [Character]) -> LineEditor.Completion
  ) throws(CommandFailure) {
    (self.source, self.complete, self.width, self.height) = (source, complete, width, height)
    lists = [first]
    page = TablePage(title: "", columns: [], rows: [], total: 0)
    try read()
  }

  var list: TableList {
    get { lists[lists.count - 1] }
    set { lists[lists.count - 1] = newValue }
  }

  /// How many rows fit: a title, the heads of the columns and the last line are the others.
  var room: Int { max(1, height - 3) }

  /// Takes the size of the terminal.
  ///
  /// - Returns: Whether it is a new one.
  mutating func resize(width: Int, height: Int) -> Bool {
    guard (width, height) != (self.width, self.height) else { return false }
    (self.width, self.height) = (width, height)
    reread()
    return true
  }

  /// Looks whether the store is still at its path.
  mutating func look() { absence = source.absence }

  mutating func handle(_ key: LineEditor.Key) -> Outcome {
    message = nil
    if editor != nil {
      edit(key)
      return .showing
    }
    switch key {
    case .up, .text("k"): move(to: list.row - 1)
    case .down, .text("j"): move(to: list.row + 1)
    case .pageUp, .text("b"): move(to: list.row - room)
    case .pageDown, .text(" "): move(to: list.row + room)
    case .home, .text("g"): move(to: 0)
    case .end, .text("G"): move(to: page.total - 1)
    case .left, .text("h"): list.column = max(0, list.column - 1)
    case .right, .text("l"): list.column = min(max(0, page.columns.count - 1), list.column + 1)
    case .enter: open()
    case .backspace, .escape, .text("u"): back()
    case .text("/"): beginFilter()
    case .text("s"): sort()
    case .text("r"), .clearScreen: reread()
    case .text("q"), .interrupt, .endOfInput: return .ended
    default: break
    }
    return .showing
  }

  // MARK: Reading

  /// Reads the rows of the screen again. What fails is a message, and the screen stays as it is.
  private mutating func reread() {
    do {
      try read()
    } catch {
      message = error.message
    }
  }

  private mutating func read() throws(CommandFailure) {
    var list = list
    list.top = min(max(list.top, list.row - room + 1), list.row)
    page = try source.page(list, from: list.top, most: room)
    if list.row >= page.total, list.row > 0 {
      // Others have deleted rows, or the condition has fewer.
      list.row = max(0, page.total - 1)
      list.top = max(0, list.row - room + 1)
      page = try source.page(list, from: list.top, most: room)
    }
    list.column = min(list.column, max(0, page.columns.count - 1))
    self.list = list
    message = nil
    look()
  }

  private mutating func move(to row: Int) {
    list.row = max(0, min(row, page.total - 1))
    guard list.row < list.top || list.row >= list.top + page.rows.count else { return }
    if list.row < list.top { list.top = list.row }
    reread()
  }

  /// Changes the lists, and takes the change back if what it leads to can't be read.
  private mutating func change(_ body: (inout [TableList]) -> Void) {
    let (former, shown) = (lists, page)
    body(&lists)
    do {
      try read()
    } catch {
      (lists, page) = (former, shown)
      message = error.message
    }
  }

  /// Changes what the list asks for, and begins with its first row.
  private mutating func ask(_ body: (inout TableList) -> Void) {
    change { lists in
      let last = lists.count - 1
      body(&lists[last])
      (lists[last].row, lists[last].top) = (0, 0)
    }
  }

  // MARK: Following, sorting, filtering

  /// The row of the cursor; nil in an empty list.
  private var current: TablePage.Row? {
    let place = list.row - list.top
    return page.rows.indices.contains(place) ? page.rows[place] : nil
  }

  private mutating func open() {
    guard let row = current else { return }
    let cell = row.cells.indices.contains(list.column) ? row.cells[list.column] : nil
    guard let target = cell?.target ?? row.target else { return }
    change { $0.append(TableList(target)) }
  }

  private mutating func back() {
    guard lists.count > 1 else { return }
    change { $0.removeLast() }
  }

  /// By the column of the cursor: ascending, then descending, then not.
  private mutating func sort() {
    guard list.isQuery, page.columns.indices.contains(list.column) else { return }
    let column = page.columns[list.column]
    guard column.isSortable else {
      message = "\(column.name) has no order"
      return
    }
    let next =
      list.sort == column.name ? "-" + column.name : list.sort == "-" + column.name ? nil : column.name
    ask { $0.sort = next }
  }

  private mutating func beginFilter() {
    guard case .objects(let entity) = list.content else {
      message = "only the objects of an entity can be filtered"
      return
    }
    let complete = complete
    var editor = LineEditor(history: conditions + [list.condition].compactMap(\.self)) {
      complete(entity, $0)
    }
    if list.condition != nil { _ = editor.handle(.up) }
    self.editor = editor
  }

  private mutating func edit(_ key: LineEditor.Key) {
    switch key == .escape ? .interrupted : editor?.handle(key) {
    case .line(let text):
      editor = nil
      filter(text)
    case .interrupted, .ended: editor = nil
    case .candidates(let names): message = names.joined(separator: "  ")
    case .editing, .clearScreen, nil: break
    }
  }

  private mutating func filter(_ text: String) {
    let condition = text.allSatisfy(\.isWhitespace) ? nil : text
    if let condition, conditions.last != condition { conditions.append(condition) }
    ask { $0.condition = condition }
  }
}
