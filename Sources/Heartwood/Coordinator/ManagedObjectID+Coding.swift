import Foundation

extension ManagedObjectID: Comparable {
  /// An order for lists and caches: by store, root entity, and creation. New objects come after stored ones.
  public static func < (left: ManagedObjectID, right: ManagedObjectID) -> Bool {
    guard left != right else { return false }
    return left.rank < right.rank
  }

  private var rank: (isTemporary: Int, store: String, entity: String, key: UInt64) {
    (
      isTemporaryID ? 1 : 0, store.uuid?.uuidString ?? "", entity.rootEntity.displayName,
      key & UInt64.keyInStoreOrTemporaryMask
    )
  }
}

extension ManagedObjectID: Codable {
  /// Writes the URI.
  ///
  /// - Parameter encoder: Gets one string.
  /// - Throws: `EncodingError` for a temporary identifier, which means nothing later.
  public func encode(to encoder: any Encoder) throws {
    guard !isTemporaryID else {
      throw EncodingError.invalidValue(
        self,
        EncodingError.Context(
          codingPath: encoder.codingPath,
          debugDescription: "\(self) is temporary: save the object, or obtain a permanent identifier first"))
    }
    var container = encoder.singleValueContainer()
    try container.encode(description)
  }

  /// Reads a URI. Its store must be open in this process: the store's model has the entity.
  ///
  /// - Parameter decoder: Gives one string.
  /// - Throws: `DecodingError` if it is no URI of a permanent identifier, or the store is not open, or its model does not have
  ///   the entity.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    let text = try container.decode(String.self)
    func refusal(_ reason: String) -> DecodingError {
      .dataCorruptedError(in: container, debugDescription: "\(text) \(reason)")
    }
    guard let uri = URL(string: text), let parts = Self.parts(of: uri) else {
      throw refusal("is not the URI of a permanent object identifier")
    }
    guard let open = OpenStores.store(parts.store.uuidString) else {
      throw refusal("is of a store that is not open: open the store first")
    }
    guard let identifier = open.managedObjectID(of: parts) else {
      throw refusal(
        "is of no object that its store can name: the model has no such entity, or the store no such object")
    }
    self = identifier
  }
}
