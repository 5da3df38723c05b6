import HeartwoodFiles

extension Scheduler: ThreadScheduler {
  func acquire(_ lock: UnsafeRawPointer) {
    pass(.acquire(lock), "acquire lock", name(of: lock))
    take(lock)
  }

  func tryAcquire(_ lock: UnsafeRawPointer) -> Bool {
    pass(.proceed, "try lock", name(of: lock))
    guard owners[lock] == nil else { return false }
    take(lock)
    return true
  }

  private func take(_ lock: UnsafeRawPointer) {
    guard let running else { return }
    assert(owners[lock] == nil, "A lock has one owner.")
    owners[lock] = running.index
  }

  func release(_ lock: UnsafeRawPointer) { owners[lock] = nil }

  func wait(_ condition: UnsafeRawPointer, _ lock: UnsafeRawPointer, nanoseconds: Int?) {
    release(lock)
    let deadline = nanoseconds.map { self.deadline(after: $0) }
    pass(
      .wait(condition: condition, lock: lock, deadline: deadline), "wait for condition", name(of: condition))
    take(lock)
  }

  func broadcast(_ condition: UnsafeRawPointer) {
    for thread in threads {
      guard case .wait(condition, let lock, _) = thread.pending else { continue }
      thread.pending = .acquire(lock)
    }
  }

  func reach(_ operation: String, _ object: String) { pass(.proceed, operation, object) }

  func sleep(nanoseconds: Int) { pass(.sleep(deadline: deadline(after: nanoseconds)), "sleep") }

  func beginUninterrupted() { running?.uninterrupted += 1 }

  func endUninterrupted() { running?.uninterrupted -= 1 }

  var nanoseconds: Int { now }
}
