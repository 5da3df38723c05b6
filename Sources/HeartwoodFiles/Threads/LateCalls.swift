/// Calls of a program's code that wait until the thread holds no lock.
///
/// Events are told deep in an operation, often with locks held. There the call is left; the outermost operation of the thread makes it when
/// it has released everything.
package final class LateCalls {
  private static let ofThread = ThreadValue<LateCalls>()
  private var calls: [() -> Void] = []

  private init() {}

  /// Runs `body`, and makes the calls that it has left, in their order, also if it throws. Inside another `after` of the thread, that one
  /// makes them.
  ///
  /// - Precondition: The outermost caller of a thread holds no lock.
  package static func after<Result, Failure: Error>(
    _ body: () throws(Failure) -> Result
  ) throws(Failure) -> Result {
    guard ofThread.current == nil else { return try body() }
    let late = LateCalls()
    defer { for call in late.calls { call() } }
    return try ofThread.with(late, body)
  }

  /// Leaves a call to the operation of this thread; outside of any, makes it at once.
  package static func leave(_ call: @escaping () -> Void) {
    guard let late = ofThread.current else { return call() }
    late.calls.append(call)
  }
}
