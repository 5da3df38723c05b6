import Dispatch
import Foundation
import Synchronization

/// Runs long work on another thread, and shows on this one how far it is.
enum LiveProgress {
  private final class State<Result: Sendable>: Sendable {
    let text = Mutex("")
    let result = Mutex<Swift.Result<Result, any Error>?>(nil)
  }

  /// - Parameter body: The work; it is given what takes the text to show.
  static func run<Result: Sendable>(
    _ line: inout ProgressLine, isShown: Bool,
    _ body: @escaping @Sendable (_ say: @escaping @Sendable (String) -> Void) throws -> Result
  ) throws -> Result {
    guard isShown else { return try body { _ in } }
    let state = State<Result>()
    let done = DispatchSemaphore(value: 0)
    DispatchQueue.global().async {
      let result = Swift.Result { try body { text in state.text.withLock { $0 = text } } }
      state.result.withLock { $0 = result }
      done.signal()
    }
    while done.wait(timeout: .now() + interval) == .timedOut { show(state.text.withLock { $0 }, &line) }
    show(state.text.withLock { $0 }, &line)
    guard let result = state.result.withLock({ $0 }) else { throw CancellationError() }
    return try result.get()
  }

  private static func show(_ text: String, _ line: inout ProgressLine) {
    if !text.isEmpty { line.show(text) }
  }

  private static let interval = 0.1
}
