import Foundation

/// The values that could not be taken from a file as they are, counted by kind. A value that does not fit its attribute is read
/// as none.
final class ReadingNotes: @unchecked Sendable {
  private struct Count {
    var rows = KeySet()
    /// Some of what was counted, if it has names.
    var examples: [String] = []
  }

  private let lock = NSLock()
  /// Guarded by `lock`.
  private var counts: [String: Count] = [:]
  /// Bytes from disk make no more.
  private static let mostNotes = 1000

  /// How many examples a note has.
  private static let mostExamples = 10

  /// - Parameters:
  ///   - key: The primary key of the row, which is counted once however often it is read.
  ///   - example: The name of one that is counted.
  func add(_ what: String, row key: Int64, example: String? = nil) {
    lock.withLock {
      guard counts[what] != nil || counts.count < Self.mostNotes else { return }
      guard counts[what, default: Count()].rows.insert(key), let example,
        counts[what]?.examples.count ?? 0 < Self.mostExamples
      else { return }
      counts[what]?.examples.append(example)
    }
  }

  /// The notes, in alphabetical order.
  var all: [String] {
    lock.withLock { counts.sorted { $0.key < $1.key }.map { Self.sentence($0.key, $0.value) } }
  }

  private static func sentence(_ what: String, _ count: Count) -> String {
    let (number, examples) = (count.rows.count, count.examples)
    guard examples.isEmpty else {
      let rest = number > examples.count ? " and \(number - examples.count) more" : ""
      return "\(what): \(examples.joined(separator: ", "))\(rest)"
    }
    return number == 1 ? what : "\(what) (\(number) times)"
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
