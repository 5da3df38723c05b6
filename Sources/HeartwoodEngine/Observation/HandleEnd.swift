import Synchronization

/// Whether an engine's handle is closed. An object of its own, so that observers can check it without retaining the store.
final class HandleEnd: Sendable {
  private let flag = Atomic(false)

  var hasCome: Bool { flag.load(ordering: .acquiring) }

  /// Closes the handle; returns false if it is closed already.
  func begin() -> Bool { !flag.exchange(true, ordering: .acquiringAndReleasing) }
}
