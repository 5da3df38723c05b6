import Foundation

/// What the threads of all processes of a stress test have been told is committed, kept outside of them.
///
/// The commits of a thread are numbered by the store: one number follows the other, but for one that a killed process may have
/// committed without saying so.
final class Acknowledgements: @unchecked Sendable {
  private let condition = NSCondition()
  // Guarded by the condition's lock.
  private var last: [String: Int] = [:]
  /// Threads whose process was started and has not acknowledged anything since.
  private var fresh: Set<String> = []
  private var total = 0
  private var finding: String?

  /// The process of these threads is started, for the first time or after it was killed.
  func begin(_ threads: [String]) {
    condition.withLock {
      for thread in threads {
        if last[thread] == nil { last[thread] = 0 }
        fresh.insert(thread)
      }
    }
  }

  /// Takes a line of a process.
  func take(_ line: String) {
    condition.withLock {
      let words = line.split(separator: " ")
      if words.count == 2, let number = Int(words[1]), let before = last[String(words[0])] {
        let thread = String(words[0])
        let isNext = number == before + 1 || (number == before + 2 && fresh.contains(thread))
        if !isNext {
          find("thread \(thread): commit \(before) was acknowledged, and the next is number \(number)")
        }
        last[thread] = number
        fresh.remove(thread)
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

  /// What each thread was told last, and which of them may have committed one more: their process was killed.
  func ends() throws -> [String: Int] {
    try condition.withLock {
      try check()
      return last
    }
  }

  /// How many in all.
  var count: Int { condition.withLock { total } }
}
