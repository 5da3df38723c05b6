extension StoreHandle {
  func observeCommits(
    _ body: @escaping @Sendable (Generation) -> Void, ending: @escaping @Sendable () -> Void = {}
  ) -> CommitObservation {
    try? Refresh(open()).ifStale()
    let observer = CommitObserver(end, known: store.generations.newest, body, ending: ending)
    observers.add(observer, store)
    return CommitObservation(observer, observers)
  }

  func commitStream() -> AsyncStream<Generation> {
    AsyncStream(bufferingPolicy: .bufferingNewest(1)) { continuation in
      let observation = observeCommits({ continuation.yield($0) }, ending: { continuation.finish() })
      continuation.onTermination = { _ in observation.cancel() }
    }
  }
}
