import Foundation
import HeartwoodEngine
import HeartwoodFiles

/// Following the saves of other coordinators and processes for contexts that merge them.
final class RemoteFollower: Sendable {
  private struct State {
    /// The last transaction that was told.
    var told: UInt64
    /// Transactions that were saved through this coordinator since.
    var own: Set<UInt64> = []
  }

  private let state: Guarded<State>
  private let observation = Guarded<CommitObservation?>(nil)
  private let hasEnded = Guarded(false)

  init(after number: UInt64) { state = Guarded(State(told: number)) }

  func begin(_ store: LogStore, _ followers: ContextFollowers) {
    let made = store.engine.observeCommits { [weak self, weak store] _ in
      if let self, let store { self.notify(store, followers) }
    }
    observation.withLock { $0 = made }
    // Notifies of commits between the reading of the number and the observation.
    notify(store, followers)
  }

  /// Follows an incremental store, which counts its saves: views of the former state are left.
  func begin(_ store: IncrementalStore, _ followers: ContextFollowers) {
    let contents = store.openContents()
    store.observe(store) { [weak self, weak contents] in
      guard let self, let contents, !self.hasEnded.withLock({ $0 }) else { return }
      _ = contents.noteSave()
      self.notify(contents, followers)
    }
    notify(contents, followers)
  }

  func end() {
    hasEnded.withLock { $0 = true }
    observation.withLock { $0?.cancel() }
  }

  /// Notes a save of this coordinator, unless the history of it was read already.
  func noteOwn(_ number: UInt64) {
    state.withLock { state in
      if number > state.told { state.own.insert(number) }
    }
  }

  /// Tells the followers what the history has had since the last call, except for the coordinator's own saves.
  private func notify(_ store: any HistorySource, _ followers: ContextFollowers) {
    var told: [ObjectIDChanges] = []
    state.withLock { state in
      // An error is the store's, which every read and save reports.
      try? store.historyView().history(after: state.told) { record in
        state.told = record.number
        if state.own.remove(record.number) == nil, !record.isOwn {
          told.append(ObjectIDChanges(record, store.identity))
        }
        return true
      }
    }
    for changes in told { followers.notify(changes, from: nil, isOfOtherProcess: true) }
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
