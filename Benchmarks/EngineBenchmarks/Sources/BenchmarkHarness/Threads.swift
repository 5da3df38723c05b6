import Foundation
import Synchronization

/// A value that one thread after the other uses.
package struct Handed<Value>: @unchecked Sendable {
  package let value: Value

  package init(_ value: Value) { self.value = value }
}

/// Threads that start together and are waited for.
package final class Threads: Sendable {
  private let failure = Mutex<(any Error)?>(nil)
  private let group = DispatchGroup()

  package init() {}

  package func start(_ body: @escaping @Sendable () throws -> Void) {
    group.enter()
    let thread = Thread { [self] in
      do { try body() } catch { failure.withLock { $0 = $0 ?? error } }
      group.leave()
    }
    thread.start()
  }

  /// - Throws: The first error of a thread.
  package func join() throws {
    group.wait()
    if let error = failure.withLock({ $0 }) { throw error }
  }
}
