import Cutting
import Foundation

/// The record of a disk while it is written, shared by the connections and the console.
final class Recorder: @unchecked Sendable {
  private let condition = NSCondition()
  private var state = DiskRecord()
  private var lines: [String] = []
  private var hasEnded = false

  /// The current record.
  var record: DiskRecord { condition.withLock { state } }

  func append(_ event: DiskRecord.Event) { condition.withLock { state.append(event) } }

  /// The current number of events.
  var position: Int { condition.withLock { state.events.count } }

  func append(line: String) {
    condition.withLock {
      lines.append(line)
      state.append(line: line)
      condition.broadcast()
    }
  }

  /// Called when no further lines can arrive.
  func endLines() {
    condition.withLock {
      hasEnded = true
      condition.broadcast()
    }
  }

  /// Waits until `isReached` returns true for the record.
  ///
  /// - Throws: `Failure` if the machine ends before, reports a failure, or `seconds` have passed.
  func wait(seconds: Double, until isReached: (DiskRecord) -> Bool) throws {
    let limit = Date(timeIntervalSinceNow: seconds)
    try condition.withLock {
      while !isReached(state) {
        let said = "it said:\n\(lines.suffix(20).joined(separator: "\n"))"
        if lines.contains(where: { $0.contains(" failed: ") }) {
          throw Failure("the machine failed; \(said)")
        }
        if hasEnded { throw Failure("the machine ended; \(said)") }
        guard condition.wait(until: limit) else {
          throw Failure("the machine hung for \(seconds) s; \(said)")
        }
      }
    }
  }
}

/// A failure of the harness itself, such as a missing program or a machine that does not start.
struct Failure: Error, CustomStringConvertible {
  let description: String

  init(_ description: String) { self.description = description }
}
