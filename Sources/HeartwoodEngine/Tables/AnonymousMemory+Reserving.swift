import HeartwoodFiles

extension AnonymousMemory {
  /// Reserves memory that uses only address space until it is touched.
  static func reserving(_ count: Int, for path: String) throws(EngineError) -> AnonymousMemory {
    do {
      return try AnonymousMemory(byteCount: count)
    } catch {
      throw EngineError(
        .inputOutput, "the file could not be opened: \(EngineError.tooFewAddresses)", file: path,
        underlying: error)
    }
  }
}
