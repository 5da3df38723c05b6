import Foundation

/// The lines of former sessions, in a file of the user.
struct ShellHistory {
  private static let mostLines = 1_000
  private let path: String?
  private(set) var lines: [String] = []

  /// - Parameter path: The file; nil for none.
  init(path: String?) {
    self.path = path
    guard let path, let bytes = FileManager.default.contents(atPath: path) else { return }
    lines = String(decoding: bytes, as: UTF8.self).split(separator: "\n").suffix(Self.mostLines).map(
      String.init)
  }

  /// The file that `HEARTWOOD_HISTORY` names, else one in the home folder; nil where the variable is empty.
  static func path(_ environment: [String: String]) -> String? {
    if let path = environment["HEARTWOOD_HISTORY"] { return path.isEmpty ? nil : path }
    return environment["HOME"].map { $0 + "/.heartwood_history" }
  }

  /// Adds a line, unless it is the last one again, and writes the file, which only its owner can read.
  mutating func add(_ line: String) {
    guard !line.isEmpty, !line.contains("\n"), line != lines.last else { return }
    lines.append(line)
    if lines.count > Self.mostLines { lines.removeFirst(lines.count - Self.mostLines) }
    guard let path else { return }
    // A history that can't be written is no reason to end the session.
    _ = FileManager.default.createFile(
      atPath: path, contents: Data((lines.joined(separator: "\n") + "\n").utf8),
      attributes: [.posixPermissions: 0o600])
  }
}
