import Foundation
import HeartwoodFiles

/// Tells what opening a store has found odd.
enum OpeningNotes {
  /// The lines that were written to standard error in this process.
  private static let told = Guarded<Set<String>>([])

  /// - Parameter write: Gets each note; nil for standard error, once for each.
  static func tell(_ notes: [String], _ write: (@Sendable (String) -> Void)?) {
    if let write { return notes.forEach(write) }
    let new = told.withLock { told in notes.filter { told.insert($0).inserted } }
    for note in new {
      try? FileHandle.standardError.write(contentsOf: Data("heartwood: note: \(note)\n".utf8))
    }
  }
}
