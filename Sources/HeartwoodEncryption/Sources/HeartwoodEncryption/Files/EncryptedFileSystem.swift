import HeartwoodFiles
import Synchronization

/// A file system whose files are sealed, over another one.
///
///     let files = EncryptedFileSystem(key: MasterKey(password: "…"))
///     description.fileSystem = files
///
/// Each file consists of blocks of 4096 bytes, which are encrypted and authenticated with their place; see <doc:Format>. Reads copy: there are
/// no maps, so that stores read as with `EngineOptions.Reading.buffered`. The lengths of files, their names and times are not hidden.
public struct EncryptedFileSystem: FileSystem {
  let base: any FileSystem
  let context: EncryptionContext

  /// Seals files over another file system.
  ///
  /// - Parameters:
  ///   - base: Where the sealed files are.
  ///   - key: Opens all files, and wraps the keys of new ones. No key is derived before it is needed.
  ///   - algorithm: Seals new files. Others say which one seals them.
  public init(
    over base: any FileSystem = PosixFileSystem(), key: MasterKey, algorithm: CipherAlgorithm = .aes256GCM
  ) {
    self.init(over: base, key: key, algorithm: algorithm, cipher: \.cipher, entropy: SystemEntropy())
  }

  /// As `init(over:key:algorithm:)`, for tests: with ciphers that note what they seal, and a source of all random values.
  public init(
    over base: any FileSystem, key: MasterKey, algorithm: CipherAlgorithm = .aes256GCM,
    cipher: @escaping @Sendable (CipherAlgorithm) -> any BlockCipher, entropy: any Entropy
  ) {
    self.base = base
    context = EncryptionContext(Keyring(key, entropy), algorithm, cipher, entropy)
  }

  /// Whether its paths are those of the system's own files.
  public var isOnThisMachine: Bool { base.isOnThisMachine }

  /// This file system: copies of an encrypted store are encrypted.
  public var forCopies: any FileSystem { self }

  /// Opens an existing directory.
  ///
  /// - Throws: `.wrongKey` if it has the key of a store that the master key does not open.
  public func openDirectory(_ path: String) throws(FileSystemError) -> any Directory {
    try EncryptedDirectory(base.openDirectory(path), context)
  }

  /// Makes a directory.
  public func createDirectory(_ path: String) throws(FileSystemError) { try base.createDirectory(path) }

  /// Exchanges two directories.
  public func exchangeDirectories(_ path: String, _ other: String) throws(FileSystemError) {
    try base.exchangeDirectories(path, other)
  }
}

/// The state that the files of one file system share.
final class EncryptionContext: Sendable {
  let keyring: Keyring
  let algorithm: CipherAlgorithm
  let cipher: @Sendable (CipherAlgorithm) -> any BlockCipher
  let entropy: any Entropy
  /// How many locks were acquired. What a file remembers of its blocks counts only until the next one: another process may have written
  /// before.
  let lockCount = Atomic<UInt64>(0)

  init(
    _ keyring: Keyring, _ algorithm: CipherAlgorithm,
    _ cipher: @escaping @Sendable (CipherAlgorithm) -> any BlockCipher, _ entropy: any Entropy
  ) {
    self.keyring = keyring
    self.algorithm = algorithm
    self.cipher = cipher
    self.entropy = entropy
  }

  /// Calls what makes or opens keys, and gives its errors the form of the file system's.
  func keys<Result>(
    _ path: String, _ body: () throws -> Result?
  ) throws(FileSystemError) -> Result {
    do {
      guard let result = try body() else { throw FileSystemError(.wrongKey, .open, path: path) }
      return result
    } catch let error as FileSystemError {
      throw error
    } catch {
      throw FileSystemError(
        FileSystemError.Code(rawValue: "no key: \(error)"), .open, path: path)
    }
  }
}
