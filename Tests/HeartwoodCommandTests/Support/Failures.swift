import Testing

@testable import HeartwoodCommand

/// The message of the failure that `body` throws.
func failure(
  _ code: ExitCode = .dataError, sourceLocation: SourceLocation = #_sourceLocation, _ body: () throws -> Void
) -> String {
  do {
    try body()
  } catch let failure as CommandFailure {
    #expect(failure.code == code, sourceLocation: sourceLocation)
    return failure.message
  } catch {
    return "not a command failure: \(error)"
  }
  return "nothing was thrown"
}
