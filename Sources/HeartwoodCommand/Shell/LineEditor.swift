/// A line that is being edited on a terminal. It knows keys and text; `Terminal` reads and shows them.
struct LineEditor {
  enum Key: Equatable {
    case text(Character)
    case left, right, wordLeft, wordRight, home, end, up, down, pageUp, pageDown
    case backspace, delete, deleteToEnd, deleteToStart, deleteWord
    case complete, clearScreen, enter, escape, interrupt, endOfInput, unknown
  }

  enum Outcome: Equatable {
    case editing
    /// The line is complete.
    case line(String)
    /// The line is given up.
    case interrupted
    case ended
    /// The candidates between which a completion could not choose.
    case candidates([String])
    case clearScreen
  }

  private(set) var line: [Character] = []
  /// The place in the line where text is inserted.
  private(set) var cursor = 0
  private let history: [String]
  /// The place in the history, from the oldest; its end is the new line.
  private var place: Int
  private var newLine: [Character] = []
  private let complete: ([Character]) -> Completion

  /// A completion of the last word of a line.
  struct Completion: Equatable {
    /// Where the word begins, in characters.
    let start: Int
    let candidates: [String]
  }

  /// - Parameters:
  ///   - history: Former lines, the oldest first.
  ///   - complete: Completes the end of a line.
  init(history: [String], complete: @escaping ([Character]) -> Completion) {
    self.history = history
    self.complete = complete
    place = history.count
  }

  mutating func handle(_ key: Key) -> Outcome {
    switch key {
    case .text(let character): insert([character])
    case .left: cursor = max(0, cursor - 1)
    case .right: cursor = min(line.count, cursor + 1)
    case .wordLeft: cursor = startOfWord
    case .wordRight: cursor = endOfWord
    case .home: cursor = 0
    case .end: cursor = line.count
    case .up: show(place - 1)
    case .down: show(place + 1)
    case .backspace: remove(max(0, cursor - 1)..<cursor)
    case .delete: remove(cursor..<min(line.count, cursor + 1))
    case .deleteToEnd: remove(cursor..<line.count)
    case .deleteToStart: remove(0..<cursor)
    case .deleteWord: remove(startOfWord..<cursor)
    case .complete: return completed()
    case .clearScreen: return .clearScreen
    case .enter: return .line(String(line))
    case .interrupt: return .interrupted
    case .endOfInput:
      if line.isEmpty { return .ended }
      remove(cursor..<min(line.count, cursor + 1))
    case .pageUp, .pageDown, .escape, .unknown: break
    }
    return .editing
  }

  private mutating func insert(_ text: [Character]) {
    line.insert(contentsOf: text, at: cursor)
    cursor += text.count
  }

  private mutating func remove(_ range: Range<Int>) {
    line.removeSubrange(range)
    cursor = range.lowerBound
  }

  /// The part of the line around the cursor that fits: as much as there is room for before it, then what follows.
  ///
  /// - Parameters:
  ///   - room: In columns.
  ///   - width: The columns of a character.
  /// - Complexity: Linear in `room`, as a line that is pasted is shown after each character.
  func part(of room: Int, width: (Character) -> Int) -> Range<Int> {
    var (first, last, left) = (cursor, cursor, room)
    while first > 0, case let columns = width(line[first - 1]), columns <= left {
      (first, left) = (first - 1, left - columns)
    }
    while last < line.count, case let columns = width(line[last]), columns <= left {
      (last, left) = (last + 1, left - columns)
    }
    return first..<last
  }

  private var startOfWord: Int {
    let before = line[..<cursor]
    guard let last = before.lastIndex(where: { !$0.isWhitespace }) else { return 0 }
    return before[...last].lastIndex(where: \.isWhitespace).map { $0 + 1 } ?? 0
  }

  private var endOfWord: Int {
    let after = line[cursor...]
    guard let first = after.firstIndex(where: { !$0.isWhitespace }) else { return line.count }
    return after[first...].firstIndex(where: \.isWhitespace) ?? line.count
  }

  private mutating func show(_ other: Int) {
    guard (0...history.count).contains(other) else { return }
    if place == history.count { newLine = line }
    place = other
    line = other == history.count ? newLine : Array(history[other])
    cursor = line.count
  }

  /// Completes the word before the cursor as far as all candidates agree.
  private mutating func completed() -> Outcome {
    let completion = complete(Array(line[..<cursor]))
    guard let first = completion.candidates.first else { return .editing }
    let common = completion.candidates.dropFirst().reduce(first) { $0.commonPrefix(with: $1) }
    let isWhole = completion.candidates.count == 1
    let before = cursor
    let old = Array(line[completion.start..<cursor])
    line.replaceSubrange(
      completion.start..<cursor, with: common + (isWhole && !common.hasSuffix(".") ? " " : ""))
    cursor = completion.start + common.count + (isWhole && !common.hasSuffix(".") ? 1 : 0)
    return cursor > before || Array(common) != old ? .editing : .candidates(completion.candidates)
  }
}

extension String {
  fileprivate func commonPrefix(with other: String) -> String {
    String(zip(self, other).prefix { $0 == $1 }.map(\.0))
  }
}
