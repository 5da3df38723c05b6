import HeartwoodFiles

extension FileMap {
  /// The reserved addresses; only the bytes of the file may be read.
  var bytes: Bytes { Bytes(base, length) }
}

extension FileWindow {
  /// The bytes of the window if a copy to them is sufficient.
  var writable: WritableBytes? { base.map { WritableBytes($0, Int(range.upperBound - range.lowerBound)) } }
}

extension AnonymousMemory {
  /// All bytes. The owner of the memory keeps it.
  var writable: WritableBytes { WritableBytes(base, byteCount) }

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
