import Foundation

/// What could not be taken from a file as it is, counted by what it is. A value that does not fit its attribute is read as none.
final class ReadingNotes: @unchecked Sendable {
  private let lock = NSLock()
  private var counts: [String: Int] = [:]
  /// Bytes from disk make no more.
  private static let mostNotes = 1000

  func add(_ what: @autoclosure () -> String) {
    lock.withLock {
      let what = what()
      if counts[what] != nil || counts.count < Self.mostNotes { counts[what, default: 0] += 1 }
    }
  }

  /// The notes, in alphabetical order.
  var all: [(what: String, count: Int)] {
    lock.withLock { counts.sorted { $0.key < $1.key }.map { ($0.key, $0.value) } }
  }
}

/// Values that are computed once each, by a key.
final class Remembered<Key: Hashable, Value>: @unchecked Sendable {
  private let lock = NSLock()
  private var values: [Key: Value] = [:]

  func get(_ key: Key, _ make: () throws -> Value) rethrows -> Value {
    if let known = lock.withLock({ values[key] }) { return known }
    let made = try make()
    return lock.withLock {
      if let known = values[key] { return known }
      values[key] = made
      return made
    }
  }
}
