import Foundation
import Heartwood
import HeartwoodFiles
import Observation

/// Counts the saves to a container's stores that concern some models and authors, whichever context or process makes them.
///
/// If history is deleted before the observer has read it, it cannot know which saves that was: it counts once, and goes on with what is saved
/// after that.
public final class HistoryObserver: Observable, Sendable {
  /// The container.
  public let modelContainer: ModelContainer
  /// The classes whose changes count; empty for all.
  public let observedModels: [any PersistentModel.Type]
  /// The authors whose saves count; empty for all.
  public let authors: Set<String>

  private struct State {
    var token: PersistentHistoryToken?
    var count = 0
  }
  private let state: Guarded<State>
  private let registrar = ObservationRegistrar()
  private let observation = Guarded<KeptObservation?>(nil)

  /// Begins to count.
  ///
  /// - Parameters:
  ///   - historyTokens: The positions after which saves count, by store; nil to begin now.
  ///   - observedModels: The classes whose changes count; empty for all.
  ///   - authors: The authors whose saves count; empty for all.
  ///   - modelContainer: The container.
  ///   - isolation: The actor that makes it.
  /// - Throws: `SwiftDataError.historyTokenExpired` if the history after one of the tokens is deleted, or if it belongs to another store;
  ///   the error of a store.
  public init(
    historyTokens: [String: any HistoryToken]? = nil, observedModels: [any PersistentModel.Type] = [],
    authors: Set<String> = [], modelContainer: ModelContainer, isolation: isolated (any Actor)? = #isolation
  ) throws {
    self.modelContainer = modelContainer
    self.observedModels = observedModels
    self.authors = authors
    let given = historyTokens?.values.compactMap { ($0 as? DefaultHistoryToken)?.positions } ?? []
    let current = modelContainer.contents.coordinator.currentPersistentHistoryToken()
    state = Guarded(State(token: historyTokens == nil ? current : given.joined))
    let observer = NotificationCenter.default.addObserver(
      forName: ModelContainer.remoteChange, object: modelContainer, queue: nil
    ) { [weak self] _ in self?.follow() }
    observation.withLock { $0 = KeptObservation(observer) }
    // Reads the changes that were saved before the observation began.
    try ModelErrors.translating { try read() }
  }

  /// How often saves that count were found.
  public var eventCounter: Int {
    registrar.access(self, keyPath: \.eventCounter)
    return state.withLock { $0.count }
  }

  /// The positions up to which the history was read, by the identifiers of the stores.
  public var historyTokens: [String: any HistoryToken] {
    registrar.access(self, keyPath: \.historyTokens)
    guard let token = state.withLock({ $0.token }) else { return [:] }
    return token.transactionNumbersByStore.mapValues { _ in DefaultHistoryToken(token) }
  }

  /// Reads what was saved since the last time.
  private func follow() {
    let token = state.withLock { $0.token }
    do {
      try read()
    } catch let error as HeartwoodError where error.code == .persistentHistoryTokenExpired {
      let current = modelContainer.contents.coordinator.currentPersistentHistoryToken()
      _ = move(from: token, to: current, counts: true)
    } catch {
      // The next save reads from the same position.
    }
  }

  private func read() throws {
    let coordinator = modelContainer.contents.coordinator
    // Stores of programs have histories of their own kinds.
    guard !coordinator.persistentStores.allSatisfy({ $0 is BridgedStore }) else { return }
    // A context of its own: notifications come on any thread.
    let context = ManagedObjectContext(.privateQueue, coordinator: coordinator)
    var isDone = false
    while !isDone {
      let token = state.withLock { $0.token }
      let found = try context.execute(PersistentHistoryChangeRequest.fetchHistory(after: token)).transactions
      isDone =
        found.last.map { move(from: token, to: $0.token, counts: found.contains(where: concerns)) } ?? true
    }
  }

  /// Notes what was read.
  ///
  /// - Returns: False if another thread has read meanwhile, so that nothing was noted.
  private func move(
    from token: PersistentHistoryToken?, to next: PersistentHistoryToken?, counts: Bool
  ) -> Bool {
    registrar.willSet(self, keyPath: \.historyTokens)
    if counts { registrar.willSet(self, keyPath: \.eventCounter) }
    let isNoted = state.withLock { state in
      guard state.token == token else { return false }
      state.token = next
      if counts { state.count += 1 }
      return true
    }
    if counts { registrar.didSet(self, keyPath: \.eventCounter) }
    registrar.didSet(self, keyPath: \.historyTokens)
    return isNoted
  }

  private func concerns(_ transaction: PersistentHistoryTransaction) -> Bool {
    guard authors.isEmpty || transaction.author.map(authors.contains) == true else { return false }
    guard !observedModels.isEmpty else { return true }
    let names = Set(observedModels.flatMap { ModelClass.names(of: $0, in: modelContainer.schema) })
    return (transaction.changes ?? []).contains { names.contains($0.changedObjectID.entity.name ?? "") }
  }
}

extension [PersistentHistoryToken] {
  /// One token with the latest position of each store; nil for none.
  fileprivate var joined: PersistentHistoryToken? { PersistentHistoryToken(joining: self) }
}

/// A token of a notification centre, which any thread may use.
final class KeptObservation: @unchecked Sendable {
  private let token: any NSObjectProtocol
  init(_ token: any NSObjectProtocol) { self.token = token }
  deinit { NotificationCenter.default.removeObserver(token) }
}
