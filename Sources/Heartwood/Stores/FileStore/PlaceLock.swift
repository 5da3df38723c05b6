import Foundation
import HeartwoodFiles

/// A lock on the place of a store that is not a folder, for work that opens and saves it several times, such as a migration in stages. Others
/// may open and save the store meanwhile; only one has this lock.
///
/// It is the lock of a hidden file beside the store, which is there while the lock is held.
final class PlaceLock: Sendable {
  private let directory: any Directory
  private let name: String
  private let file: Guarded<(any File)?>

  private init(_ directory: any Directory, _ name: String, _ file: any File) {
    self.directory = directory
    self.name = name
    self.file = Guarded(file)
  }

  /// Waits for the lock.
  ///
  /// - Parameters:
  ///   - path: The place of the store.
  ///   - timeout: Seconds to wait for others that have the lock.
  ///   - fileSystem: The file system of the store.
  /// - Throws: `.persistentStoreTimeout` if another has the lock for all of `timeout`; `.migration` for errors of the file system.
  static func acquire(
    at path: String, timeout: Double, _ fileSystem: any FileSystem
  ) throws(HeartwoodError) -> PlaceLock {
    let (parent, store) = try StoreFile.parts(of: path)
    do throws(FileSystemError) {
      let directory = try fileSystem.openDirectory(parent)
      let name = name(of: store)
      if let file = try locked(name, directory, timeout) { return PlaceLock(directory, name, file) }
    } catch {
      throw HeartwoodError(
        .migration, "the place of the store at \(path) could not be locked: \(StoreFile.reason(error))",
        underlying: error)
    }
    throw HeartwoodError(
      .persistentStoreTimeout,
      "the store at \(path) is being migrated elsewhere, in this program or another; try again when that is done"
    )
  }

  private static func name(of store: String) -> String { ".\(store).migration" }

  /// - Returns: Nil if another has the lock.
  private static func locked(
    _ name: String, _ directory: any Directory, _ timeout: Double
  ) throws(FileSystemError) -> (any File)? {
    var backoff = Backoff(seconds: timeout)
    repeat {
      guard let (file, _) = try StoreFileLock.open(name, directory, mayCreate: true) else { return nil }
      // Its former holder may have removed it before it was locked here.
      if try file.tryLock(.exclusive), try directory.leads(name, to: file) { return file }
      try file.close()
    } while backoff.wait()
    return nil
  }

  /// Removes the file that a process has left that was killed while it had the lock.
  static func removeRemains(at path: String, _ fileSystem: any FileSystem) {
    guard let (parent, store) = try? StoreFile.parts(of: path),
      let directory = try? fileSystem.openDirectory(parent),
      (try? directory.open(name(of: store), .readOnly).close()) != nil
    else { return }
    (try? acquire(at: path, timeout: 0, fileSystem))?.release()
  }

  /// Lets others have the lock.
  func release() {
    file.withLock { file in
      guard let held = file else { return }
      file = nil
      // While it is locked.
      try? directory.unlink(name)
      try? held.close()
    }
  }

  deinit { release() }
}
