import Foundation

/// What could not be taken from a file as it is, counted by what it is. A value that does not fit its attribute is read as none.
final class ReadingNotes: @unchecked Sendable {
  private let lock = NSLock()
  private var counts: [String: Int] = [:]

  func add(_ what: @autoclosure () -> String) {
    lock.withLock { counts[what(), default: 0] += 1 }
  }

  /// The notes, in alphabetical order.
  var all: [(what: String, count: Int)] {
    lock.withLock { counts.sorted { $0.key < $1.key }.map { ($0.key, $0.value) } }
  }
}

/// A value that is computed once.
final class Once<Value>: @unchecked Sendable {
  private let lock = NSLock()
  private var value: Value?

  func get(_ make: () throws -> Value) rethrows -> Value {
    if let known = lock.withLock({ value }) { return known }
    // Two threads may both make it: it is the same.
    let made = try make()
    return lock.withLock {
      if let known = value { return known }
      value = made
      return made
    }
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
