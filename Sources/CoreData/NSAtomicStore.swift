import Foundation
import Heartwood

/// A store of a program's own that is in memory as a whole. It is made by a coordinator: override `load()` and `save()`, and register the class.
public typealias NSAtomicStore = AtomicStore
/// An object of such a store.
public typealias NSAtomicStoreCacheNode = AtomicStoreCacheNode

extension PersistentStoreCoordinator {
  /// Registers a class of stores for a type; nil removes the class of the type.
  ///
  /// - Precondition: The class is one of stores.
  public class func registerStoreClass(_ storeClass: AnyClass?, forStoreType storeType: String) {
    guard let storeClass else { return registerStoreClass(nil, type: StoreTypes.kind(storeType)) }
    guard let type = storeClass as? PersistentStore.Type else {
      fatalError("registerStoreClass(_:forStoreType:): \(storeClass) is no class of stores")
    }
    registerStoreClass(type, type: StoreTypes.kind(storeType))
  }
}
