/// A generation of the open store, pinned while this object exists.
final class PinnedGeneration: @unchecked Sendable {
  let pin: Generations.Pin
  /// Keeps the slot.
  private let generations: Generations

  init(_ generations: Generations) {
    self.generations = generations
    pin = generations.pin()
  }

  deinit { pin.release() }
}
