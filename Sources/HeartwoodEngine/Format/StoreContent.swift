import HeartwoodBytes

/// The meaning of a store's keys and values, as a name that the store is marked with.
///
/// A program with its own meaning of keys marks its stores, so that no other program writes to them by
/// mistake; see `EngineOptions.content`.
public struct StoreContent: Hashable, Sendable, CustomStringConvertible {
  /// An object graph of module Heartwood.
  public static let graph = StoreContent("graph")

  /// The name's bytes, the first one lowest, padded with zeros.
  let low: UInt64
  let high: UInt64

  /// Creates a content with a name.
  ///
  /// - Precondition: The name has 1 to 16 bytes in UTF-8, none of them zero.
  public init(_ name: String) {
    let bytes = Array(name.utf8)
    require(
      (1...16).contains(bytes.count) && !bytes.contains(0),
      "the name of a store's content has 1 to 16 bytes, none of them zero: \"\(name)\"")
    low = Self.word(bytes.prefix(8))
    high = Self.word(bytes.dropFirst(8))
  }

  /// Decodes the anchor's field; nil for zeros, which mean no mark.
  init?(low: UInt64, high: UInt64) {
    guard low != 0 || high != 0 else { return nil }
    self.low = low
    self.high = high
  }

  /// The name.
  public var description: String {
    let bytes = [low, high].flatMap { word in (0..<8).map { UInt8(truncatingIfNeeded: word >> (8 * $0)) } }
    return String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
  }

  private static func word(_ bytes: some Sequence<UInt8>) -> UInt64 {
    bytes.enumerated().reduce(0) { $0 | UInt64($1.element) << UInt64(8 * $1.offset) }
  }
}

extension EngineError {
  static func otherContent(_ content: StoreContent, _ wanted: StoreContent?, _ path: String) -> EngineError {
    let use = wanted.map { "\"\($0)\"" } ?? "keys and values of no marked meaning"
    return EngineError(
      .otherContent,
      "the store is marked to hold \"\(content)\" and is not written as one of \(use), which would damage it; open it "
        + "for reading only, or set EngineOptions.acceptsOtherContent where that is meant",
      file: path)
  }
}
