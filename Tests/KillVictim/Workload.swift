/// A run of transactions that anyone can compute: what the victim writes, and what must be found.
///
/// Transaction `n` follows from the seed and `n` alone, so that a reader who knows how many were
/// acknowledged knows every key and value.
public struct KillWorkload {
  /// One change of a transaction: a value for a key, or nil to delete it.
  public typealias Change = (key: [UInt8], value: [UInt8]?)

  /// The key under which each transaction leaves its number.
  public static let counterKey = Array("last transaction".utf8)

  private let seed: UInt64

  /// The workload of a seed.
  public init(seed: UInt64) { self.seed = seed }

  /// The changes of transaction `number`, from 1 on.
  public func changes(of number: UInt64) -> [Change] {
    var state = seed &+ number &* 0x9E37_79B9_7F4A_7C15
    func next() -> UInt64 {
      state = (state ^ (state >> 30)) &* 0xBF58_476D_1CE4_E5B9
      state = (state ^ (state >> 27)) &* 0x94D0_49BB_1331_11EB
      state ^= state >> 31
      return state
    }
    var changes: [Change] = [(Self.counterKey, Array("\(number)".utf8))]
    for _ in 0..<(1 + next() % 6) {
      let key = Array("key \(next() % 200)".utf8)
      let length = Int(next() % 300)
      let value = next() % 5 == 0 ? nil : [UInt8](repeating: UInt8(truncatingIfNeeded: number), count: length)
      changes.append((key, value))
    }
    return changes
  }

  /// Everything that a store holds after `count` transactions.
  public func state(after count: UInt64) -> [[UInt8]: [UInt8]] {
    var state: [[UInt8]: [UInt8]] = [:]
    for number in stride(from: 1, through: count, by: 1) {
      for change in changes(of: number) { state[change.key] = change.value }
    }
    return state
  }
}
