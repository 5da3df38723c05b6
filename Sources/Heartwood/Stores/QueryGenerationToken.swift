import Foundation

/// A state of the stores of a coordinator that a context can be pinned to.
///
/// Every transaction makes a generation of its store, which has the transaction's number. A token stays usable as long as the logs of the
/// stores contain their generations. It is refused by contexts of other stores.
public struct QueryGenerationToken: Hashable, Sendable, Codable {
  /// The number of the transaction that made the state; nil for the newest one at the next read.
  public let generation: UInt64?
  /// The identifier of the store; nil for a token that names none, which is taken to be of the context's store.
  public let storeID: String?
  /// The generations of the other stores, by their identifiers; nil for a token of one store.
  private let others: [String: UInt64]?

  /// The generation of each store, by its identifier, if the token names them.
  public var generationsByStore: [String: UInt64] {
    guard let generation, let storeID else { return [:] }
    return (others ?? [:]).merging([storeID: generation]) { first, _ in first }
  }

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
    others = nil
  }

  /// - Precondition: There is at least one store.
  init(_ generations: StoreGenerations) {
    // In one order, so that equal generations are equal tokens.
    let members = generations.members.map { (store: $0.store.text ?? "", number: $0.number) }
      .sorted { $0.store < $1.store }
    generation = members.first?.number
    storeID = members.first?.store
    let rest = members.dropFirst()
    others = rest.isEmpty ? nil : Dictionary(rest.map { ($0.store, $0.number) }) { first, _ in first }
  }

  /// The generations of a token that is not the current one.
  ///
  /// - Parameter store: The store of a token that names none.
  func generations(_ store: StoreIdentity) -> StoreGenerations {
    guard storeID != nil else { return StoreGenerations(store, generation ?? 0) }
    return StoreGenerations(
      generationsByStore.sorted { $0.key < $1.key }.compactMap { text, number in
        UUID(uuidString: text).map {
          StoreGenerations.Member(store: StoreIdentity(uuid: $0), number: number)
        }
      })
  }

  private init(_ generation: UInt64?) {
    self.generation = generation
    storeID = nil
    others = nil
  }
}

extension QueryGenerationToken: CustomStringConvertible {
  /// The generation's number, of several stores with their identifiers.
  public var description: String {
    guard let generation else { return "the current generation" }
    guard others != nil else { return "generation \(generation)" }
    let parts = generationsByStore.sorted { $0.key < $1.key }.map { "\($1) of \($0)" }
    return "generation \(parts.joined(separator: ", "))"
  }
}

extension StoreIdentity {
  /// The UUID as text, as in tokens; nil for no store.
  var text: String? { uuid?.uuidString }
}
