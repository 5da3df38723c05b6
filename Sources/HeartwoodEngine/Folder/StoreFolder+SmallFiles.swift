import HeartwoodFiles

extension StoreFolder {
  /// The content of a small file; nil if it is missing.
  ///
  /// - Parameters:
  ///   - subject: A name for the file, for errors.
  ///   - remedy: The advice about a damaged one, for the error.
  ///   - limit: The most bytes that are read.
  ///   - decode: Nil for bytes that a store does not write.
  /// - Throws: `.damaged` if the file is not one that a store writes.
  func content<Content>(
    of name: String, _ subject: String, remedy: String, upTo limit: Int? = nil,
    decode: (UnsafeRawBufferPointer) -> Content?
  ) throws(EngineError) -> Content? {
    let bytes: [UInt8]?
    do {
      bytes = try directory.contents(of: name, upTo: limit)
    } catch {
      throw EngineError.files(error, "\(subject) could not be read")
    }
    guard let bytes else { return nil }
    if let content = bytes.withBytes({ decode($0) }) { return content }
    throw EngineError.damaged("\(subject) is damaged; \(remedy)", file: path(of: name))
  }
}
