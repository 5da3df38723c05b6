import HeartwoodBytes
import HeartwoodFiles

/// The classes of stores that the program has registered.
enum StoreClasses {
  private static let registered = Guarded<[PersistentStore.StoreType: PersistentStore.Type]>([:])
  static let builtIn: Set<PersistentStore.StoreType> = [.log, .inMemory, .binary, .json, .xml]

  static var all: [PersistentStore.StoreType: PersistentStore.Type] { registered.withLock { $0 } }

  static func set(_ storeClass: PersistentStore.Type?, _ type: PersistentStore.StoreType) {
    registered.withLock { $0[type] = storeClass }
  }
}

/// Kinds of stores of the program.
extension PersistentStoreCoordinator {
  /// The kinds of stores that can be opened, with their classes.
  public static var registeredStoreTypes: [PersistentStore.StoreType: PersistentStore.Type] {
    var types = StoreClasses.all
    for type in StoreClasses.builtIn { types[type] = PersistentStore.self }
    return types
  }

  /// Registers a class of stores of the program for a kind. Stores of the kind can be added from now on, to any coordinator.
  ///
  /// - Parameters:
  ///   - storeClass: A class that derives from ``AtomicStore``; nil to register none any more. Open stores stay open.
  ///   - type: A name that is none of the kinds that come with this library.
  /// - Precondition: The kind does not come with this library.
  public static func registerStoreClass(_ storeClass: PersistentStore.Type?, type: PersistentStore.StoreType)
  {
    if StoreClasses.builtIn.contains(type) {
      programError(
        "\(type.rawValue) is a kind of store that comes with Heartwood: register the class for another name")
    }
    StoreClasses.set(storeClass, type)
  }
}
