import Foundation

/// The lines of a file or of standard input, one after another, without holding all of them.
struct LineReader {
  private static let chunkBytes = 1 << 16

  private let name: String
  private let handle: FileHandle
  private var pending: [UInt8] = []
  private var start = 0
  private var hasEnded = false
  /// The number of the line that was read last, from 1 on.
  private(set) var number = 0

  /// - Parameter path: A file, or - for standard input.
  init(_ path: String) throws(CommandFailure) {
    name = path == "-" ? "standard input" : path
    handle = try path == "-" ? .standardInput : InputFile.open(path)
  }

  /// The next line without what ends it; nil behind the last.
  mutating func next() throws(CommandFailure) -> ArraySlice<UInt8>? {
    var searched = start
    while true {
      if let end = pending[searched...].firstIndex(of: UInt8(ascii: "\n")) {
        defer { start = end + 1 }
        number += 1
        return pending[start..<end]
      }
      searched = pending.count - start
      guard try fill() else { break }
    }
    guard start < pending.count else { return nil }
    defer { start = pending.count }
    number += 1
    return pending[start...]
  }

  /// Reads more; false at the end.
  private mutating func fill() throws(CommandFailure) -> Bool {
    guard !hasEnded else { return false }
    pending.removeSubrange(..<start)
    start = 0
    do {
      guard let chunk = try handle.read(upToCount: Self.chunkBytes), !chunk.isEmpty else {
        hasEnded = true
        return false
      }
      pending += chunk
      return true
    } catch {
      throw CommandFailure(.inputOutput, "\(name): can't read it: \(error.localizedDescription)")
    }
  }

  /// A failure about the line that was read last.
  func failure(_ message: String) -> CommandFailure { .data("\(name): line \(number): \(message)") }

  /// A failure about the whole of it.
  func wholeFailure(_ message: String) -> CommandFailure { .data("\(name): \(message)") }
}
