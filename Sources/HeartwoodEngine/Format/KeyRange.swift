/// A range of keys in bytewise order.
public struct KeyRange: Hashable, Sendable {
  /// One end of a range.
  public struct Bound: Hashable, Sendable {
    /// The key at the end.
    public var key: [UInt8]
    /// Whether the key itself is in the range.
    public var isInclusive: Bool

    /// Creates an end at a key.
    public init(_ key: [UInt8], isInclusive: Bool) {
      self.key = key
      self.isInclusive = isInclusive
    }
  }

  /// The beginning; nil for the first key.
  public var lower: Bound?
  /// The end; nil for the last key.
  public var upper: Bound?

  /// Creates a range between two ends.
  public init(lower: Bound?, upper: Bound?) {
    self.lower = lower
    self.upper = upper
  }

  /// All keys.
  public static let all = KeyRange(lower: nil, upper: nil)

  /// The half-open range from `lower` up to, but excluding, `upper`.
  public init(from lower: [UInt8]?, to upper: [UInt8]?) {
    self.init(
      lower: lower.map { Bound($0, isInclusive: true) }, upper: upper.map { Bound($0, isInclusive: false) })
  }

  /// The closed range from `lower` up to and including `upper`.
  public init(from lower: [UInt8]?, through upper: [UInt8]?) {
    self.init(
      lower: lower.map { Bound($0, isInclusive: true) }, upper: upper.map { Bound($0, isInclusive: true) })
  }

  /// The keys that begin with these bytes.
  public static func prefix(_ bytes: [UInt8]) -> KeyRange {
    KeyRange(from: bytes, to: successor(ofPrefix: bytes))
  }

  /// The least key after all keys that begin with `bytes`; nil if there is none.
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
