import Foundation

/// A terminal on which lines are edited: standard input and standard error.
struct Terminal {
  /// Reads a line with a prompt; nil where the input ends.
  ///
  /// - Parameter editor: The line and its history.
  static func line(_ prompt: String, _ editor: LineEditor) -> String?? {
    guard let mode = RawMode() else { return nil }
    defer { mode.end() }
    var editor = editor
    let keys = KeyDecoder(hasMore: { hasInput(within: sequence) }) { byte() }
    show(prompt, editor)
    while let key = keys.key() {
      switch editor.handle(key) {
      case .editing: break
      case .line(let line):
        write("\r\n")
        return line
      case .interrupted:
        write("^C\r\n")
        return ""
      case .ended:
        write("\r\n")
        return .some(nil)
      case .candidates(let candidates): write("\r\n" + candidates.joined(separator: "  ") + "\r\n")
      case .clearScreen: write("\u{1B}[H\u{1B}[2J")
      }
      show(prompt, editor)
    }
    return .some(nil)
  }

  /// Runs `body` on the alternate screen, and shows the former one again afterwards.
  ///
  /// - Parameter idle: Runs twice a second while no key is pressed.
  static func fullScreen(idle: @escaping () -> Void, _ body: (KeyDecoder) throws -> Void) throws {
    guard let mode = RawMode() else { return }
    write("\u{1B}[?1049h")
    defer {
      write("\u{1B}[?25h\u{1B}[?1049l")
      mode.end()
    }
    let keys = KeyDecoder(hasMore: { hasInput(within: sequence) }) {
      while !hasInput(within: 500) { idle() }
      return byte()
    }
    try body(keys)
  }

  /// Shows lines from the top of the screen, in the place of all that was there.
  ///
  /// - Parameter cursor: The column of the cursor in the last line; nil for no cursor.
  static func show(_ lines: [String], cursor: Int?) {
    let text = lines.map { "\u{1B}[K" + $0 }.joined(separator: "\r\n")
    let place = cursor.map { "\u{1B}[\(lines.count);\($0 + 1)H\u{1B}[?25h" } ?? "\u{1B}[?25l"
    write("\u{1B}[?25l\u{1B}[H" + text + "\u{1B}[J" + place)
  }

  /// Shows the part of the line around the cursor that fits.
  private static func show(_ prompt: String, _ editor: LineEditor) {
    let room = max(10, (TerminalSize.columns(of: STDERR_FILENO) ?? 80) - prompt.count - 1)
    let shown = editor.part(of: room) { TextWidth.columns(of: $0) }
    let back = TextWidth.columns(of: String(editor.line[editor.cursor..<shown.upperBound]))
    write(
      "\r" + prompt + String(editor.line[shown]).escapingControls + "\u{1B}[K"
        + (back > 0 ? "\u{1B}[\(back)D" : ""))
  }

  /// How long the bytes of one key take at most, in milliseconds, also over a network.
  private static let sequence: Int32 = 100

  /// - Parameter time: In milliseconds.
  /// - Returns: True also where the input has ended.
  private static func hasInput(within time: Int32) -> Bool {
    var input = pollfd(fd: STDIN_FILENO, events: Int16(POLLIN), revents: 0)
    return poll(&input, 1, time) != 0
  }

  private static func byte() -> UInt8? {
    var byte: UInt8 = 0
    while true {
      let count = read(STDIN_FILENO, &byte, 1)
      if count == 1 { return byte }
      if count < 0, errno == EINTR { continue }
      return nil
    }
  }

  private static func write(_ text: String) {
    // A failure to write to the terminal can't be reported anywhere.
    try? FileHandle.standardError.write(contentsOf: Array(text.utf8))
  }
}

/// Standard input without echo, line by line reading and signals of keys, until its end.
private struct RawMode {
  private let before: termios

  /// Nil if standard input is no terminal.
  init?() {
    var mode = termios()
    guard tcgetattr(STDIN_FILENO, &mode) == 0 else { return nil }
    before = mode
    cfmakeraw(&mode)
    // Output stays as it is, so that other text begins at the left.
    mode.c_oflag = before.c_oflag
    guard tcsetattr(STDIN_FILENO, TCSAFLUSH, &mode) == 0 else { return nil }
  }

  func end() {
    var mode = before
    tcsetattr(STDIN_FILENO, TCSADRAIN, &mode)
  }
}
