import Foundation
import Heartwood
import HeartwoodAppleStores
import HeartwoodEngine
import HeartwoodFiles
import HeartwoodSQLite

/// Converts errors of the graph to the message and exit status of the command.
enum GraphFailure {
  /// Runs `body` and converts its errors to failures that name the store at `path`.
  static func catching<Result>(
    _ path: String, _ body: () throws -> Result
  ) throws(CommandFailure) -> Result {
    do {
      return try body()
    } catch let failure as CommandFailure {
      throw failure
    } catch {
      throw failure(error, path)
    }
  }

  static func failure(_ error: any Error, _ path: String) -> CommandFailure {
    let text = inOptions(shortened(message(of: error, path)))
    return CommandFailure(
      exitCode(of: error), text.contains(URL(fileURLWithPath: path).path) ? text : "\(path): \(text)",
      isDamage: isDamage(error))
  }

  /// A message with the options of the command in place of the names of requests.
  static func inOptions(_ message: String) -> String {
    [
      ("propertiesToFetch", "--columns"), ("propertiesToGroupBy is nil", "--group-by is missing"),
      ("propertiesToGroupBy", "--group-by"),
      ("havingPredicate", "--having"), ("give it one with withSubstitutionVariables, or name it", "name it"),
      ("; or join the relationship", ""), ("give it one with orderedBy", "give it one with ORDER BY"),
    ].reduce(message) { $0.replacing($1.0, with: $1.1) }
  }

  /// Shortens URIs to the short names used in results. The message names the store by its path instead.
  private static func shortened(_ text: String) -> String {
    text.replacing(/x-coredata:\/\/[0-9A-F-]{36}\//, with: "")
  }

  private static func isDamage(_ error: any Error) -> Bool {
    if let error = error as? EngineError { return error.code == .damaged }
    guard let error = error as? HeartwoodError else { return false }
    return error.code == .persistentStoreDamaged || error.underlying.map(isDamage) ?? false
  }

  private static func message(of error: any Error, _ path: String) -> String {
    if let error = error as? EngineError { return message(of: error, path) }
    guard let error = error as? HeartwoodError else { return "\(error)" }
    // A command has no object to refresh.
    if error.code == .persistentStoreChanged, let cause = error.underlying as? HeartwoodError {
      return message(of: cause, path)
    }
    if let cause = error.underlying, error.message.hasSuffix(": \(cause)") {
      let doing = error.message.dropLast("\(cause)".count)
      if let cause = cause as? FileSystemError { return doing + cause.code.rawValue }
      // The message starts with the store's path, so the phrase about the opening is redundant.
      if let cause = cause as? EngineError {
        return (doing.hasSuffix(" could not be opened: ") ? "" : doing) + message(of: cause, path)
      }
    }
    guard error.message.isEmpty, let cause = error.underlying else { return error.message }
    return message(of: cause, path)
  }

  /// The message of the engine without the store's own path. A file in the store is given by its name.
  private static func message(of error: EngineError, _ path: String) -> String {
    let name = error.file.map { URL(fileURLWithPath: $0).lastPathComponent }
    let isStore = name == URL(fileURLWithPath: path).lastPathComponent
    let place = name.map { $0 + (error.offset.map { " at byte \($0)" } ?? "") }
    // The reason of the others is in the message.
    let cause = error.code == .inputOutput ? (error.underlying as? FileSystemError)?.code.rawValue : nil
    return error.message + (isStore ? "" : place.map { " (\($0))" } ?? "") + (cause.map { ": \($0)" } ?? "")
  }

  /// The exit code of the deepest cause that has a specific one, otherwise that of the error itself.
  static func exitCode(of error: any Error) -> ExitCode {
    if let error = error as? FileSystemError { return exitCode(error.code) }
    if let error = error as? SQLiteError {
      return error.code == .invalidArgument ? .cannotCreate : .inputOutput
    }
    if let error = error as? EngineError {
      if let cause = error.underlying as? FileSystemError { return exitCode(cause.code) }
      return exitCode(error.code)
    }
    guard let error = error as? HeartwoodError else { return .softwareError }
    if let cause = error.underlying, cause is EngineError || cause is FileSystemError {
      return exitCode(of: cause)
    }
    return exitCode(error.code)
  }

  private static func exitCode(_ code: FileSystemError.Code) -> ExitCode {
    switch code {
    case .permissionDenied, .readOnlyFileSystem: .noPermission
    case .notFound: .noInput
    case .alreadyExists: .cannotCreate
    case .notADirectory, .notARegularFile: .dataError
    case .tooManyOpenFiles, .outOfMemory: .temporaryFailure
    default: .inputOutput
    }
  }

  private static func exitCode(_ code: EngineError.Code) -> ExitCode {
    switch code {
    case .locked, .outcomeUnknown: .temporaryFailure
    case .readOnly: .noPermission
    case .notFound, .generationUnavailable: .noInput
    case .exists: .cannotCreate
    case .noSpace, .inputOutput, .stopped: .inputOutput
    case .closed, .nestedWrite: .softwareError
    default: .dataError
    }
  }

  private static func exitCode(_ code: HeartwoodError.Code) -> ExitCode {
    switch code {
    case .managedObjectReferentialIntegrity: .noInput
    case .managedObjectMerge, .persistentStoreChanged: .temporaryFailure
    case .persistentStoreSave, .persistentStoreOperation: .inputOutput
    default: .dataError
    }
  }
}
