import HeartwoodEngine

/// The steps of a command that copies until it is stopped.
struct RepeatedSteps {
  private let console: any Console

  init(_ console: any Console) { self.console = console }

  /// Errors that may pass when the step is repeated.
  private static let passing: Set<EngineError.Code> = [.locked, .notFound, .noSpace, .readOnly, .inputOutput]

  /// Runs steps, and prints what each has done.
  ///
  /// - Parameter steps: Calls its argument after each step; ends when that returns false.
  /// - Throws: The first error that repeating does not help.
  func run<Report>(
    _ steps: ((Result<Report, EngineError>) -> Bool) -> Void, _ text: @escaping (Report) -> String
  ) throws {
    var failure: (any Error)?
    var note: String?
    steps { outcome in
      do {
        try console.writeLine(text(try outcome.get()))
        try console.flush()
        note = nil
      } catch let error as EngineError where Self.passing.contains(error.code) {
        if note != "\(error)" { console.writeNote("heartwood: \("\(error)".escapingControls)\n") }
        note = "\(error)"
      } catch {
        failure = error
      }
      return failure == nil
    }
    if let failure { throw failure }
  }
}
