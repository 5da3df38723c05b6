import Crypto
import Foundation
import HeartwoodFiles
import Synchronization

/// A file of sealed blocks.
final class EncryptedFile: File, @unchecked Sendable {
  let base: any File
  let kind: FileKind
  let layout: FileLayout
  let directory: EncryptedDirectory
  let lock = NSLock()
  /// Nil until the file has a header. Guarded by `lock`.
  private var knownCipher: FileCipher?
  /// The writes that are not yet ended, synced or remembered. Guarded by `lock`.
  var writing: BlockWriting

  var context: EncryptionContext { directory.context }
  var name: String { base.name }

  /// - Throws: `.wrongKey`, `.notEncrypted`, `.notAuthentic`.
  init(
    _ base: any File, _ kind: FileKind, isNew: Bool, _ directory: EncryptedDirectory
  ) throws(FileSystemError) {
    self.base = base
    self.kind = kind
    self.directory = directory
    layout = FileLayout(slots: kind.slots)
    writing = BlockWriting(slots: kind.slots)
    guard !isNew else { return }
    if kind.isOfStore { _ = try directory.keyOfStore() }
    knownCipher = try readHeader()
    if kind == .whole, knownCipher != nil { try checkEnd() }
  }

  // MARK: The header

  /// The cipher of the file; nil if it has no header that is whole.
  func cipher() throws(FileSystemError) -> FileCipher? {
    if let known = lock.withLock({ knownCipher }) { return known }
    guard let read = try readHeader() else { return nil }
    lock.withLock { if knownCipher == nil { knownCipher = read } }
    return lock.withLock { knownCipher }
  }

  private func readHeader() throws(FileSystemError) -> FileCipher? {
    let bytes = try base.bytes(FileHeader.byteCount, at: 0)
    guard !bytes.isEmpty else { return nil }
    guard let header = FileHeader(bytes), header.kind == kind else {
      // A header that a crash has torn: the engine finds out whether there was more.
      if kind.isOfStore { return nil }
      throw FileSystemError(FileHeader.isClaimed(bytes) ? .notAuthentic : .notEncrypted, .open, path: name)
    }
    let fileKey = header.fileKey(try keyOfFile(header))
    guard header.isAuthentic(fileKey) else {
      if kind.isOfStore { return nil }
      throw FileSystemError(.notAuthentic, .open, path: name)
    }
    return FileCipher(fileKey, context.cipher(header.algorithm))
  }

  private func keyOfFile(_ header: FileHeader) throws(FileSystemError) -> SymmetricKey {
    if kind.isOfStore { return try directory.keyOfStore() }
    guard let wrapped = header.wrapped else { throw FileSystemError(.notAuthentic, .open, path: name) }
    return try context.keys(name) { try context.keyring.unwrap(wrapped) }
  }

  /// The cipher, after making the header if there is none.
  ///
  /// - Precondition: `lock` is held.
  func cipherForWriting() throws(FileSystemError) -> FileCipher {
    if let knownCipher { return knownCipher }
    if let read = try readHeader() {
      knownCipher = read
      return read
    }
    var header = FileHeader(
      algorithm: context.algorithm, kind: kind, salt: context.keyring.random(32), wrapped: nil)
    let key: SymmetricKey
    if kind.isOfStore {
      key = try directory.keyOfStore()
    } else {
      let made = try context.keys(name) { try context.keyring.makeKey() }
      (key, header.wrapped) = made
    }
    let fileKey = header.fileKey(key)
    try base.writeBytes(header.encoded(fileKey), at: 0)
    let cipher = FileCipher(fileKey, context.cipher(header.algorithm))
    knownCipher = cipher
    return cipher
  }

  // MARK: Reading

  func size() throws(FileSystemError) -> Int64 { layout.plainSize(of: try base.size()) }

  func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws(FileSystemError) -> Int {
    let size = try size()
    guard buffer.count > 0, offset >= 0, offset < size else { return 0 }
    let count = Int(min(Int64(buffer.count), size - offset))
    let target = buffer.slice(0..<count)
    guard let cipher = try cipher() else {
      target.zero()
      return count
    }
    let blockBytes = Int64(FileLayout.blockBytes)
    let reader = BlockReader(base: base, layout: layout, cipher: cipher)
    // In parts, so that a long read takes no more memory than it returns.
    var next = offset / blockBytes
    let end = (offset + Int64(count) - 1) / blockBytes + 1
    while next < end {
      let blocks = next..<min(next + 64, end)
      try reader.read(blocks) { (block, found, bytes) throws(FileSystemError) in
        try check(found, block, size)
        let start = max(block * blockBytes, offset)
        let stop = min((block + 1) * blockBytes, offset + Int64(count))
        let piece = bytes.slice(Int(start - block * blockBytes)..<Int(stop - block * blockBytes))
        target.slice(Int(start - offset)..<Int(stop - offset)).copyMemory(from: piece)
      }
      next = blocks.upperBound
    }
    return count
  }

  /// Refuses what is not exactly what was written, in a file that is written once.
  private func check(_ found: BlockReader.Found, _ block: Int64, _ size: Int64) throws(FileSystemError) {
    guard kind == .whole else { return }
    let rest = size - block * Int64(FileLayout.blockBytes)
    let isLast = rest <= Int64(FileLayout.blockBytes)
    if case .block(let header) = found, header.length == Int(min(rest, Int64(FileLayout.blockBytes))),
      header.isEnd == isLast || lock.withLock({ writing.hasOpenEnd })
    {
      return
    }
    throw FileSystemError(.notAuthentic, .read, path: name)
  }

  /// Reads the last block, so that a file that was cut is refused when it is opened.
  private func checkEnd() throws(FileSystemError) {
    let size = try size()
    var byte: UInt8 = 0
    var failure: FileSystemError?
    withUnsafeMutableBytes(of: &byte) { buffer in
      do throws(FileSystemError) {
        guard size > 0 else { throw FileSystemError(.notAuthentic, .open, path: name) }
        _ = try read(into: buffer, at: size - 1)
      } catch {
        failure = error
      }
    }
    if let failure { throw failure }
  }

  func status() throws(FileSystemError) -> FileStatus? {
    guard var status = try base.status() else { return nil }
    status.size = layout.plainSize(of: status.size)
    return status
  }

  // MARK: The rest

  func tryLock(_ kind: LockKind) throws(FileSystemError) -> Bool {
    defer { context.lockCount.wrappingAdd(1, ordering: .acquiringAndReleasing) }
    return try base.tryLock(kind)
  }

  func unlock() throws(FileSystemError) { try base.unlock() }
  func isLocked() throws(FileSystemError) -> Bool { try base.isLocked() }

  /// Nil: the bytes of the file are not those that are read.
  func map(length: Int) throws(FileSystemError) -> (any FileMap)? { nil }

  func takePermissions(of other: any File) throws(FileSystemError) {
    try base.takePermissions(of: (other as? EncryptedFile)?.base ?? other)
  }

  func close() throws(FileSystemError) {
    do throws(FileSystemError) { try endFile() } catch {
      try? base.close()
      throw error
    }
    try base.close()
  }
}
