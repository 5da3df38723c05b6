import Foundation
import TestSupport

/// The command in its own process, on a terminal that a test sees and types on.
final class TerminalProgram {
  private let process = Process()
  /// The end of the test.
  private let screen: Int32

  init(_ words: String..., columns: UInt16, rows: UInt16) throws {
    var size = winsize(ws_row: rows, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0)
    var (ours, theirs): (Int32, Int32) = (-1, -1)
    guard openpty(&ours, &theirs, nil, nil, &size) == 0 else { throw POSIXError(.EIO) }
    screen = ours
    let terminal = FileHandle(fileDescriptor: theirs, closeOnDealloc: true)
    process.executableURL = Program.executable
    process.arguments = words
    process.environment = [:]
    (process.standardInput, process.standardOutput) = (terminal, terminal)
    process.standardError = terminal
    try process.run()
  }

  deinit { close(screen) }

  /// Reads what the command shows until a text is there.
  ///
  /// - Throws: If the command ends before, or shows nothing for a minute.
  func wait(for text: String) throws {
    var shown: [UInt8] = []
    var bytes = [UInt8](repeating: 0, count: 4096)
    while !String(decoding: shown, as: UTF8.self).contains(text) {
      var output = pollfd(fd: screen, events: Int16(POLLIN), revents: 0)
      let count = poll(&output, 1, 60_000) == 1 ? read(screen, &bytes, bytes.count) : 0
      guard count > 0 else { throw POSIXError(.EIO) }
      shown += bytes[..<count]
    }
  }

  /// Gives the terminal another size.
  func resize(columns: UInt16, rows: UInt16) throws {
    var size = winsize(ws_row: rows, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0)
    guard ioctl(screen, UInt(TIOCSWINSZ), &size) == 0 else { throw POSIXError(.EIO) }
  }

  func type(_ keys: String) {
    _ = Array(keys.utf8).withUnsafeBytes { write(screen, $0.baseAddress, $0.count) }
  }

  /// The exit status of the command, when it has ended.
  func status() -> Int32 {
    process.waitUntilExit()
    return process.terminationStatus
  }
}
