import Foundation
import Synchronization

/// The identifier of a managed object: store, entity and key.
///
/// It is a small value that any thread may use, unlike the object. An unsaved object has a temporary identifier, which
/// the first save replaces by a different, permanent one.
public struct ManagedObjectID: Hashable, Sendable {
  /// Unretained: frozen models live as long as the process.
  @usableFromInline let entityReference: UnownedReference<EntityDescription>
  /// The row's key in its root entity; the top bit marks temporary keys. In a coordinator with several stores it has the number of the
  /// store; see `StoreNumbers`.
  @usableFromInline package let key: UInt64
  @usableFromInline package let store: StoreIdentity

  /// The identifier of a row, or of an unsaved object if `key` is temporary.
  ///
  /// - Parameter store: The store, or the several stores, of whose numbers the key has one.
  @inlinable package init(entity: EntityDescription, key: UInt64, store: StoreIdentity) {
    entityReference = UnownedReference(entity)
    self.key = key
    self.store = key.isPermanentKey ? store.store(of: key) : .none
  }

  /// The object's own entity. An identifier that was made for another entity of the family, by `object(with:)` or of a row
  /// that is gone, may have that one.
  @inlinable public var entity: EntityDescription { entityReference.object }

  /// Whether the identifier is temporary: the object is not saved and has not obtained a permanent one.
  @inlinable public var isTemporaryID: Bool { !key.isPermanentKey }

  /// Whether both have the same store, root entity and key.
  public static func == (left: ManagedObjectID, right: ManagedObjectID) -> Bool {
    guard (left.key ^ right.key) & UInt64.keyInStoreOrTemporaryMask == 0, left.store == right.store else {
      return false
    }
    return left.entityReference == right.entityReference
      || left.entity.rootEntity.name == right.entity.rootEntity.name
  }

  /// Hashes the key only.
  public func hash(into hasher: inout Hasher) { hasher.combine(key & UInt64.keyInStoreOrTemporaryMask) }
}

extension ManagedObjectID: CustomStringConvertible {
  /// The identifier as a URI, which a coordinator converts back to an identifier.
  ///
  /// `x-coredata://<UUID of the store>/<entity>/p<number>`. The URI of a temporary identifier has no store, and a `t` with
  /// a hexadecimal number.
  public func uriRepresentation() -> URL {
    URL(string: description) ?? URL(fileURLWithPath: description)
  }

  /// The text of `uriRepresentation()`.
  public var description: String {
    guard let uuid = store.uuid, key.isPermanentKey else {
      return
        "x-coredata:///\(escapedEntityName)/t\(String(key & ~UInt64.temporaryKeyMark, radix: 16, uppercase: true))"
    }
    return "x-coredata://\(uuid.uuidString)/\(escapedEntityName)/p\(key.keyInStore)"
  }

  private var escapedEntityName: String {
    entity.displayName.addingPercentEncoding(withAllowedCharacters: .urlPathAllowed) ?? entity.displayName
  }

  /// The parts of the URI of a permanent identifier.
  package typealias URIParts = (store: UUID, entityName: String, key: UInt64)

  /// The parts of a permanent identifier's URI; nil for any other URI.
  package static func parts(of uri: URL) -> URIParts? {
    guard uri.scheme == "x-coredata", let host = uri.host(), let store = UUID(uuidString: host) else {
      return nil
    }
    let path = uri.pathComponents
    guard path.count == 3, path[2].hasPrefix("p"), let key = UInt64(path[2].dropFirst()),
      key <= UInt64.keyInStoreMask
    else { return nil }
    return (store, path[1], key)
  }
}

extension ManagedObjectID {
  /// An identifier that no other object of this process has or had.
  package static func makeTemporary(_ entity: EntityDescription) -> ManagedObjectID {
    ManagedObjectID(entity: entity, key: makeTemporaryKey(), store: .none)
  }

  static func makeTemporaryKey() -> UInt64 {
    // Relaxed: the numbers must be unique, but no order between threads depends on them.
    let (_, number) = temporaryKeys.add(1, ordering: .relaxed)
    return number | UInt64.temporaryKeyMark
  }

  private static let temporaryKeys = Atomic<UInt64>(0)
}

extension UInt64 {
  /// Set in the keys of objects that have never been saved.
  @inlinable package static var temporaryKeyMark: UInt64 { 1 << 63 }

  /// The bits that two identifiers of one row have in common, or of one unsaved object.
  @inlinable package static var keyInStoreOrTemporaryMask: UInt64 { temporaryKeyMark | keyInStoreMask }

  /// Whether a store assigned this key.
  @inlinable package var isPermanentKey: Bool { self & Self.temporaryKeyMark == 0 }
}
