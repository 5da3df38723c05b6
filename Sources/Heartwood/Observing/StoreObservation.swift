import HeartwoodFiles

/// One operation that an observer is notified of when it has ended.
struct StoreObservation {
  private let observer: StoreObserver
  private let watch = Stopwatch()

  /// Begins.
  init(_ observer: StoreObserver) { self.observer = observer }

  /// - Parameter event: Makes the event of the time that the operation took.
  func tell(_ event: (Duration) -> StoreEvent) { observer.tell(event(watch.elapsed)) }
}
