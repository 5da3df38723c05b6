import Foundation

/// The stores of a coordinator, and what contexts see of them: the store itself if there is one with all entities, and otherwise
/// all as one.
///
/// A store is opened and closed without the coordinator's lock: that may take as long as a migration, and runs code of the program. Until
/// then its place is reserved:
///
/// ```
/// reserve ─▶ reserved ─ fill ──▶ open ─ remove ───▶ (gone)
///               │  ▲               │
///            release └─ withdraw ──┘
///               ▼
///            (gone)
/// ```
///
/// - Invariant: At most one reservation or open store is for a place on disk.
struct OpenStoreList {
  /// A place in the list for a store that is being opened.
  struct Reservation: Equatable {
    fileprivate let number: Int
  }

  private enum Entry {
    /// Nothing else sees the store, but another one cannot be opened where it will be.
    case reserved(Reservation, URL?)
    case open(PersistentStore)

    var store: PersistentStore? {
      guard case .open(let store) = self else { return nil }
      return store
    }
    var url: URL? {
      switch self {
      case .reserved(_, let url): url
      case .open(let store): store.url
      }
    }
  }

  /// In the order in which they were added.
  private var entries: [Entry] = []
  private var reservationCount = 0
  private(set) var objectStore: (any ContextStore)?
  /// Nil until there are several stores, or one of a configuration.
  private var numbers: StoreNumbers?
  private let model: ManagedObjectModel
  /// A change that was refused since the last save; nil for none.
  var refusal: (any Error)?

  init(_ model: ManagedObjectModel) { self.model = model }

  /// The open stores, in the order in which they were added.
  var stores: [PersistentStore] { entries.compactMap(\.store) }

  // MARK: Opening

  /// Reserves the last place for a store that is to be opened.
  ///
  /// - Parameter url: Where the store is; nil for one in memory.
  /// - Throws: `.persistentStoreOpen` if a store is open there, or is being opened.
  mutating func reserve(for url: URL?) throws(HeartwoodError) -> Reservation {
    for entry in entries {
      switch entry {
      case .open(let store) where Self.isSame(url, store.url): throw .storeIsOpen(store.place)
      case .reserved(_, let other) where Self.isSame(url, other): throw .storeIsBeingOpened(url)
      default: continue
      }
    }
    let reservation = nextReservation()
    entries.append(.reserved(reservation, url))
    return reservation
  }

  /// Makes the place of an open store one for another store.
  ///
  /// - Returns: Nil if the store is not open.
  mutating func withdraw(_ store: PersistentStore) -> Reservation? {
    guard let place = entries.firstIndex(where: { $0.store === store }) else { return nil }
    let reservation = nextReservation()
    entries[place] = .reserved(reservation, store.url)
    update()
    return reservation
  }

  /// Puts a store that was opened into its place.
  ///
  /// - Throws: `.persistentStoreOpen` if a store with the same identifier is open, or if there were too many. The place stays reserved.
  mutating func fill(_ reservation: Reservation, with store: PersistentStore) throws(HeartwoodError) {
    let others = stores
    if let other = others.first(where: { $0.identifier == store.identifier }) {
      throw .sameStore(store, other)
    }
    let identity = store.objectStore.identity
    if others.isEmpty, numbers?.number(of: identity) == nil { numbers = nil }
    if !others.isEmpty || store.configurationName != nil { try number() }
    _ = try numbers?.add(identity)
    guard let place = place(of: reservation) else { return }
    entries[place] = .open(store)
    assert(entries.count { Self.isSame(store.url, $0.url) } <= 1, "two stores are open at \(store.place)")
    update()
  }

  /// Gives up a place whose store was not opened.
  mutating func release(_ reservation: Reservation) {
    guard let place = place(of: reservation) else { return }
    entries.remove(at: place)
  }

  /// - Returns: Whether the store was open.
  mutating func remove(_ store: PersistentStore) -> Bool {
    guard let place = entries.firstIndex(where: { $0.store === store }) else { return false }
    entries.remove(at: place)
    update()
    return true
  }

  private mutating func nextReservation() -> Reservation {
    reservationCount += 1
    return Reservation(number: reservationCount)
  }

  private func place(of reservation: Reservation) -> Int? {
    entries.firstIndex { entry in
      if case .reserved(reservation, _) = entry { true } else { false }
    }
  }

  private static func isSame(_ url: URL?, _ other: URL?) -> Bool {
    guard let url, let other, !url.isOfMemory, !other.isOfMemory else { return false }
    return url.placeOfStore == other.placeOfStore
  }

  // MARK: The store for contexts

  private mutating func number() throws(HeartwoodError) {
    guard numbers == nil else { return }
    let made = StoreNumbers()
    for store in stores { _ = try made.add(store.objectStore.identity) }
    numbers = made
  }

  private mutating func update() {
    let stores = stores
    guard let numbers, !stores.isEmpty else {
      objectStore = stores.first?.objectStore
      return
    }
    let members = stores.compactMap { store in
      numbers.number(of: store.objectStore.identity).map {
        StoreMember(
          number: $0, store: store.objectStore, log: store.log, configuration: store.configuration,
          isReadOnly: store.isReadOnly, place: store.place)
      }
    }
    // A store that is not on the engine knows how it is one of several.
    objectStore = (stores.first { $0.log == nil } ?? stores[0]).union(members, numbers, model)
  }
}

extension HeartwoodError {
  fileprivate static func storeIsOpen(_ path: String) -> HeartwoodError {
    HeartwoodError(
      .persistentStoreOpen,
      "the store at \(path) is open in this coordinator already: use the open one, or remove it first")
  }

  fileprivate static func storeIsBeingOpened(_ url: URL?) -> HeartwoodError {
    let place = url.map { $0.isFileURL ? $0.path : $0.withoutPassword } ?? "no place"
    return HeartwoodError(
      .persistentStoreOpen,
      "the store at \(place) is being opened in this coordinator by another thread: wait for it, and use that one"
    )
  }

  fileprivate static func sameStore(_ store: PersistentStore, _ other: PersistentStore) -> HeartwoodError {
    HeartwoodError(
      .persistentStoreOpen,
      "the store at \(store.place) was not opened: it has the identifier of the one at \(other.place), which is open in this "
        + "coordinator: one is a copy of the other, and their objects have the same identifiers; open it with another coordinator"
    )
  }
}
