import HeartwoodFiles

extension Directory {
  /// The bytes of a small file; nil if it is missing.
  ///
  /// - Parameter count: The greatest number of bytes to read; nil for all.
  func contents(of name: String, upTo count: Int? = nil) throws(FileSystemError) -> [UInt8]? {
    let file: any File
    do {
      file = try open(name, .readOnly)
    } catch {
      if error.code == .notFound { return nil }
      throw error
    }
    defer { try? file.close() }
    let size = try Int(clamping: file.size())
    return try file.bytes(min(size, count ?? size), at: 0)
  }
}
