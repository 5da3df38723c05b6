/// A range of keys, in the order of their bytes.
public struct KeyRange: Hashable, Sendable {
  /// One end of a range.
  public struct Bound: Hashable, Sendable {
    /// The key at the end.
    public var key: [UInt8]
    /// Whether the key itself belongs to the range.
    public var isInclusive: Bool

    /// An end at a key.
    public init(_ key: [UInt8], isInclusive: Bool) {
      self.key = key
      self.isInclusive = isInclusive
    }
  }

  /// Where it begins; nil for "at the first key".
  public var lower: Bound?
  /// Where it ends; nil for "at the last key".
  public var upper: Bound?

  /// A range between two ends.
  public init(lower: Bound?, upper: Bound?) {
    self.lower = lower
    self.upper = upper
  }

  /// All keys.
  public static let all = KeyRange(lower: nil, upper: nil)

  /// From `lower` on, up to but without `upper`.
  public init(from lower: [UInt8]?, to upper: [UInt8]?) {
    self.init(
      lower: lower.map { Bound($0, isInclusive: true) }, upper: upper.map { Bound($0, isInclusive: false) })
  }

  /// From `lower` on, up to and with `upper`.
  public init(from lower: [UInt8]?, through upper: [UInt8]?) {
    self.init(
      lower: lower.map { Bound($0, isInclusive: true) }, upper: upper.map { Bound($0, isInclusive: true) })
  }

  /// The keys that begin with these bytes.
  public static func prefix(_ bytes: [UInt8]) -> KeyRange {
    KeyRange(from: bytes, to: successor(ofPrefix: bytes))
  }

  /// The first key behind all that begin with `bytes`; nil where there is none.
  private static func successor(ofPrefix bytes: [UInt8]) -> [UInt8]? {
    var key = bytes
    while let last = key.last {
      if last < 0xFF {
        key[key.count - 1] = last + 1
        return key
      }
      key.removeLast()
    }
    return nil
  }
}
