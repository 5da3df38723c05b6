import Crypto
import Foundation
import HeartwoodFiles

extension EncryptedFileSystem {
  private static let copiedBytes = 1 << 20

  // MARK: Another master key

  /// Gives a store another master key. The store's own key stays, so that only the block with it is written again; programs that have the store
  /// open go on.
  ///
  /// A copy of the former block still opens with the former key. If that has become known, `rekeyStore(at:)` too.
  ///
  /// - Parameters:
  ///   - path: The folder of the store.
  ///   - key: The new master key. This file system opens the store no more.
  /// - Throws: `.wrongKey`, `.notEncrypted`, and errors of the file system. The store has one key or the other then.
  public func changeKey(ofStoreAt path: String, to key: MasterKey) throws(FileSystemError) {
    let directory = try base.openDirectory(path)
    guard let wrapped = try KeyFile.read(in: directory) else {
      throw FileSystemError(.notEncrypted, .open, path: path)
    }
    let storeKey = try context.keys(path) { try context.keyring.unwrap(wrapped) }
    let keyring = Keyring(key, context.entropy)
    try KeyFile.write(
      context.keys(path) { try keyring.wrap(storeKey) }, in: directory, context.entropy)
  }

  /// Gives a store of one file another master key: the file is written with another header, and takes the place of the former.
  ///
  /// - Parameters:
  ///   - path: The file of the store, which no program may have open for saving.
  ///   - key: The new master key. This file system opens the file no more.
  /// - Throws: `.wrongKey`, `.notEncrypted`, `.notAuthentic`, `.inUse`, and errors of the file system. The file is as before then.
  /// - Complexity: Linear in the bytes of the file.
  public func changeKey(ofFileAt path: String, to key: MasterKey) throws(FileSystemError) {
    let (directory, name) = try parts(of: path)
    try replacing(name, in: directory) { (file, new) throws(FileSystemError) in
      guard var header = FileHeader(try file.bytes(FileHeader.byteCount, at: 0)),
        let wrapped = header.wrapped
      else { throw FileSystemError(.notEncrypted, .open, path: path) }
      let fileKey = try context.keys(path) { try context.keyring.unwrap(wrapped) }
      guard header.isAuthentic(header.fileKey(fileKey)) else {
        throw FileSystemError(.notAuthentic, .open, path: path)
      }
      let keyring = Keyring(key, context.entropy)
      header.wrapped = try context.keys(path) { try keyring.wrap(fileKey) }
      try new.writeBytes(header.encoded(header.fileKey(fileKey)), at: 0)
      try copy(file, to: new, from: Int64(FileHeader.byteCount))
    }
  }

  // MARK: Other keys

  /// Seals all files of a store again, with a new key of the store. What was copied of the former files and keys opens nothing of the new ones.
  ///
  /// Compact the store before, so that only what is live is sealed again. The folder is replaced by another one in one step.
  ///
  /// - Parameter path: The folder of the store, which no program may have open.
  /// - Throws: `.wrongKey`, `.notEncrypted`, `.inUse`, `.unsupported` if the file system does not exchange directories, and its errors. The
  ///   store is as before then, and a folder beside it may stay, whose name ends with `.rekeying`.
  /// - Complexity: Linear in the bytes of the store.
  public func rekeyStore(at path: String) throws(FileSystemError) {
    let former = try openDirectory(path)
    guard try KeyFile.read(in: base.openDirectory(path)) != nil else {
      throw FileSystemError(.notEncrypted, .open, path: path)
    }
    let guardFile = try lockedProcesses(former)
    defer { try? guardFile?.close() }
    let beside = (path.hasSuffix("/") ? String(path.dropLast()) : path) + ".rekeying"
    try makeEmpty(beside)
    let new = try openDirectory(beside)
    for name in try former.entries() where !Self.isOfProcesses(name) {
      let file = try former.open(name, .readOnly)
      defer { try? file.close() }
      let copied = try new.open(name, .createNew)
      defer { try? copied.close() }
      try copied.takePermissions(of: file)
      try copy(file, to: copied, from: 0)
      try copied.sync(.full)
    }
    try new.sync()
    // A crash here leaves the store as before, and the folder beside it.
    try base.exchangeDirectories(path, beside)
    try makeEmpty(beside)
    if base.isOnThisMachine { try? FileManager.default.removeItem(atPath: beside) }
  }

