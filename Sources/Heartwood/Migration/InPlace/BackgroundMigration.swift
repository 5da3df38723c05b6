import Foundation

/// Writes rows of former layouts again while the store is used.
struct BackgroundMigration: Sendable {
  private let store: LogStore
  private let progress: Progress
  private let isOpen: @Sendable () -> Bool

  init(_ store: LogStore, _ progress: Progress, _ isOpen: @escaping @Sendable () -> Bool) {
    (self.store, self.progress, self.isOpen) = (store, progress, isOpen)
  }

  /// - Returns: Why the work is not done; nil if it is.
  func run() -> (any Error)? {
    do {
      while try store.continueDeferredMigration(mayGoOn, note) {
        guard mayGoOn() else {
          return HeartwoodError(
            .migrationCancelled, "rewriting the rows of former models was cancelled: call it again to go on")
        }
      }
      progress.completedUnitCount = progress.totalUnitCount
      return nil
    } catch {
      return isOpen()
        ? error
        : HeartwoodError(
          .migrationCancelled, "the store was closed while rows of former models were rewritten",
          underlying: error)
    }
  }

  /// A family is read once more if its rows get the model's numbers.
  private func note(_ count: Int) {
    progress.completedUnitCount = min(progress.completedUnitCount + Int64(count), progress.totalUnitCount)
  }

  private func mayGoOn() -> Bool { !progress.isCancelled && isOpen() }
}
