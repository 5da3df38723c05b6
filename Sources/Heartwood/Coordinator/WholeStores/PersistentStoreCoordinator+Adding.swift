import Dispatch
import Foundation

/// Further forms of adding a store.
extension PersistentStoreCoordinator {
  /// Opens a store, or creates it if it is missing.
  ///
  /// - Parameters:
  ///   - type: The kind of store.
  ///   - configuration: The configuration of the model whose entities the store has; nil for all.
  ///   - url: The folder of the store; nil for a store in memory.
  ///   - options: Options by key; nil for the defaults. Unknown keys are refused.
  /// - Throws: As `addPersistentStore(with:)`.
  @discardableResult
  public func addPersistentStore(
    type: PersistentStore.StoreType = .log, configuration: String? = nil, at url: URL?,
    options: PersistentStore.Options? = nil
  ) throws -> PersistentStore {
    guard url != nil || type == .inMemory else {
      throw HeartwoodError(.persistentStoreOpen, "a store on disk needs a URL: pass the folder of the store")
    }
    let place = url ?? URL(fileURLWithPath: "/dev/null")
    let description = PersistentStoreDescription(type: type, url: place, options: options)
    description.configuration = configuration
    return try addPersistentStore(with: description)
  }

  /// Opens a store, or creates it. Calls `block` with the error or nil: before this method returns, or on another thread if the
  /// description says `shouldAddStoreAsynchronously`.
  ///
  /// - Parameters:
  ///   - description: The location and the options; it is not changed until `block` is called.
  ///   - block: Called once.
  public func addPersistentStore(
    with description: PersistentStoreDescription,
    completionHandler block: @escaping @Sendable (PersistentStoreDescription, (any Error)?) -> Void
  ) {
    Self.run(description) {
      try self.addPersistentStore(with: description)
    } completionHandler: {
      block(description, $0)
    }
  }

  /// Runs `body`, at once or on another thread as the description says.
  static func run(
    _ description: PersistentStoreDescription, _ body: @escaping @Sendable () throws -> Void,
    completionHandler block: @escaping @Sendable ((any Error)?) -> Void
  ) {
    let work: @Sendable () -> Void = {
      do {
        try body()
      } catch {
        return block(error)
      }
      block(nil)
    }
    if description.shouldAddStoreAsynchronously {
      DispatchQueue.global().async(execute: work)
    } else {
      work()
    }
  }
}
