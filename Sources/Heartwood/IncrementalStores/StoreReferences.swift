/// The references of an incremental store's objects where they are something else than numbers: by the keys that they
/// have in identifiers.
///
/// A key is a hash of the reference, so that the same reference has the same key in every process. Two references with one hash, which
/// are to be expected among some 10⁸, have different keys nevertheless: the second one has the next key, in this process.
struct StoreReferences {
  /// Set in the keys of references.
  static let mark: UInt64 = 1 << 52

  private struct Named {
    let reference: any Sendable
    /// Another hash, by which references with the same key are distinguished.
    let check: UInt64
  }

  private var named: [RowAddress: Named] = [:]
  /// The numbers of the entities of objects, where it is not the root entity.
  private var entities: [RowAddress: UInt16] = [:]

  /// Notes the own entity of an object.
  mutating func note(_ entity: EntityDescription, _ key: UInt64) {
    entities[RowAddress(entity, key)] = entity.number
  }

  /// The own entity of an object; nil if none was noted.
  func entity(of key: UInt64, in root: EntityDescription) -> EntityDescription? {
    entities[RowAddress(root: root.number, key: key)].flatMap { try? root.entity(numbered: $0) }
  }

  subscript(root: UInt16, key: UInt64) -> (any Sendable)? {
    named[RowAddress(root: root, key: key)]?.reference
  }

  /// The key of a reference.
  ///
  /// - Parameters:
  ///   - root: The number of the root entity.
  ///   - hash: The hash of the reference.
  ///   - check: Another one, also of its type.
  mutating func name(_ reference: any Sendable, _ root: UInt16, hash: UInt64, check: UInt64) -> UInt64 {
    var key = hash & (Self.mark - 1) | Self.mark
    while let known = named[RowAddress(root: root, key: key)], known.check != check {
      key = (key &+ 1) & (Self.mark - 1) | Self.mark
    }
    named[RowAddress(root: root, key: key)] = Named(reference: reference, check: check)
    return key
  }
}
