import HeartwoodEngine
import HeartwoodFiles

/// Operations on whole files.
extension StoreFile {
  /// A file that is to be written for the first time.
  ///
  /// - Throws: `.persistentStoreOperation` if there is a file with bytes.
  static func toCreate(
    _ format: StoreFileFormat, at path: String, _ options: LogStoreOptions
  ) throws -> StoreFile {
    let file = try replacing(format, at: path, options)
    guard file.isNew else {
      throw HeartwoodError(
        .persistentStoreOperation,
        "something is at \(path) already; nothing was changed; remove it, or choose another place")
    }
    return file
  }

  /// A file whose contents are to be replaced, whatever they are.
  static func replacing(
    _ format: StoreFileFormat, at path: String, _ options: LogStoreOptions
  ) throws -> StoreFile {
    try changing(path, options) { directory, name in
      let digest = try Self.digest(of: name, directory) ?? .empty
      return try StoreFile(path, format, options, known: digest, saves: 0)
    }
  }

  /// Removes a store's file, and what saves that were killed have left beside it. Does nothing if there is none.
  ///
  /// - Throws: `.persistentStoreOperation` if the file is no store of this form, `.persistentStoreTimeout` if it is being saved.
  static func destroy(
    _ format: StoreFileFormat, at path: String, _ options: LogStoreOptions, isForced: Bool
  ) throws {
    try changing(path, options) { directory, name in
      let size = try Self.digest(of: name, directory)?.count
      guard let size else { return }
      guard size == 0 || self.format(at: path, options.fileSystem) == format else {
        throw HeartwoodError(
          .persistentStoreOperation, "the file at \(path) is no \(format.rawValue) store; nothing was removed"
        )
      }
      let file = try StoreFile(path, format, options, known: .empty, saves: 0)
      let lock = isForced ? nil : try file.locked(directory, mayCreate: false)
      defer { try? lock?.close() }
      file.removeTemporaries(directory)
      try directory.unlink(name)
      try directory.sync()
    }
  }

  private static func changing<Result>(
    _ path: String, _ options: LogStoreOptions, _ body: (any Directory, String) throws -> Result
  ) throws -> Result {
    let (directory, name) = try parts(of: path)
    do {
      return try body(try options.fileSystem.openDirectory(directory), name)
    } catch let error as FileSystemError {
      throw HeartwoodError(
        .persistentStoreOperation, "the store at \(path) could not be changed: \(error)", underlying: error)
    }
  }
}
