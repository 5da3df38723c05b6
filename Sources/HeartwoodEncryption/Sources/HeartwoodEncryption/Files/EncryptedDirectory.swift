import Crypto
import Foundation
import HeartwoodFiles
import Synchronization

/// A directory of sealed files.
final class EncryptedDirectory: Directory, @unchecked Sendable {
  private let base: any Directory
  let context: EncryptionContext
  private let lock = NSLock()
  /// The key of the store in the directory. Guarded by `lock`.
  private var storeKey: SymmetricKey?

  init(_ base: any Directory, _ context: EncryptionContext) throws(FileSystemError) {
    self.base = base
    self.context = context
    // A wrong key is noticed before a file is.
    storeKey = try readStoreKey()
  }

  var path: String { base.path }

  // MARK: The store's key

  private func readStoreKey() throws(FileSystemError) -> SymmetricKey? {
    guard let wrapped = try KeyFile.read(in: base) else { return nil }
    return try context.keys(path) { try context.keyring.unwrap(wrapped) }
  }

  /// The key of the store in the directory.
  ///
  /// - Throws: `.notEncrypted` if there is none.
  func keyOfStore() throws(FileSystemError) -> SymmetricKey {
    if let key = lock.withLock({ storeKey }) { return key }
    guard let key = try readStoreKey() else {
      throw FileSystemError(.notEncrypted, .open, path: path)
    }
    lock.withLock { storeKey = key }
    return key
  }

  /// Makes a key if the directory has none, before the first file of a store is made.
  private func prepareKey() throws(FileSystemError) {
    guard lock.withLock({ storeKey }) == nil else { return }
    if let key = try readStoreKey() { return lock.withLock { storeKey = key } }
    guard try !base.entries().contains("anchor") else {
      throw FileSystemError(.notEncrypted, .open, path: path)
    }
    let (key, wrapped) = try context.keys(path) { try context.keyring.makeKey() }
    try KeyFile.write(wrapped, in: base, context.entropy)
    lock.withLock { storeKey = key }
  }

  // MARK: Files

  func open(_ name: String, _ mode: OpenMode) throws(FileSystemError) -> any File {
    try check(name)
    if name == PlainFile.shared { return PlainCountersFile(try base.open(name, mode), context) }
    let kind = FileKind(name)
    if kind.isOfStore, mode == .createNew { try prepareKey() }
    return try opened(base.open(name, mode), kind, isNew: mode == .createNew)
  }

  func create(_ name: String, like other: String) throws(FileSystemError) -> any File {
    try check(name)
    if name == PlainFile.shared { return PlainCountersFile(try base.create(name, like: other), context) }
    let kind = FileKind(name)
    if kind.isOfStore { try prepareKey() }
    return try opened(base.create(name, like: other), kind, isNew: true)
  }

  private func opened(_ file: any File, _ kind: FileKind, isNew: Bool) throws(FileSystemError) -> any File {
    do throws(FileSystemError) {
      return try EncryptedFile(file, kind, isNew: isNew, self)
    } catch {
      try? file.close()
      throw error
    }
  }

  func entries() throws(FileSystemError) -> [String] { try base.entries().filter { !KeyFile.isFile($0) } }

  func rename(_ name: String, to newName: String) throws(FileSystemError) {
    try check(newName)
    // The kind of file that the name states is sealed with it.
    guard FileKind(name) == FileKind(newName), name != PlainFile.shared, newName != PlainFile.shared else {
      throw FileSystemError(.unsupported, .rename, path: path + "/" + newName)
    }
    try base.rename(name, to: newName)
  }

  func unlink(_ name: String) throws(FileSystemError) {
    try base.unlink(name)
    // The mark of a removal is the last file of a store.
    guard name == "anchor.removed" else { return }
    lock.withLock { storeKey = nil }
    do throws(FileSystemError) { try base.unlink(KeyFile.name) } catch {
      guard error.code == .notFound else { throw error }
    }
  }

  /// Refuses names that files of keys have.
  private func check(_ name: String) throws(FileSystemError) {
    guard KeyFile.isFile(name) else { return }
    throw FileSystemError(.unsupported, .open, path: path + "/" + name)
  }

  // MARK: The directory

  func isInPlace() throws(FileSystemError) -> Bool { try base.isInPlace() }

  /// Another one than that of the plain directory: a store that is open without a key is not the one that is opened with it.
  func identity() throws(FileSystemError) -> DirectoryIdentity? {
    guard var identity = try base.identity() else { return nil }
    identity.number ^= FileHeader.magic
    return identity
  }

  func status() throws(FileSystemError) -> FileStatus? { try base.status() }

  func status(of name: String) throws(FileSystemError) -> FileStatus? {
    guard var status = try base.status(of: name) else { return nil }
    if name != PlainFile.shared {
      status.size = FileLayout(slots: FileKind(name).slots).plainSize(of: status.size)
    }
    return status
  }

  func availableBytes() throws(FileSystemError) -> Int64? { try base.availableBytes() }

  func sync() throws(FileSystemError) { try base.sync() }

  func watch() throws(FileSystemError) -> (any DirectoryWatch)? { try base.watch() }
}
