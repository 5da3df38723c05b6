import Foundation
import HeartwoodEngine

/// Translation of engine errors. The engine's error becomes `underlying`.
extension HeartwoodError {
  static func engine(_ error: EngineError, _ what: String, _ code: Code) -> HeartwoodError {
    if error.code == .notAStore, let kind = error.file.flatMap(ForeignFile.kind(at:)) {
      return HeartwoodError(code, "\(what): \(kind)", underlying: error)
    }
    return HeartwoodError(
      specialCode(error.code) ?? code, "\(what): \(error)", underlying: error,
      isOutcomeUnknown: error.isOutcomeUnknown)
  }

  private static func specialCode(_ code: EngineError.Code) -> Code? {
    switch code {
    case .damaged: .persistentStoreDamaged
    case .otherContent: .persistentStoreIncompatibleSchema
    default: nil
    }
  }

  /// A save to a store that is open for reading only.
  static func openReadOnly(_ place: String) -> HeartwoodError {
    HeartwoodError(
      .persistentStoreSave, "the store at \(place) is open read-only; open it for writing to save",
      underlying: CocoaError(.fileWriteNoPermission))
  }

  /// Runs `body` and translates the engine errors that it throws. Other errors pass unchanged.
  ///
  /// - Parameter what: what failed, the beginning of the message.
  static func translating<Result>(
    _ what: String, _ code: Code = .persistentStoreOperation, _ body: () throws -> Result
  ) throws -> Result {
    do {
      return try body()
    } catch let error as EngineError {
      throw engine(error, what, code)
    }
  }

  /// Runs the opening of an engine. If another process or engine held the store for too long, the error says so by its code.
  static func opening<Result>(_ path: String, _ body: () throws -> Result) throws -> Result {
    do {
      return try body()
    } catch let error as EngineError where error.code == .locked {
      throw engine(error, "the store at \(path) could not be opened", .persistentStoreTimeout)
    }
  }
}
