/// A state of a store that a context can be pinned to.
///
/// Every transaction makes a generation, which has the transaction's number. A token stays usable as long as the store's
/// log contains that generation. It is refused by contexts of other stores.
public struct QueryGenerationToken: Hashable, Sendable, Codable {
  /// The number of the transaction that made the state; nil for the newest one at the next read.
  public let generation: UInt64?
  /// The identifier of the store; nil for a token that names none, which is taken to be of the context's store.
  public let storeID: String?

  /// The generation that is newest at the context's next read.
  public static let current = QueryGenerationToken(nil)

  /// The state after the transaction with this number.
  ///
  /// - Parameters:
  ///   - generation: The number of the transaction that made the state.
  ///   - storeID: The identifier of the store; nil for the store of the context that the token is given to.
  public init(generation: UInt64, storeID: String? = nil) {
    self.generation = generation
    self.storeID = storeID
  }

  private init(_ generation: UInt64?) {
    self.generation = generation
    storeID = nil
  }
}

extension QueryGenerationToken: CustomStringConvertible {
  /// The generation's number.
  public var description: String { generation.map { "generation \($0)" } ?? "the current generation" }
}

extension StoreIdentity {
  /// The UUID as text, as in tokens; nil for no store.
  var text: String? { uuid?.uuidString }
}
