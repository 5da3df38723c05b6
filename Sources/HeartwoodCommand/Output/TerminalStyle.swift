import Foundation

/// How text is emphasised on a terminal.
enum TerminalStyle: String {
  case bold = "1"
  case dim = "2"
  case reversed = "7"

  /// Whether the user wants emphasis: not with `NO_COLOR` (see no-color.org), nor on a terminal that shows none.
  static func isWanted(by environment: [String: String]) -> Bool {
    environment["NO_COLOR", default: ""].isEmpty && environment["TERM"] != "dumb"
  }

  func styled(_ text: String) -> String { "\u{1B}[\(rawValue)m\(text)\u{1B}[0m" }
}

enum TerminalSize {
  /// The columns of a terminal, 80 if it does not tell; nil if the descriptor is no terminal.
  static func columns(of descriptor: Int32) -> Int? {
    isatty(descriptor) == 1 ? columnsAndRows(of: descriptor).columns : nil
  }

  /// The columns and rows of a terminal, 80 and 24 if it does not tell.
  static func columnsAndRows(of descriptor: Int32) -> (columns: Int, rows: Int) {
    var size = winsize()
    guard ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return (80, 24) }
    return (Int(size.ws_col), size.ws_row > 0 ? Int(size.ws_row) : 24)
  }
}
