import Foundation
import HeartwoodArchives

/// Reads the lines of a file or of standard input without loading the whole input.
struct LineReader {
  private static let chunkBytes = 1 << 16

  private let name: String
  private let handle: FileHandle
  private var pending: [UInt8] = []
  private var start = 0
  private var hasEnded = false
  /// The number of the last line read, from 1.
  private(set) var number = 0

  /// - Parameter path: A file, or - for standard input.
  init(_ path: String) throws(CommandFailure) {
    name = path == "-" ? "standard input" : path
    handle = try path == "-" ? .standardInput : InputFile.open(path)
  }

  /// The next line without its terminator; nil at the end.
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

  /// Reads more bytes. Returns false at the end.
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
      throw CommandFailure(.inputOutput, "\(name): can't read it: \(DecodingText.text(of: error))")
    }
  }

  /// Creates a failure about the last line read.
  func failure(_ message: String) -> CommandFailure { .data("\(name): line \(number): \(message)") }

  /// Creates a failure about the whole input.
  func wholeFailure(_ message: String) -> CommandFailure { .data("\(name): \(message)") }
}
