import HeartwoodFiles

/// The stores that engines of this process have open and share: whoever opens one of them again uses what is open.
///
/// A store is found by its folder, not by a path: a folder that was put in the place of another is another one.
final class OpenStoreRegistry: Sendable {
  static let all = OpenStoreRegistry()

  /// A forked process does not find the stores of its parent.
  private struct Place: Hashable {
    let folder: DirectoryIdentity
    let forks = ForkCount.current
  }

  private let stores = Guarded<[Place: SharedStore]>([:])

  /// Whether a store that is opened so may be shared at all.
  static func canShare(_ options: EngineOptions) -> Bool {
    options.access == .readWrite && options.sharing == .processes && options.sharesInProcess
  }

  /// Opens a store by `body`, or shares one that is open. Those who open the same folder at the same time wait for the first of
  /// them, and nobody else does.
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
      case .store(let store): return StoreHandle(store, options, leaving: { self.leave(shared, place) })
      case .another: return StoreHandle(try body(), options)
      case .over: forget(shared, place)
      }
    }
  }

  private func leave(_ shared: SharedStore, _ place: Place) -> Bool {
    guard shared.leave() else { return false }
    forget(shared, place)
    return true
  }

  private func forget(_ shared: SharedStore, _ place: Place) {
    stores.withLock { stores in
      if stores[place] === shared { stores[place] = nil }
    }
  }
}

/// A store, and how many engines of this process use it.
private final class SharedStore: Sendable {
  private enum State {
    case new
    case open(OpenStore, users: Int)
    /// It could not be opened, or everybody has left.
    case over
  }

  /// What somebody finds who wants the store.
  enum Entry {
    case store(OpenStore)
    /// What is open can't be shared; the store has to be opened beside it, as by another process.
    case another
    case over
  }

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
        guard store.canBeShared(options) else { return .another }
        state = .open(store, users: users + 1)
        return .store(store)
      case .over:
        return .over
      }
    }
  }

  /// - Returns: whether nobody uses the store any more; then nobody comes to it either.
  func leave() -> Bool {
    state.withLock { state in
      guard case .open(let store, let users) = state else { return true }
      state = users > 1 ? .open(store, users: users - 1) : .over
      return users == 1
    }
  }
}

extension OpenStore {
  /// Whether somebody who asks for these options gets what they are for. The others are those of the first.
  fileprivate func canBeShared(_ wanted: EngineOptions) -> Bool {
    !status.isClosed && !status.isStopped && (try? folder.directory.isInPlace()) == true
      && options.reading == wanted.reading
      && (options.durability == .none) == (wanted.durability == .none)
  }
}
