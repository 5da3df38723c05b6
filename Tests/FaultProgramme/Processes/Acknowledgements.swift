import Foundation

/// The commits that were acknowledged to the threads of all processes of a stress test, recorded outside of
/// these processes.
///
/// The store numbers the commits of a thread. The numbers are consecutive, except that a killed process may
/// have committed one more without an acknowledgement.
final class Acknowledgements: @unchecked Sendable {
  private let condition = NSCondition()
  /// The last acknowledged commit of each thread. Guarded by `condition`, like the other properties.
  private var last: [String: Int] = [:]
  /// The number of kills of a thread's process since its last acknowledgement. Each kill allows for one more
  /// commit.
  private var kills: [String: Int] = [:]
  private var total = 0
  private var finding: String?

  /// Records that the process of these threads is started, for the first time or after a kill.
  func begin(_ threads: [String]) {
    condition.withLock {
      for thread in threads {
        if last[thread] == nil { last[thread] = 0 } else { kills[thread, default: 0] += 1 }
      }
    }
  }

  /// Processes an output line of a process.
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

  /// Makes `wait` check its condition.
  func wake() { condition.withLock { condition.broadcast() } }

  /// Waits until this many commits were acknowledged in total.
  ///
  /// - Throws: The finding, if there is one, and a finding if `isGoing` returns false.
  func wait(for count: Int, while isGoing: () -> Bool) throws {
    try condition.withLock {
      while total < count {
        try check()
        try require(isGoing(), "a process has ended by itself after \(total) commits")
        // The end of a process wakes the waiter, but may become visible only a little later.
        _ = condition.wait(until: Date(timeIntervalSinceNow: 1))
      }
      try check()
    }
  }

  /// Throws the finding, if there is one.
  func check() throws { if let finding { throw Finding(finding) } }

  /// The possible numbers of commits of each thread: those acknowledged, and at most one more for each kill
  /// since.
  func ends() throws -> [String: ClosedRange<Int>] {
    try condition.withLock {
      try check()
      return Dictionary(
        uniqueKeysWithValues: last.map { ($0, $1...$1 + (kills[$0] ?? 0)) })
    }
  }

  /// The total number of acknowledged commits.
  var count: Int { condition.withLock { total } }
}
