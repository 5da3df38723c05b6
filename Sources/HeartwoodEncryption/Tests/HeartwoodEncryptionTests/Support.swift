import Crypto
import Foundation
import HeartwoodEncryption
import HeartwoodEngine
import HeartwoodFaults
import HeartwoodFiles
import Synchronization
import Testing

/// Keys of tests.
enum Keys {
  static let right = MasterKey(bytes: [UInt8](repeating: 7, count: 32))
  static let wrong = MasterKey(bytes: [UInt8](repeating: 8, count: 32))
  static let cheap = MasterKey.PasswordCost(rounds: 4, blockSize: 1)
}

extension MasterKey {
  /// The one that most tests use.
  static var test: MasterKey { Keys.right }
}

/// Notes each pair of key and nonce that is used for sealing, of all files and all images of a disk.
final class RecordingCipher: BlockCipher {
  private let base: any BlockCipher
  let notes: SealNotes

  init(_ base: any BlockCipher, _ notes: SealNotes) {
    self.base = base
    self.notes = notes
  }

  func seal(
    _ bytes: UnsafeRawBufferPointer, key: SymmetricKey, nonce: UnsafeRawBufferPointer,
    address: UnsafeRawBufferPointer, into target: UnsafeMutableRawBufferPointer,
    tag: UnsafeMutableRawBufferPointer
  ) throws {
    notes.note(key, nonce)
    try base.seal(bytes, key: key, nonce: nonce, address: address, into: target, tag: tag)
  }

  func open(
    _ sealed: UnsafeRawBufferPointer, tag: UnsafeRawBufferPointer, key: SymmetricKey,
    nonce: UnsafeRawBufferPointer, address: UnsafeRawBufferPointer,
    into target: UnsafeMutableRawBufferPointer
  ) -> Bool {
    base.open(sealed, tag: tag, key: key, nonce: nonce, address: address, into: target)
  }
}

/// The pairs of key and nonce that were used.
final class SealNotes: Sendable {
  private let pairs = Mutex<Set<[UInt8]>>([])
  private let repeated = Mutex(0)

  func note(_ key: SymmetricKey, _ nonce: UnsafeRawBufferPointer) {
    let pair = key.withUnsafeBytes { Array($0) } + Array(nonce)
    if !pairs.withLock({ $0.insert(pair).inserted }) { repeated.withLock { $0 += 1 } }
  }

  var count: Int { pairs.withLock(\.count) }
  var repeatedCount: Int { repeated.withLock { $0 } }

  /// A file system whose seals are noted.
  func fileSystem(over base: any FileSystem, key: MasterKey = .test) -> EncryptedFileSystem {
    EncryptedFileSystem(
      over: base, key: key, cipher: { RecordingCipher($0.cipher, self) }, entropy: SystemEntropy())
  }
}

/// A folder that is removed when it is released.
final class TemporaryFolder {
  let path: String

  init() throws {
    path = NSTemporaryDirectory() + "heartwood-encryption-\(UUID().uuidString)"
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
  }

  deinit { try? FileManager.default.removeItem(atPath: path) }

  /// All files below the folder with their bytes.
  func files(_ part: String = "") throws -> [String: Data] {
    let root = path + part
    var files: [String: Data] = [:]
    for name in try FileManager.default.subpathsOfDirectory(atPath: root) {
      var isFolder: ObjCBool = false
      guard FileManager.default.fileExists(atPath: "\(root)/\(name)", isDirectory: &isFolder),
        !isFolder.boolValue
      else { continue }
      files[name] = try Data(contentsOf: URL(fileURLWithPath: "\(root)/\(name)"))
    }
    return files
  }
}

/// Options of small deterministic stores.
func smallOptions() -> EngineOptions {
  EngineOptions(
    segmentBytes: 64 << 10, worker: InlineWorker(), clock: SimulatedClock(), entropy: SeededEntropy(seed: 1))
}

/// The code of the error that a call throws.
func code(_ body: () throws -> Void) -> EngineError.Code? {
  do {
    try body()
    return nil
  } catch {
    return (error as? EngineError)?.code
  }
}

/// The code of the file system's error that a call throws.
func fileCode(_ body: () throws -> Void) -> FileSystemError.Code? {
  do {
    try body()
    return nil
  } catch {
    return (error as? FileSystemError)?.code
  }
}

/// All keys and values of a store.
func contents(_ engine: Engine) throws -> [[UInt8]: [UInt8]] {
  var rows: [[UInt8]: [UInt8]] = [:]
  try engine.read { snapshot in
    try snapshot.scan(KeyRange.all) { key, value in
      rows[Array(key)] = Array(value)
      return true
    }
  }
  return rows
}

extension Directory {
  /// All bytes of a file.
  func bytes(of name: String) throws -> [UInt8] {
    let file = try open(name, .readOnly)
    defer { try? file.close() }
    var bytes = [UInt8](repeating: 0, count: Int(try file.size()))
    let count = try bytes.withUnsafeMutableBytes { try file.readFully(into: $0, at: 0) }
    return Array(bytes.prefix(count))
  }

  /// Writes bytes of a file that exists.
  func overwrite(_ name: String, at offset: Int, _ bytes: [UInt8]) throws {
    let file = try open(name, .readWrite)
    try bytes.withUnsafeBytes { try file.writeFully($0, at: Int64(offset)) }
    try file.sync(.full)
    try file.close()
  }

  /// Makes a file of the bytes, in place of another one.
  func put(_ name: String, _ bytes: [UInt8]) throws {
    try? unlink(name)
    let file = try open(name, .createNew)
    try bytes.withUnsafeBytes { try file.writeFully($0, at: 0) }
    try file.sync(.full)
    try file.close()
    try sync()
  }
}
