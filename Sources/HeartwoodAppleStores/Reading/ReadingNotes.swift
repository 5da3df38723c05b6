import Foundation

/// What could not be taken from a file as it is, counted by what it is. A value that does not fit its attribute is read as none.
final class ReadingNotes: @unchecked Sendable {
  private struct Count {
    var count = 0
    /// The greatest key that was counted.
    var last = Int64.min
  }

  private let lock = NSLock()
  /// Guarded by `lock`.
  private var counts: [String: Count] = [:]
  /// Bytes from disk make no more.
  private static let mostNotes = 1000

  /// - Parameter key: The primary key of the row. A table that is read in its order more than once is counted once.
  func add(_ what: String, row key: Int64) {
    lock.withLock {
      guard counts[what] != nil || counts.count < Self.mostNotes else { return }
      guard key > counts[what]?.last ?? .min else { return }
      counts[what, default: Count()].count += 1
      counts[what]?.last = key
    }
  }

  /// The notes, in alphabetical order.
  var all: [(what: String, count: Int)] {
    lock.withLock { counts.sorted { $0.key < $1.key }.map { ($0.key, $0.value.count) } }
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
