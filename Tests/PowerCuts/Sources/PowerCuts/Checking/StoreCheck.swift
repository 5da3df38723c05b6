import Foundation
import HeartwoodEngine
import Workload

/// Checks a store on a disk after a cut, in a separate process.
///
///     power-cuts check FOLDER SEED
enum StoreCheck {
  /// The result of the check.
  struct Answer: Codable {
    /// The number of transactions in the store: exactly those from the first to this one.
    var transactions = 0
    /// The finding; nil if there is none.
    var finding: String?
  }

  static func main(_ words: [String]) throws {
    guard words.count == 2, let seed = UInt64(words[1]) else { throw Failure("usage: check FOLDER SEED") }
    var answer = Answer()
    do {
      answer.transactions = try check(words[0], Transactions(seed: seed))
    } catch {
      answer.finding = "\(error)"
    }
    FileHandle.standardOutput.write(try JSONEncoder().encode(answer))
  }

  /// Returns the number of transactions.
  private static func check(_ path: String, _ transactions: Transactions) throws -> Int {
    let shown = try readOnlyCount(path, transactions)
    var options = EngineOptions()
    options.createsStore = false
    guard let engine = try open(path, options) else { return 0 }
    let count = try wholeCount(engine, transactions)
    guard (shown ?? 0) <= count else {
      throw Failure("read only, the store had \(shown ?? 0) transactions, and \(count) when it was recovered")
    }
    try verify(engine)
    try engine.write { try $0.put("after the cut", Transactions.counter(count)) }
    try engine.close()
    try checkAgain(path, options, count)
    return count
  }

  /// Reopens the store and checks that the write was kept.
  private static func checkAgain(_ path: String, _ options: EngineOptions, _ count: Int) throws {
    let engine = try Engine(at: path, options: options)
    guard try engine.get("after the cut") == Transactions.counter(count) else {
      throw Failure("what was written to the store after the cut is not there")
    }
    try verify(engine)
    try engine.close()
  }

  private static func verify(_ engine: Engine) throws {
    let report = try engine.verify()
    guard report.isSound else { throw Failure("verifying finds \(report.findings.joined(separator: "; "))") }
  }

  /// Returns nil if there is no store yet.
  private static func open(_ path: String, _ options: EngineOptions) throws(EngineError) -> Engine? {
    do {
      return try Engine(at: path, options: options)
    } catch  where error.code == .notFound || error.code == .notAStore {
      return nil
    }
  }

  private static func readOnlyCount(_ path: String, _ transactions: Transactions) throws -> Int? {
    guard let engine = try open(path, EngineOptions(access: .readOnly)) else { return nil }
    defer { try? engine.close() }
    return try wholeCount(engine, transactions)
  }

  /// The number of the last transaction. Throws if the store does not contain exactly all transactions up to
  /// it.
  private static func wholeCount(_ engine: Engine, _ transactions: Transactions) throws -> Int {
    let snapshot = try engine.snapshot()
    let counter = try snapshot.get(Array(Transactions.counterKey.utf8))
    let count = counter.map { Transactions.number(in: $0) ?? -1 } ?? 0
    guard count >= 0 else { throw Failure("the counter holds \(counter ?? []), which is no number") }
    var expected = transactions.state(after: count).mapValues(\.bytes)
    if let counter { expected[Transactions.counterKey] = counter }
    try compare(snapshot, expected, count)
    return count
  }

  private static func compare(_ snapshot: Snapshot, _ expected: [String: [UInt8]], _ count: Int) throws {
    var missing = Set(expected.keys)
    try snapshot.scan(KeyRange.all, reversed: false) { key, value in
      let key = String(decoding: key, as: UTF8.self)
      guard let wanted = expected[key] else {
        throw Failure("of \(count) transactions there is a key \(key) too many")
      }
      guard wanted.elementsEqual(value) else {
        throw Failure(
          "after \(count) transactions, \(key) has another value of \(value.count) bytes")
      }
      missing.remove(key)
      return true
    }
    guard missing.isEmpty else {
      throw Failure("of \(count) transactions the keys \(missing.sorted()) are missing")
    }
  }
}
