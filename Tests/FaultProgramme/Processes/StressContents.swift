import HeartwoodEngine

/// What the threads of a stress test write: each commit counts one up in a counter of all and in one of its thread, and puts
/// a value that its number determines.
enum StressContents {
  static let counter = "counter"
  /// Every thread has so many keys beside its count.
  private static let keysOfThread = 40

  /// The key of a thread's count.
  static func count(of thread: String) -> String { "thread \(thread)" }

  private static func key(_ thread: String, _ number: Int) -> String { "\(thread) \(number % keysOfThread)" }

  private static func value(_ number: Int) -> [UInt8] {
    [UInt8](repeating: UInt8(truncatingIfNeeded: number), count: number % 900)
  }

  /// One commit of a thread.
  ///
  /// - Returns: its number among those of the thread, and among all.
  static func write(_ transaction: WriteTransaction, as thread: String) throws -> (own: Int, all: Int) {
    let own = try number(transaction, count(of: thread)) + 1
    let all = try number(transaction, counter) + 1
    try transaction.put(count(of: thread), bytes(own))
    try transaction.put(counter, bytes(all))
    try transaction.put(key(thread, own), value(own))
    return (own, all)
  }

  /// Whether the counter is the sum of the threads' counts, and every value is that of one commit.
  ///
  /// - Returns: the counts of the threads.
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
