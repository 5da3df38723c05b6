import Heartwood

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
