/// Reproducible transactions: the writes of a victim and the expected contents.
///
/// Transaction `n` depends only on the seed and on `n`, so that the number of acknowledged transactions
/// determines every key and value.
struct VictimRows {
  /// One change of a transaction: a value for a key, or nil to delete it.
  typealias Change = (key: String, value: [UInt8]?)

  /// The key under which each transaction stores its number.
  static let counterKey = "last transaction"

  let seed: UInt64
  let largestValue: UInt64

  /// The changes of transaction `number`, from 1.
  func changes(of number: Int) -> [Change] {
    var state = seed &+ UInt64(number) &* 0x9E37_79B9_7F4A_7C15
    func next() -> UInt64 {
      state = (state ^ (state >> 30)) &* 0xBF58_476D_1CE4_E5B9
      state = (state ^ (state >> 27)) &* 0x94D0_49BB_1331_11EB
      state ^= state >> 31
      return state
    }
    var changes: [Change] = [(Self.counterKey, Array("\(number)".utf8))]
    for _ in 0..<(1 + next() % 6) {
      let key = "key \(next() % 200)"
      let length = Int(next() % largestValue)
      let value = next() % 5 == 0 ? nil : [UInt8](repeating: UInt8(truncatingIfNeeded: number), count: length)
      changes.append((key, value))
    }
    return changes
  }

  /// The contents of a store after `count` transactions.
  func state(after count: Int) -> Rows {
    var state: Rows = [:]
    for number in stride(from: 1, through: count, by: 1) {
      for change in changes(of: number) { state[change.key] = change.value }
    }
    return state
  }

  /// The number of transactions in a store, derived from its contents.
  static func count(in rows: Rows) -> Int {
    rows[counterKey].flatMap { Int(String(decoding: $0, as: UTF8.self)) } ?? 0
  }
}
