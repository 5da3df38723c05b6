import Foundation
import Heartwood
import HeartwoodFiles

/// The store at a path, for as long as a page shows it. If it is deleted, the page is told; if one is made at its path, that one is shown.
final class ServedStore: Sendable {
  /// The state of the path.
  struct Present: Sendable {
    /// The store that requests read: the last one that was there.
    let store: BrowsedStore
    /// How many stores were at the path before it.
    let number: Int
    /// Why the store is there no more, as a phrase; nil if it is there.
    var absence: String?
  }

  private struct State {
    var present: Present
    /// Where the store is; nil for a store of one file, which is read once.
    var place: StorePlace?
    /// Whether a thread opens what is at the path now. Others go on with the former store.
    var isOpening = false

    /// False if another thread opens what is there, or has done so.
    mutating func begin(after former: Int) -> Bool {
      guard !isOpening, present.number == former else { return false }
      isOpening = true
      return true
    }
  }

  private let state: Guarded<State>
  private let reopen: (@Sendable () throws(CommandFailure) -> BrowsedStore)?

  /// - Parameters:
  ///   - store: The store that is at its path now.
  ///   - reopen: Opens the store that is at the path later; nil if no other one is to be shown.
  init(_ store: BrowsedStore, reopen: (@Sendable () throws(CommandFailure) -> BrowsedStore)? = nil) {
    self.reopen = reopen
    state = Guarded(
      State(
        present: Present(store: store, number: 0), place: store.hasGenerations ? StorePlace(store.path) : nil)
    )
  }

  /// The store that was there when a thread looked last.
  var last: BrowsedStore { state.withLock { $0.present.store } }

  /// Looks at the path, and opens the store there if it is another one.
  ///
  /// - Complexity: Some system calls.
  var present: Present {
    let (known, present) = state.withLock { ($0.place, $0.present) }
    guard let known else { return present }
    let now = StorePlace(present.store.path)
    guard now != known || present.absence != nil else { return present }
    return look(at: now, after: present, isAsBefore: now == known)
  }

  /// Opens the store again after another program has migrated it.
  ///
  /// - Returns: Nil if it is still the former one.
  func renewed(_ former: Present) -> Present? {
    let newer = look(at: StorePlace(former.store.path), after: former, isAsBefore: false)
    return newer.number == former.number ? nil : newer
  }

  private func look(at place: StorePlace?, after former: Present, isAsBefore: Bool) -> Present {
    guard state.withLock({ $0.begin(after: former.number) }) else { return state.withLock { $0.present } }
    let next: (store: BrowsedStore?, absence: String?) = isAsBefore ? (nil, nil) : found(place)
    return state.withLock { state in
      state.isOpening = false
      if let store = next.store {
        state.present = Present(store: store, number: former.number + 1)
        state.place = store.hasGenerations ? place : nil
      } else {
        state.present.absence = next.absence
      }
      return state.present
    }
  }

  private func found(_ place: StorePlace?) -> (store: BrowsedStore?, absence: String?) {
    guard FileManager.default.fileExists(atPath: last.path), place == nil || place?.anchor != nil else {
      return (nil, "the store was deleted")
    }
    guard let reopen else { return (nil, "another store is at its path") }
    do throws(CommandFailure) {
      return (try reopen(), nil)
    } catch {
      return (nil, "the store was replaced: \(error.message)")
    }
  }
}