  /// Seals a store of one file again, with a new key.
  ///
  /// - Parameter path: The file of the store, which no program may have open for saving.
  /// - Throws: As `changeKey(ofFileAt:to:)`.
  /// - Complexity: Linear in the bytes of the file.
  public func rekeyFile(at path: String) throws(FileSystemError) {
    let (directory, name) = try parts(of: path)
    let sealed = try EncryptedDirectory(directory, context)
    let former = try sealed.open(name, .readOnly)
    defer { try? former.close() }
    try replacing(name, in: directory) { (_, new) throws(FileSystemError) in
      let file = try EncryptedFile(new, .whole, isNew: true, sealed)
      try copy(former, to: file, from: 0)
      try file.endFile()
    }
  }

  // MARK: Steps

  /// Replaces a file by a new one that a function fills, while it is locked.
  private func replacing(
    _ name: String, in directory: any Directory,
    _ fill: (any File, any File) throws(FileSystemError) -> Void
  ) throws(FileSystemError) {
    let file = try directory.open(name, .readWrite)
    defer { try? file.close() }
    guard try file.tryLock(.exclusive), try directory.leads(name, to: file) else {
      throw FileSystemError(.inUse, .lock, path: name)
    }
    let digits = String(context.entropy.next(), radix: 16)
    let temporary = "\(name).\(String(repeating: "0", count: 16 - digits.count) + digits).temporary"
    let new = try directory.open(temporary, .createNew)
    defer { try? new.close() }
    do throws(FileSystemError) {
      try new.takePermissions(of: file)
      try fill(file, new)
      try new.sync(.full)
      // A crash before this leaves the former file.
      try directory.rename(temporary, to: name)
    } catch {
      try? directory.unlink(temporary)
      throw error
    }
    try directory.sync()
  }

  private func copy(_ file: any File, to other: any File, from start: Int64) throws(FileSystemError) {
    let size = try file.size()
    var offset = start
    while offset < size {
      let bytes = try file.bytes(Int(min(Int64(Self.copiedBytes), size - offset)), at: offset)
      guard !bytes.isEmpty else { throw FileSystemError(.notAuthentic, .read, path: file.name) }
      try other.writeBytes(bytes, at: offset)
      offset += Int64(bytes.count)
    }
  }

  /// The file that processes which have the store open hold a lock of; nil if none ever had.
  private func lockedProcesses(_ directory: any Directory) throws(FileSystemError) -> (any File)? {
    let file: any File
    do throws(FileSystemError) {
      file = try directory.open(PlainFile.shared, .readWrite)
    } catch {
      guard error.code == .notFound else { throw error }
      return nil
    }
    guard try file.tryLock(.exclusive) else {
      try? file.close()
      throw FileSystemError(.inUse, .lock, path: directory.path)
    }
    return file
  }

  private static func isOfProcesses(_ name: String) -> Bool {
    name == PlainFile.shared || name == "lock" || name == "migration"
  }

  /// Makes a directory, or removes the files of one.
  private func makeEmpty(_ path: String) throws(FileSystemError) {
    do throws(FileSystemError) {
      try base.createDirectory(path)
    } catch {
      guard error.code == .alreadyExists else { throw error }
      let directory = try base.openDirectory(path)
      for name in try directory.entries() { try directory.unlink(name) }
      try directory.sync()
    }
  }

  private func parts(of path: String) throws(FileSystemError) -> (any Directory, String) {
    let url = URL(fileURLWithPath: path)
    return (try base.openDirectory(url.deletingLastPathComponent().path), url.lastPathComponent)
  }
}
