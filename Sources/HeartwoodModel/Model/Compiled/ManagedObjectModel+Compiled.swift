import Foundation

extension ManagedObjectModel {
  /// The model that Apple's tools have compiled, or that Core Data has put into a store: its bytes, compressed or not.
  ///
  /// - Parameters:
  ///   - data: The file, or what a store's `Z_MODELCACHE` has.
  ///   - file: Its name in messages.
  ///   - report: Called with a sentence for each thing that the model does not have, or has otherwise.
  /// - Returns: A model that is in use.
  /// - Throws: `.coreData` if it is no model, or not a valid one.
  package convenience init(
    compiled data: Data, file: String, reporting report: (String) -> Void = { _ in }
  ) throws(HeartwoodError) {
    var reader = CompiledModelReader(file: file)
    let document = try reader.document(of: CompiledModelReader.archive(data, file: file))
    reader.notes.forEach(report)
    guard reader.mistakes.isEmpty else {
      throw HeartwoodError(
        .coreData, "the model in \(file) is not valid: \(reader.mistakes.joined(separator: "; "))")
    }
    do {
      try self.init(document)
    } catch {
      throw HeartwoodError(
        .coreData, "the model in \(file) is not valid: \(error.message)", details: error.details,
        underlying: error)
    }
  }
}
