/// A state of a store that a context can be pinned to.
///
/// Every transaction makes a generation, and its number names it. A token may be kept and used later, as
/// far back as the store's log goes.
public struct QueryGenerationToken: Hashable, Sendable, Codable {
  /// The number of the transaction that made the state; nil for the newest one at the next read.
  public let generation: UInt64?

  /// The newest generation when the context reads next.
  public static let current = QueryGenerationToken(nil)

  /// The state after a transaction.
  public init(generation: UInt64) { self.generation = generation }

  private init(_ generation: UInt64?) { self.generation = generation }
}

extension QueryGenerationToken: CustomStringConvertible {
  /// The generation's number.
  public var description: String { generation.map { "generation \($0)" } ?? "the current generation" }
}
