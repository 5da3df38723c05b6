import HeartwoodEngine

/// Copies of a store on other machines.
extension PersistentStoreCoordinator {
  /// A shipper of every save of a store to a destination, such as a folder, from which it is followed and restored.
  ///
  /// Nothing is shipped before `ship()` or `run(_:)`, which may be called on a thread of its own. It keeps the store open until it is
  /// released. The `Follower` of the destination makes a store that is opened with `isReadOnly`.
  ///
  /// - Parameters:
  ///   - store: The store; nil for the only one.
  ///   - destination: An empty place, or one that has been shipped this store to.
  ///   - options: How often all of the store is shipped, and how long what was shipped is kept.
  /// - Throws: If the store is not open, or not of the type `log`.
  public func shipper(
    of store: PersistentStore? = nil, to destination: any ShippingDestination,
    options: ShippingOptions = ShippingOptions()
  ) throws -> Shipper {
    try openStore(store).shipper(to: destination, options)
  }
}
