import Foundation
import HeartwoodBytes

/// A log file of the finished pieces, so that an interrupted run continues where it stopped.
///
/// The first line identifies the program: the entries of another build are ignored. Each further line is a
/// piece: its part, number, duration in seconds, and figures.
final class Journal {
  struct Entry {
    let part: String
    let piece: Int
    let seconds: Double
    let figures: Figures
  }

  private(set) var entries: [Entry] = []
  private let file: FileHandle?

  /// Reads the journal of this program, or starts a new one if the file belongs to another build.
  init(at path: String?) throws {
    guard let path else {
      file = nil
      return
    }
    let header = "program \(try Self.programDigest())"
    let lines = (try? String(contentsOfFile: path, encoding: .utf8))?.split(separator: "\n").map(String.init)
    if let lines, lines.first == header {
      entries = lines.dropFirst().compactMap(Self.entry)
    } else {
      try Data("\(header)\n".utf8).write(to: URL(fileURLWithPath: path))
    }
    file = try FileHandle(forWritingTo: URL(fileURLWithPath: path))
    try file?.seekToEnd()
  }

  func add(_ entry: Entry) throws {
    entries.append(entry)
    let figures = entry.figures.counts.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }
    let fields = [entry.part, "\(entry.piece)", "\(entry.seconds)"] + figures
    try file?.write(contentsOf: Data((fields.joined(separator: "\t") + "\n").utf8))
  }

  /// Parses an entry. Returns nil for a line that was truncated by the end of the program.
  private static func entry(_ line: String) -> Entry? {
    let fields = line.split(separator: "\t").map(String.init)
    guard fields.count >= 3, let piece = Int(fields[1]), let seconds = Double(fields[2]) else { return nil }
    var figures = Figures()
    for field in fields.dropFirst(3) {
      let parts = field.split(separator: "=")
      guard parts.count == 2, let count = Int(parts[1]) else { return nil }
      figures[String(parts[0])] = count
    }
    return Entry(part: fields[0], piece: piece, seconds: seconds, figures: figures)
  }

  private static func programDigest() throws -> UInt64 {
    let program = try Data(contentsOf: URL(fileURLWithPath: CommandLine.arguments[0]), options: .alwaysMapped)
    return program.withUnsafeBytes { XXH3.hash($0, seed: 0) }
  }
}
