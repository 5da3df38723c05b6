import Crypto
import HeartwoodFiles

/// The file `keys` of a store's folder: the store's key, wrapped. It is written as a whole, and has its block twice.
enum KeyFile {
  static let name = "keys"
  static let magic: UInt64 = 0x4B54_5059_5243_5748
  static let blockBytes = 512

  /// Whether a name is that of the file, or of one that takes its place.
  static func isFile(_ other: String) -> Bool {
    other == name || (other.hasPrefix(name + ".") && AtomicReplacement.isTemporary(other))
  }

  /// The wrapped key of a folder; nil if there is no such file.
  ///
  /// - Throws: `.notAuthentic` if neither block is whole.
  static func read(in directory: any Directory) throws(FileSystemError) -> WrappedKey? {
    let file: any File
    do {
      file = try directory.open(name, .readOnly)
    } catch {
      guard error.code == .notFound else { throw error }
      return nil
    }
    defer { try? file.close() }
    for index in 0..<2 {
      let bytes = try file.bytes(blockBytes, at: Int64(index * blockBytes))
      if let key = parse(bytes) { return key }
    }
    throw FileSystemError(.notAuthentic, .read, path: directory.path + "/" + name)
  }

  /// Writes the file durably. After a crash it is the former one or the new one.
  static func write(
    _ key: WrappedKey, in directory: any Directory, _ entropy: any Entropy
  ) throws(FileSystemError) {
    let block = encoded(key)
    let contents = block + block
    try contents.withBytes { (bytes) throws(FileSystemError) in
      try AtomicReplacement.replace(name, in: directory, with: bytes, entropy: entropy)
    }
  }

  static func encoded(_ key: WrappedKey) -> [UInt8] {
    var writer = FieldWriter()
    writer.number(magic)
    writer.number(FileHeader.version)
    writer.number(UInt32(0))
    writer.bytes(key.encoded)
    writer.fill(to: blockBytes - 8)
    writer.bytes(checksum(writer.result))
    return writer.result
  }

  private static func parse(_ bytes: [UInt8]) -> WrappedKey? {
    guard bytes.count == blockBytes, Array(bytes.suffix(8)) == checksum(Array(bytes.dropLast(8))) else {
      return nil
    }
    var reader = FieldReader(bytes[...])
    guard reader.number(UInt64.self) == magic, reader.number(UInt32.self) == FileHeader.version else {
      return nil
    }
    return WrappedKey(bytes.dropFirst(16))
  }
}

/// The first 8 bytes of SHA-256: tells damaged bytes from those of another key.
func checksum(_ bytes: [UInt8]) -> [UInt8] { Array(SHA256.hash(data: bytes).prefix(8)) }
