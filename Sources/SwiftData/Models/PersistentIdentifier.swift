import Foundation
import Heartwood
import Synchronization

/// The identifier of a model: its store, its entity and its key there.
///
/// Unlike the model, it may be used anywhere, and outlives the process. A model that was never saved has a temporary one, which other contexts do not
/// know; after the save its context still finds the model by it.
public struct PersistentIdentifier: Hashable, Comparable, Codable, Sendable, Identifiable {
  /// The key of a row.
  enum Key: Hashable {
    /// Of an object that was never saved, by the number that this process has given it.
    case temporary(UInt64)
    /// Of a store on the engine.
    case number(UInt64)
    /// Of a custom store.
    case text(String)
  }

  /// The identifier of the store; nil for an object that was never saved.
  public let storeIdentifier: String?
  /// The name of the object's entity.
  public let entityName: String
  let key: Key

  init(storeIdentifier: String?, entityName: String, key: Key) {
    self.storeIdentifier = storeIdentifier
    self.entityName = entityName
    self.key = key
  }

  /// An identifier that no other object of this process has or had.
  static func makeTemporary(_ entityName: String) -> PersistentIdentifier {
    // Relaxed: the numbers must be unique, but no order between threads depends on them.
    let number = temporaryNumbers.add(1, ordering: .relaxed).newValue
    return PersistentIdentifier(storeIdentifier: nil, entityName: entityName, key: .temporary(number))
  }
  private static let temporaryNumbers = Atomic<UInt64>(0)

  /// The identifier itself.
  public var id: PersistentIdentifier { self }

  var isTemporary: Bool {
    if case .temporary = key { return true }
    return false
  }

  /// The identifier of an object in a custom store.
  ///
  /// - Parameters:
  ///   - storeIdentifier: The store's `identifier`.
  ///   - entityName: The name of the object's entity.
  ///   - primaryKey: The key of the object in the store: its description must be unique in the store and the entity.
  /// - Throws: Nothing today.
  public static func identifier<Key: Codable & Comparable & Hashable & Sendable>(
    for storeIdentifier: String, entityName: String, primaryKey: Key
  ) throws -> PersistentIdentifier {
    PersistentIdentifier(
      storeIdentifier: storeIdentifier, entityName: entityName, key: .text("\(primaryKey)"))
  }

  /// The key as a text: `p1`, `t1` for a temporary one, or what a custom store calls the object.
  var primaryKey: String {
    switch key {
    case .temporary(let number): "t\(number)"
    case .number(let number): "p\(number)"
    case .text(let text): text
    }
  }

  /// Orders identifiers by their entities, then by their stores and keys.
  public static func < (left: PersistentIdentifier, right: PersistentIdentifier) -> Bool {
    if left.entityName != right.entityName { return left.entityName < right.entityName }
    switch (left.key, right.key) {
    case (.number(let a), .number(let b)), (.temporary(let a), .temporary(let b)):
      return (left.storeIdentifier ?? "", a) < (right.storeIdentifier ?? "", b)
    default:
      return (left.storeIdentifier ?? "", left.primaryKey) < (right.storeIdentifier ?? "", right.primaryKey)
    }
  }

  // MARK: Coding

  private enum CodingKeys: String, CodingKey { case implementation }
  private enum ImplementationKeys: String, CodingKey {
    case storeIdentifier, entityName, primaryKey, isTemporary, uriRepresentation, typedPrimaryKey
  }

  /// Decodes what `encode(to:)` has encoded.
  ///
  /// - Throws: `DecodingError` if the key is none of an identifier.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
      .nestedContainer(keyedBy: ImplementationKeys.self, forKey: .implementation)
    storeIdentifier = try container.decodeIfPresent(String.self, forKey: .storeIdentifier)
    entityName = try container.decode(String.self, forKey: .entityName)
    if let text = try container.decodeIfPresent(String.self, forKey: .typedPrimaryKey) {
      key = .text(text)
      return
    }
    let text = try container.decode(String.self, forKey: .primaryKey)
    guard let kind = text.first, kind == "p" || kind == "t", let number = UInt64(text.dropFirst()) else {
      throw DecodingError.dataCorruptedError(
        forKey: .primaryKey, in: container,
        debugDescription: "\"\(text)\" is no key of a persistent identifier")
    }
    key = kind == "p" ? .number(number) : .temporary(number)
  }

  /// Encodes store, entity, key and URI.
  ///
  /// - Throws: The error of the encoder.
  public func encode(to encoder: any Encoder) throws {
    var outer = encoder.container(keyedBy: CodingKeys.self)
    var container = outer.nestedContainer(keyedBy: ImplementationKeys.self, forKey: .implementation)
    try container.encodeIfPresent(storeIdentifier, forKey: .storeIdentifier)
    try container.encode(entityName, forKey: .entityName)
    try container.encode(isTemporary, forKey: .isTemporary)
    try container.encode(primaryKey, forKey: .primaryKey)
    if case .text(let text) = key { try container.encode(text, forKey: .typedPrimaryKey) }
    try container.encode(uri, forKey: .uriRepresentation)
  }

  /// The identifier as Core Data writes it.
  var uri: URL {
    let name = entityName.addingPercentEncoding(withAllowedCharacters: .urlPathAllowed) ?? entityName
    let key = primaryKey.addingPercentEncoding(withAllowedCharacters: .urlPathAllowed) ?? primaryKey
    let text = "x-coredata://\(storeIdentifier ?? "")/\(name)/\(key)"
    return URL(string: text) ?? URL(filePath: text)
  }
}
