import HeartwoodEngine
import HeartwoodFiles

/// Operations on whole files. Each holds the lock of the file from before it looks at it until it is done.
extension StoreFile {
  /// A file that is to be written for the first time. Its lock is held until then.
  ///
  /// - Throws: `.persistentStoreOperation` if there is a file with bytes, `.persistentStoreTimeout` if others are writing one.
  static func toCreate(
    _ format: StoreFileFormat, at path: String, _ options: LogStoreOptions
  ) throws -> StoreFile {
    let file = try replacing(format, at: path, options)
    guard file.isNew else {
      file.endPreparation()
      throw HeartwoodError(
        .persistentStoreOperation,
        "something is at \(path) already; nothing was changed; remove it, or choose another place")
    }
    return file
  }

  /// A file whose contents are to be replaced, whatever they are. Its lock is held until then.
  ///
  /// - Throws: `.persistentStoreTimeout` if others are writing it.
  static func replacing(
    _ format: StoreFileFormat, at path: String, _ options: LogStoreOptions
  ) throws -> StoreFile {
    try changing(path) {
      guard let lock = try StoreFileLock.acquire(at: path, options, mayCreate: true) else {
        throw missing(path)
      }
      do {
        return try StoreFile(path, format, options, known: try lock.digest(), saves: 0, holding: lock)
      } catch {
        lock.release()
        throw error
      }
    }
  }

  /// Removes a store's file, and what saves that were killed have left beside it. Does nothing if there is none.
  ///
  /// - Throws: `.persistentStoreOperation` if the file is no store of this form, `.persistentStoreTimeout` if it is being saved.
  static func destroy(
    _ format: StoreFileFormat, at path: String, _ options: LogStoreOptions, isForced: Bool
  ) throws {
    try changing(path) {
      let (parent, name) = try parts(of: path)
      let directory = try options.fileSystem.openDirectory(parent)
      guard try size(of: name, directory) != nil else { return }
      let lock = try isForced ? nil : StoreFileLock.acquire(at: path, options, mayCreate: false)
      defer { lock?.release() }
      // Others may have removed it meanwhile.
      guard let size = try size(of: name, directory) else { return }
      guard size == 0 || self.format(at: path, options.fileSystem) == format else {
        throw HeartwoodError(
          .persistentStoreOperation, "the file at \(path) is no \(format.rawValue) store; nothing was removed"
        )
      }
      try StoreFile(path, format, options, known: .empty, saves: 0).removeTemporaries(directory)
      try directory.unlink(name)
      try directory.sync()
    }
  }

  private static func changing<Result>(_ path: String, _ body: () throws -> Result) throws -> Result {
    do {
      return try body()
    } catch let error as FileSystemError {
      throw HeartwoodError(
        .persistentStoreOperation, "the store at \(path) could not be changed: \(reason(error))",
        underlying: error)
    }
  }

  private static func missing(_ path: String) -> HeartwoodError {
    HeartwoodError(.persistentStoreOperation, "there is no file at \(path)")
  }
}
