import HeartwoodEngine

/// Distinguishes stores of object graphs from stores of other keys and values.
package enum GraphRecognition {
  /// Whether a store contains an object graph: whether it has a readable schema record, or one of a newer
  /// version.
  ///
  /// - Throws: `EngineError` if the store cannot be read.
  package static func holdsGraph(_ reader: some KeyValueReader) throws -> Bool {
    do {
      return try SchemaRecord(in: reader) != nil
    } catch let error as HeartwoodError {
      return error.code == .persistentStoreOpen
    }
  }
}
