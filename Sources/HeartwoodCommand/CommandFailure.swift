/// The exit status of the command: the values of `sysexits`, and 1 for a store that failed verification.
enum ExitCode: Int32 {
  case success = 0
  case verificationFailed = 1
  case usage = 64
  case dataError = 65
  case noInput = 66
  case unavailable = 69
  case softwareError = 70
  case cannotCreate = 73
  case inputOutput = 74
  case temporaryFailure = 75
  case noPermission = 77
}

/// The reason why a command failed, as the line that the user reads.
struct CommandFailure: Error, Equatable {
  let code: ExitCode
  let message: String
  /// Whether the failure reports damaged data in a store.
  let isDamage: Bool
  /// Whether the store was migrated by another program since it was opened.
  var isOfFormerModel = false

  init(_ code: ExitCode, _ message: String, isDamage: Bool = false) {
    self.code = code
    self.message = message
    self.isDamage = isDamage
  }

  static func usage(_ message: String) -> CommandFailure { CommandFailure(.usage, message) }
  static func data(_ message: String) -> CommandFailure { CommandFailure(.dataError, message) }
}
