import Foundation

/// What the threads of all processes of a stress test have been told is committed, kept outside of them.
///
/// The commits of a thread are numbered by the store: one number follows the other, but for one that a killed process may have
/// committed without saying so.
final class Acknowledgements: @unchecked Sendable {
  private let condition = NSCondition()
  // Guarded by the condition's lock.
  private var last: [String: Int] = [:]
  /// How often the process of a thread was killed since its last acknowledgement: each time it may have committed one more.
  private var kills: [String: Int] = [:]
  private var total = 0
  private var finding: String?

  /// The process of these threads is started, for the first time or after it was killed.
  func begin(_ threads: [String]) {
    condition.withLock {
      for thread in threads {
        if last[thread] == nil { last[thread] = 0 } else { kills[thread, default: 0] += 1 }
      }
    }
  }

  /// Takes a line of a process.
  func take(_ line: String) {
    condition.withLock {
      let words = line.split(separator: " ")
      if words.count == 2, let number = Int(words[1]), let before = last[String(words[0])] {
        let thread = String(words[0])
        let allowed = before + 1...before + 1 + (kills[thread] ?? 0)
        if !allowed.contains(number) {
          find("thread \(thread): commit \(before) was acknowledged, and the next is number \(number)")
        }
        last[thread] = number
        kills[thread] = nil
        total += 1
      } else {
        find(line)
      }
      condition.broadcast()
    }
  }

  private func find(_ text: String) { finding = finding ?? text }

  /// Lets `wait` look whether there is something new.
  func wake() { condition.withLock { condition.broadcast() } }

  /// Waits until so many were acknowledged in all.
  ///
  /// - Throws: what was found; also where `isGoing` says that no more will come.
  func wait(for count: Int, while isGoing: () -> Bool) throws {
    try condition.withLock {
      while total < count {
        try check()
        try require(isGoing(), "a process has ended by itself after \(total) commits")
        // A process that ends wakes, but may not be seen as ended at once.
        _ = condition.wait(until: Date(timeIntervalSinceNow: 1))
      }
      try check()
    }
  }

  /// Throws what was found.
  func check() throws { if let finding { throw Finding(finding) } }

  /// How many commits each thread has: those that it was told of, and at most one more for each kill since.
  func ends() throws -> [String: ClosedRange<Int>] {
    try condition.withLock {
      try check()
      return Dictionary(
        uniqueKeysWithValues: last.map { ($0, $1...$1 + (kills[$0] ?? 0)) })
    }
  }

  /// How many in all.
  var count: Int { condition.withLock { total } }
}
