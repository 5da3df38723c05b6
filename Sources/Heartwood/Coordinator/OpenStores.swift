import Foundation
import HeartwoodFiles

/// The stores that are open in this process, for identifiers.
enum OpenStores {
  private final class Weak: @unchecked Sendable {
    private(set) weak var store: PersistentStore?
    init(_ store: PersistentStore) { self.store = store }
  }

  /// By identifier, the last opened at the end.
  private static let open = Guarded<[String: [Weak]]>([:])

  static func add(_ store: PersistentStore) {
    open.withLock { $0[store.identifier, default: []].append(Weak(store)) }
  }

  static func remove(_ store: PersistentStore) {
    open.withLock { open in
      let others = open[store.identifier]?.filter { $0.store != nil && $0.store !== store } ?? []
      open[store.identifier] = others.isEmpty ? nil : others
    }
  }

  static func store(_ identifier: String) -> PersistentStore? {
    open.withLock { $0[identifier]?.last { $0.store != nil }?.store }
  }
}

extension ManagedObjectID {
  /// The store of the object, while it is open in this process; nil for a temporary identifier. If several coordinators have the
  /// store open, that of the last one.
  public var persistentStore: PersistentStore? { store.uuid.flatMap { OpenStores.store($0.uuidString) } }
}
