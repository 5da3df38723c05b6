/// The open stores of a coordinator, and what contexts see of them: the store itself if there is one with all entities, and otherwise
/// all as one.
struct OpenStoreList {
  /// In the order in which they were added.
  private(set) var stores: [PersistentStore] = []
  private(set) var objectStore: (any ObjectStore)?
  /// Nil until there are several stores, or one of a configuration.
  private var numbers: StoreNumbers?
  private let model: ManagedObjectModel

  init(_ model: ManagedObjectModel) { self.model = model }

  /// - Parameter place: Where the store is among the others; nil for the end.
  /// - Throws: `.persistentStoreOpen` if a store with the same identifier is open, or if there were too many.
  mutating func add(_ store: PersistentStore, at place: Int? = nil) throws(HeartwoodError) {
    if let other = stores.first(where: { $0.identifier == store.identifier }) {
      throw .sameStore(store, other)
    }
    let identity = store.objectStore.identity
    if store is IncrementalStore || stores.first is IncrementalStore {
      guard stores.isEmpty, store.configurationName == nil else { throw .aloneOnly(store, stores.first) }
    }
    if stores.isEmpty, numbers?.number(of: identity) == nil { numbers = nil }
    if !stores.isEmpty || store.configurationName != nil { try number() }
    _ = try numbers?.add(identity)
    stores.insert(store, at: min(place ?? stores.count, stores.count))
    update()
  }

  /// - Returns: The place of the store; nil if it is not open.
  mutating func remove(_ store: PersistentStore) -> Int? {
    guard let place = stores.firstIndex(where: { $0 === store }) else { return nil }
    stores.remove(at: place)
    update()
    return place
  }

  private mutating func number() throws(HeartwoodError) {
    guard numbers == nil else { return }
    let made = StoreNumbers()
    for store in stores { _ = try made.add(store.objectStore.identity) }
    numbers = made
  }

  private mutating func update() {
    guard let numbers, !stores.isEmpty else {
      objectStore = stores.first?.objectStore
      return
    }
    let members = stores.compactMap { store in
      numbers.number(of: store.contents.identity).map {
        StoreUnion.Member(number: $0, store: store.contents, configuration: store.configuration)
      }
    }
    objectStore = StoreUnion(members, numbers, model)
  }
}

extension HeartwoodError {
  static func storeIsOpen(_ path: String) -> HeartwoodError {
    HeartwoodError(
      .persistentStoreOpen,
      "the store at \(path) is open in this coordinator already: use the open one, or remove it first")
  }

  fileprivate static func aloneOnly(_ store: PersistentStore, _ other: PersistentStore?) -> HeartwoodError {
    let why =
      other.map { "the one at \($0.place) is open in this coordinator" }
      ?? "it was to have the configuration \(store.configurationName ?? "?")"
    return HeartwoodError(
      .persistentStoreOpen,
      "the store at \(store.place) was not opened: \(why), and an incremental store has all entities and is the only store of its "
        + "coordinator; give it a coordinator of its own")
  }

  fileprivate static func sameStore(_ store: PersistentStore, _ other: PersistentStore) -> HeartwoodError {
    HeartwoodError(
      .persistentStoreOpen,
      "the store at \(store.url.path) was not opened: it has the identifier of the one at \(other.url.path), which is open in this "
        + "coordinator: one is a copy of the other, and their objects have the same identifiers; open it with another coordinator"
    )
  }
}
