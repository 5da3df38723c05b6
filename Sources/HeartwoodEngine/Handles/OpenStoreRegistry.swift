import HeartwoodFiles

/// The open stores that engines of this process share: an engine that opens the same store again uses the
/// open one.
///
/// A store is identified by its folder, not by its path: a folder that has replaced another one is a
/// different store.
final class OpenStoreRegistry: Sendable {
  static let all = OpenStoreRegistry()

  /// Includes the fork count, so that a forked process does not find the stores of its parent.
  private struct Place: Hashable {
    let folder: DirectoryIdentity
    let forks = ForkCount.current
  }

  private let stores = Guarded<[Place: SharedStore]>([:])

  /// Whether a store opened with these options may be shared at all.
  static func canShare(_ options: EngineOptions) -> Bool {
    options.access == .readWrite && options.sharing == .processes && options.sharesInProcess
  }

  /// Opens a store with `body`, or shares the open one. Threads that open the same folder at the same time
  /// wait for the first of them; threads that open other folders do not wait.
  func open(
    _ folder: DirectoryIdentity, _ options: EngineOptions, _ body: () throws(EngineError) -> OpenStore
  ) throws(EngineError) -> StoreHandle {
    let place = Place(folder: folder)
    while true {
      let shared = stores.withLock { stores in
        let shared = stores[place] ?? SharedStore()
        stores[place] = shared
        return shared
      }
      let entry: SharedStore.Entry
      do throws(EngineError) {
        entry = try shared.enter(options, body)
      } catch {
        forget(shared, place)
        throw error
      }
      switch entry {
      case .store(let store):
        return StoreHandle(store, options, shared.observers, leaveRegistry: { self.leave(shared, place, $0) })
      case .another: return StoreHandle(try body(), options)
      case .over: forget(shared, place)
      }
    }
  }

  private func leave(_ shared: SharedStore, _ place: Place, _ how: StoreHandle.Leaving) -> Bool {
    guard shared.leave(how) else { return false }
    forget(shared, place)
    return true
  }

  private func forget(_ shared: SharedStore, _ place: Place) {
    stores.withLock { stores in
      if stores[place] === shared { stores[place] = nil }
    }
  }
}

/// A store, and the number of engines of this process that use it.
private final class SharedStore: Sendable {
  private enum State {
    case new
    case open(OpenStore, users: Int)
    /// Opening failed, or all engines have closed the store.
    case over
  }

  /// The result of asking for the store.
  enum Entry {
    case store(OpenStore)
    /// The open store can't be shared with these options; the caller opens it separately, as another process
    /// would.
    case another
    case over
  }

  /// The observers of the store's commits.
  let observers = CommitObservers()
  private let state = Guarded(State.new)

  func enter(
    _ options: EngineOptions, _ body: () throws(EngineError) -> OpenStore
  ) throws(EngineError) -> Entry {
    try state.withLock { state throws(EngineError) in
      switch state {
      case .new:
        state = .over
        let store = try body()
        state = .open(store, users: 1)
        return .store(store)
      case .open(let store, let users):
        guard Self.canShare(store, options) else { return .another }
        state = .open(store, users: users + 1)
        return .store(store)
      case .over:
        return .over
      }
    }
  }

  /// - Returns: Whether this is the last user; the store is not shared any more then.
  func leave(_ how: StoreHandle.Leaving) -> Bool {
    state.withLock { state in
      guard case .open(let store, let users) = state else { return true }
      if users > 1, how == .onlyAsLast { return false }
      state = users > 1 ? .open(store, users: users - 1) : .over
      return users == 1
    }
  }

  /// Whether the open store provides what these options ask for. All other options are those of the first
  /// engine.
  private static func canShare(_ store: OpenStore, _ wanted: EngineOptions) -> Bool {
    let options = store.options
    return !store.status.isClosed && !store.status.isStopped
      && (try? store.folder.directory.isInPlace()) == true && options.reading == wanted.reading
      && (options.durability == .none) == (wanted.durability == .none)
  }
}
