import HeartwoodFiles

/// The lock of the file of a store, held until it is released: who holds it alone reads the file, decides by what it has, and replaces it.
///
/// The lock is on the file that the name leads to. Who waits for the lock of a file that is replaced meanwhile acquires that of the new one.
final class StoreFileLock: Sendable {
  let directory: any Directory
  let file: any File
  private let name: String
  /// Whether the file was made for the lock, and nothing has been written.
  private let isPlaceholder: Guarded<Bool>

  /// Waits for the lock.
  ///
  /// - Parameter mayCreate: Whether an empty file is made if there is none. It is removed with the lock, if nothing has replaced it.
  /// - Returns: Nil if there is no file, and none may be made.
  /// - Throws: `.persistentStoreTimeout` if others hold it for all of the options' timeout; errors of the file system.
  static func acquire(
    at path: String, _ options: LogStoreOptions, mayCreate: Bool
  ) throws -> StoreFileLock? {
    let (parent, name) = try StoreFile.parts(of: path)
    let directory = try options.fileSystem.openDirectory(parent)
    var backoff = Backoff(seconds: options.engine.busyTimeout, guaranteedPauses: 1)
    repeat {
      guard let (file, isNew) = try open(name, directory, mayCreate: mayCreate) else { return nil }
      do {
        if try file.tryLock(.exclusive), try directory.leads(name, to: file) {
          return StoreFileLock(directory, name, file, isPlaceholder: isNew)
        }
      } catch {
        try? file.close()
        throw error
      }
      try file.close()
    } while backoff.wait()
    throw HeartwoodError(
      .persistentStoreTimeout,
      "the store at \(path) is being saved, migrated or replaced elsewhere, in this program or another; nothing was changed; try again when "
        + "that is done")
  }

  private init(_ directory: any Directory, _ name: String, _ file: any File, isPlaceholder: Bool) {
    self.directory = directory
    self.name = name
    self.file = file
    self.isPlaceholder = Guarded(isPlaceholder)
  }

  /// - Returns: The file, and whether it was made; nil if there is none.
  static func open(
    _ name: String, _ directory: any Directory, mayCreate: Bool
  ) throws(FileSystemError) -> (any File, isNew: Bool)? {
    while true {
      do throws(FileSystemError) {
        return (try directory.open(name, .readWrite), false)
      } catch {
        guard error.code == .notFound else { throw error }
      }
      guard mayCreate else { return nil }
      do throws(FileSystemError) {
        return (try directory.open(name, .createNew), true)
      } catch {
        // Another process has just created the file.
        guard error.code == .alreadyExists else { throw error }
      }
    }
  }

  /// Of all bytes of the file.
  func digest() throws -> FileDigest {
    var input = FileInput(file)
    return try input.finish()
  }

  /// Another file has the name now, or none.
  func noteReplaced() { isPlaceholder.withLock { $0 = false } }

  /// Called once, or not at all.
  func release() {
    // Before others can have the lock.
    if isPlaceholder.withLock({ $0 }) { try? directory.unlink(name) }
    try? file.close()
  }
}
