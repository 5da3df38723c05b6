import HeartwoodEngine

/// The contents that the threads of a stress test write. Each commit increments a shared counter and a
/// counter of its thread, and puts a value that its number determines.
enum StressContents {
  static let counter = "counter"
  /// The number of keys of each thread in addition to its counter.
  private static let keysOfThread = 40

  /// The key of a thread's counter.
  static func count(of thread: String) -> String { "thread \(thread)" }

  private static func key(_ thread: String, _ number: Int) -> String { "\(thread) \(number % keysOfThread)" }

  private static func value(_ number: Int) -> [UInt8] {
    [UInt8](repeating: UInt8(truncatingIfNeeded: number), count: number % 900)
  }

  /// Writes one commit of a thread.
  ///
  /// - Returns: The number of the commit in its thread, and in total.
  static func write(_ transaction: WriteTransaction, as thread: String) throws -> (own: Int, all: Int) {
    let own = try number(transaction, count(of: thread)) + 1
    let all = try number(transaction, counter) + 1
    try transaction.put(count(of: thread), bytes(own))
    try transaction.put(counter, bytes(all))
    try transaction.put(key(thread, own), value(own))
    return (own, all)
  }

  /// Checks that the shared counter is the sum of the threads' counters, and that every value belongs to one
  /// commit.
  ///
  /// - Returns: The counters of the threads.
  @discardableResult
  static func check(
    _ reader: some KeyValueReader, _ threads: [String], _ moment: String
  ) throws -> [String: Int] {
    var counts: [String: Int] = [:]
    for thread in threads {
      let own = try number(reader, count(of: thread))
      counts[thread] = own
      for number in max(1, own - keysOfThread + 1)..<(own + 1) {
        let found = try reader.get(Array(key(thread, number).utf8))
        try require(
          found == value(number),
          "\(moment): the value of commit \(number) of thread \(thread) is another one")
      }
    }
    let (sum, all) = (counts.values.reduce(0, +), try number(reader, counter))
    try require(sum == all, "\(moment): the counter is \(all), and the threads' counts add up to \(sum)")
    return counts
  }

  static func number(_ reader: some KeyValueReader, _ key: String) throws -> Int {
    guard let bytes = try reader.get(Array(key.utf8)) else { return 0 }
    return Int(String(decoding: bytes, as: UTF8.self)) ?? -1
  }

  private static func bytes(_ number: Int) -> [UInt8] { Array("\(number)".utf8) }
}
