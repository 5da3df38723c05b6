/// The transactions of a victim. Each depends only on the seed and its number, so the checker can compute
/// every key and value of a store from the number of its last transaction.
public struct Transactions: Sendable {
  /// One change of a transaction: a value for a key, or nil to delete it.
  public struct Change: Equatable, Sendable {
    /// The key.
    public var key: String
    /// The value; nil for a deletion.
    public var value: ValueRecipe?
  }

  /// The key under which each transaction stores its number.
  public static let counterKey = "last transaction"

  /// The seed that determines the transactions.
  public let seed: UInt64

  /// Creates the transactions of a seed.
  public init(seed: UInt64) { self.seed = seed }

  /// The changes of transaction `number`, from 1, without the counter.
  public func changes(of number: Int) -> [Change] {
    var random = RandomNumbers(seed: seed ^ UInt64(number) &* 0xA24B_AED4_963E_E407)
    return (0..<(1 + random.below(5))).map { index in
      let key = "key \(random.below(150))"
      guard random.below(6) > 0 else { return Change(key: key, value: nil) }
      let length = Self.length(&random)
      return Change(key: key, value: ValueRecipe(transaction: number, index: index, length: length))
    }
  }

  /// Mostly small values, some of several sectors, few of several pages, and occasionally one that fills most
  /// of a segment.
  private static func length(_ random: inout RandomNumbers) -> Int {
    switch random.below(100) {
    case ..<60: random.below(200)
    case ..<90: 200 + random.below(3_000)
    case ..<99: 3_000 + random.below(20_000)
    default: 20_000 + random.below(60_000)
    }
  }

  /// The contents of a store after `count` transactions, without the counter.
  public func state(after count: Int) -> [String: ValueRecipe] {
    var state: [String: ValueRecipe] = [:]
    for number in stride(from: 1, through: count, by: 1) {
      for change in changes(of: number) { state[change.key] = change.value }
    }
    return state
  }

  /// The stored form of the counter.
  public static func counter(_ number: Int) -> [UInt8] { Array("\(number)".utf8) }

  /// The number in a stored counter; nil if it is invalid.
  public static func number(in counter: [UInt8]) -> Int? { Int(String(decoding: counter, as: UTF8.self)) }
}

/// The recipe from which a value's bytes are computed. No two puts have the same bytes, unless they are
/// empty.
public struct ValueRecipe: Equatable, Sendable {
  /// The number of the transaction that puts the value.
  public var transaction: Int
  /// The index of the change in the transaction.
  public var index: Int
  /// The length in bytes.
  public var length: Int

  /// Creates a recipe.
  public init(transaction: Int, index: Int, length: Int) {
    (self.transaction, self.index, self.length) = (transaction, index, length)
  }

  /// The bytes of the value.
  public var bytes: [UInt8] {
    var random = RandomNumbers(seed: UInt64(transaction) << 8 | UInt64(index))
    var bytes: [UInt8] = []
    bytes.reserveCapacity(length + 8)
    while bytes.count < length {
      withUnsafeBytes(of: random.next().littleEndian) { bytes.append(contentsOf: $0) }
    }
    bytes.removeLast(bytes.count - length)
    return bytes
  }
}
