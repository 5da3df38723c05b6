import HeartwoodEngine

/// What the engine reports, in the graph's words. The engine's own error stays underneath.
extension HeartwoodError {
  static func engine(_ error: EngineError, _ what: String, _ code: Code) -> HeartwoodError {
    HeartwoodError(
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

  /// Runs something of the engine, and puts its errors into words.
  static func translating<Result>(
    _ what: String, _ code: Code = .persistentStoreOperation, _ body: () throws -> Result
  ) throws -> Result {
    do {
      return try body()
    } catch let error as EngineError {
      throw engine(error, what, code)
    }
  }

  static func damagedStore(_ message: String) -> HeartwoodError {
    HeartwoodError(.persistentStoreDamaged, "\(message); verify the store")
  }
}
