import HeartwoodEngine

/// Tells the stores that hold a graph from those that hold keys and values of somebody else's.
package enum GraphRecognition {
  /// Whether a store holds a graph: it has a graph's description of its model.
  ///
  /// What says that a newer version wrote it is taken for one, too.
  ///
  /// - Throws: `EngineError` where the store can't be read.
  package static func holdsGraph(_ reader: some KeyValueReader) throws -> Bool {
    do {
      return try SchemaRecord(in: reader) != nil
    } catch let error as HeartwoodError {
      return error.code == .persistentStoreOpen
    }
  }
}
