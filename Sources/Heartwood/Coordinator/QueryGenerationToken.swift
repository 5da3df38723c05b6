/// A state of a store that a context can be pinned to.
///
/// Every transaction makes a generation, which has the transaction's number. A token stays usable as long as the store's
/// log contains that generation.
public struct QueryGenerationToken: Hashable, Sendable, Codable {
  /// The number of the transaction that made the state; nil for the newest one at the next read.
  public let generation: UInt64?

  /// The generation that is newest at the context's next read.
  public static let current = QueryGenerationToken(nil)

  /// The state after the transaction with this number.
  public init(generation: UInt64) { self.generation = generation }

  private init(_ generation: UInt64?) { self.generation = generation }
}

extension QueryGenerationToken: CustomStringConvertible {
  /// The generation's number.
  public var description: String { generation.map { "generation \($0)" } ?? "the current generation" }
}
