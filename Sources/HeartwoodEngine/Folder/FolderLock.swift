import HeartwoodFiles

/// A lock on a store's folder for work that opens the store several times, such as a migration in stages. Others may open and use the store
/// meanwhile; only one has this lock.
package final class FolderLock: Sendable {
  private let file: Guarded<(any File)?>

  /// Waits for the lock.
  ///
  /// - Parameters:
  ///   - path: The folder of a store, which exists. If another one takes its place meanwhile, the lock is on that one.
  ///   - busyTimeout: Seconds to wait for others that have the lock.
  ///   - fileSystem: The file system of the folder.
  /// - Throws: `.locked` if another has the lock for all of `busyTimeout`; `.notFound` if there is no folder; errors of the file system.
  package init(
    at path: String, busyTimeout: Double, fileSystem: any FileSystem = PosixFileSystem()
  ) throws(EngineError) {
    file = Guarded(try Self.locked(path, busyTimeout, fileSystem))
  }

  private static func locked(
    _ path: String, _ busyTimeout: Double, _ fileSystem: any FileSystem
  ) throws(EngineError) -> any File {
    var backoff = Backoff(seconds: busyTimeout)
    do throws(FileSystemError) {
      repeat {
        let directory = try fileSystem.openDirectory(path)
        let file = try ProcessAttachment.open(ProcessAttachment.migrationName, directory)
        if try file.tryLock(.exclusive), try directory.isInPlace() { return file }
        try file.close()
      } while backoff.wait()
    } catch {
      throw EngineError.files(error, "the store's folder could not be locked")
    }
    throw ProcessAttachment.busy(
      path, "the store is being migrated elsewhere, in this program or another; try again when that is done")
  }

  /// Lets others have the lock.
  package func release() {
    file.withLock { file in
      try? file?.close()
      file = nil
    }
  }

  deinit { release() }
}
