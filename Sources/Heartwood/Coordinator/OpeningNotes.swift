import Foundation
import HeartwoodFiles

/// Reports what opening a store has found odd.
enum OpeningNotes {
  /// The lines that were written to standard error in this process.
  private static let reported = Guarded<Set<String>>([])

  /// - Parameter write: Gets each note; nil for standard error, once for each.
  static func report(_ notes: [String], _ write: (@Sendable (String) -> Void)?) {
    if let write { return notes.forEach(write) }
    let new = reported.withLock { reported in notes.filter { reported.insert($0).inserted } }
    for note in new {
      try? FileHandle.standardError.write(contentsOf: Data("heartwood: note: \(note)\n".utf8))
    }
  }
}
