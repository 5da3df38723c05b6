import Foundation
import HeartwoodEngine
import HeartwoodFiles

/// A store whose saves are observed, and followed by its history.
protocol FollowedStore: AnyObject, Sendable {
  var identity: StoreIdentity { get }
  /// The number of the newest save; nil if the store has no history, by which contexts could follow it.
  var newestSave: UInt64? { get }
  /// Calls `body` with the saves after one, oldest first, until it returns false.
  func forEachSave(after number: UInt64, _ body: (HistoryRecord) throws -> Bool) throws
  /// Calls `body` after each save, by any program, as long as what is returned exists; nil if saves are not observed.
  func observeSaves(_ body: @escaping @Sendable () -> Void) -> SaveObservation?
}

/// An observation of saves, which ends with the object.
struct SaveObservation: @unchecked Sendable {
  private let made: AnyObject

  init(_ made: AnyObject) { self.made = made }

  /// Replaces an observation. The former one ends after the lock is released, as a program's class may have made it.
  static func replace(_ kept: Guarded<SaveObservation?>, by new: SaveObservation?) {
    var former = new
    kept.withLock { swap(&$0, &former) }
  }
}

extension LogStore: FollowedStore {
  var newestSave: UInt64? { newestGeneration }

  func forEachSave(after number: UInt64, _ body: (HistoryRecord) throws -> Bool) throws {
    try newestView().history(after: number, body)
  }

  func observeSaves(_ body: @escaping @Sendable () -> Void) -> SaveObservation? {
    SaveObservation(engine.observeCommits { _ in body() })
  }
}

/// Following the saves of other coordinators and processes for contexts that merge them.
final class RemoteFollower: Sendable {
  private struct State {
    /// The last transaction that was told.
    var told: UInt64
    /// Transactions that were saved through this coordinator since.
    var own: Set<UInt64> = []
    /// Whether a thread reads the history and tells of it.
    var isTelling = false
    /// Whether there was a notice since it has begun to read.
    var isDue = false
    var hasEnded = false

    /// The transaction after which the telling thread has to read; nil if nothing is due, so that it is done.
    mutating func next() -> UInt64? {
      isTelling = isDue && !hasEnded
      isDue = false
      return isTelling ? told : nil
    }
  }

  private let state: Guarded<State>
  private let observation = Guarded<SaveObservation?>(nil)

  init(after number: UInt64) { state = Guarded(State(told: number)) }

  func begin(_ store: any FollowedStore, _ followers: ContextFollowers) {
    let made = store.observeSaves { [weak self, weak store] in
      if let self, let store { self.notify(store, followers) }
    }
    SaveObservation.replace(observation, by: made)
    // Notifies of commits between the reading of the number and the observation.
    notify(store, followers)
  }

  func end() {
    state.withLock { $0.hasEnded = true }
    SaveObservation.replace(observation, by: nil)
  }

  /// Notes a save of this coordinator, unless the history of it was read already.
  func noteOwn(_ number: UInt64) {
    state.withLock { if number > $0.told { $0.own.insert(number) } }
  }

  /// Tells the followers what the history has had since the last call, except for the coordinator's own saves: in order, by one thread at a
  /// time, which goes on for the notices that others get meanwhile. A class of the program may read the history, so no lock is held.
  private func notify(_ store: any FollowedStore, _ followers: ContextFollowers) {
    let isTold = state.withLock { state in
      defer { (state.isTelling, state.isDue) = (true, true) }
      return state.isTelling
    }
    guard !isTold else { return }
    while let number = state.withLock({ $0.next() }) {
      var found: [ObjectIDChanges] = []
      // An error is the store's, which every read and save reports.
      try? store.forEachSave(after: number) { record in
        let isOwn = state.withLock { state in
          state.told = record.number
          return state.own.remove(record.number) != nil
        }
        if !isOwn, !record.isOwn { found.append(ObjectIDChanges(record, store.identity)) }
        return true
      }
      for changes in found { followers.notify(changes, from: nil, isOfOtherProcess: true) }
    }
  }
}

extension ObjectIDChanges {
  /// The changes of one transaction of the history.
  init(_ record: HistoryRecord, _ store: StoreIdentity) {
    self.init(record.changes, store)
    queryGeneration = QueryGenerationToken(generation: record.number, storeID: store.text)
  }

  /// The changes of a transaction.
  init(_ changes: [HistoryChange], _ store: StoreIdentity) {
    self.init()
    for change in changes {
      let identifier = ManagedObjectID(entity: change.entity, key: change.key, store: store)
      switch change.kind {
      case .insert: insertedObjectIDs.insert(identifier)
      case .update: updatedObjectIDs.insert(identifier)
      case .delete: deletedObjectIDs.insert(identifier)
      }
    }
  }
}
