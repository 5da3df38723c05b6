import Heartwood
import HeartwoodEngine
import HeartwoodFaults
import HeartwoodFiles

extension EngineError {
  /// Whether the error reports a failure of the disk and names the file or folder.
  var isClear: Bool {
    let kinds: Set<Code> = [.inputOutput, .noSpace, .outcomeUnknown, .stopped, .readOnly]
    return kinds.contains(code) && !message.isEmpty && (file != nil || underlying != nil)
  }
}

/// Throws a finding if an error does not report a failure of the disk with its file or folder.
func requireClear(_ error: any Error, _ comment: @autoclosure () -> String) throws {
  switch error {
  case let error as EngineError: try require(error.isClear, "\(comment()): not clear: \(error)")
  case let error as HeartwoodError:
    try require(
      error.engineError != nil && error.message.contains(Session.path), "\(comment()): not clear: \(error)")
  default: throw error
  }
}

extension HeartwoodError {
  /// The underlying error of the engine, at any depth.
  var engineError: EngineError? {
    underlying as? EngineError ?? (underlying as? HeartwoodError)?.engineError
  }
}

/// Throws a finding if a file of a disk is still open or locked.
func requireNothingOpen(_ disk: SimulatedFileSystem, _ comment: @autoclosure () -> String) throws {
  try require(disk.openFileCount == 0, "\(comment()): \(disk.openFileCount) files are still open")
  try require(disk.lockCount == 0, "\(comment()): \(disk.lockCount) files are still locked")
}
