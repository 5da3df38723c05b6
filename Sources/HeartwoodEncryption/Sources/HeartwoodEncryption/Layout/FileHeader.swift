import Crypto

/// The first bytes of a file: which algorithm seals it, and how its key is found.
struct FileHeader: Sendable {
  static let magic: UInt64 = 0x4654_5059_5243_5748
  static let version: UInt32 = 1
  static let byteCount = FileLayout.fileHeaderBytes
  private static let coveredBytes = 176

  var algorithm: CipherAlgorithm
  var kind: FileKind
  /// Random for each file: its key is derived with it.
  var salt: [UInt8]
  /// The file's own key, wrapped; nil in a file of a store's folder, which has one key for all.
  var wrapped: WrappedKey?
  /// The code of what precedes it, which only those who know the key can make.
  private var code: [UInt8] = []

  init(algorithm: CipherAlgorithm, kind: FileKind, salt: [UInt8], wrapped: WrappedKey?) {
    self.algorithm = algorithm
    self.kind = kind
    self.salt = salt
    self.wrapped = wrapped
  }

  /// Nil if the bytes are not a whole header of this format.
  init?(_ bytes: [UInt8]) {
    guard bytes.count == Self.byteCount, Array(bytes.suffix(8)) == checksum(Array(bytes.dropLast(8))) else {
      return nil
    }
    var reader = FieldReader(bytes[...])
    guard reader.number(UInt64.self) == Self.magic, reader.number(UInt32.self) == Self.version,
      let algorithm = CipherAlgorithm(rawValue: reader.number()),
      reader.number(UInt32.self) == UInt32(FileLayout.blockBytes)
    else { return nil }
    let slots = reader.number(UInt32.self)
    guard let kind = FileKind(rawValue: reader.number()), slots == UInt32(kind.slots) else { return nil }
    let hasOwnKey = reader.number(UInt32.self) == 1
    self.init(algorithm: algorithm, kind: kind, salt: reader.bytes(32), wrapped: nil)
    if hasOwnKey {
      guard let key = WrappedKey(reader.bytes(WrappedKey.byteCount)[...]) else { return nil }
      wrapped = key
    }
    code = Array(bytes[Self.coveredBytes..<Self.coveredBytes + 32])
  }

  /// Whether bytes claim to be a header, whole or not.
  static func isClaimed(_ bytes: [UInt8]) -> Bool {
    var reader = FieldReader(bytes[...])
    return reader.number(UInt64.self) == magic
  }

  /// - Parameter key: The file's.
  func encoded(_ key: SymmetricKey) -> [UInt8] {
    var writer = FieldWriter()
    writer.bytes(covered)
    writer.bytes(Array(HMAC<SHA256>.authenticationCode(for: covered, using: Self.codeKey(key))))
    writer.fill(to: Self.byteCount - 8)
    writer.bytes(checksum(writer.result))
    return writer.result
  }

  /// Whether the header was made by one who knows the file's key.
  func isAuthentic(_ key: SymmetricKey) -> Bool {
    HMAC<SHA256>.isValidAuthenticationCode(code, authenticating: covered, using: Self.codeKey(key))
  }

  /// The file's key.
  ///
  /// - Parameter key: The store's, or the one that the header has.
  func fileKey(_ key: SymmetricKey) -> SymmetricKey {
    HKDF<SHA256>.deriveKey(inputKeyMaterial: key, salt: salt, info: Purpose.file(kind), outputByteCount: 32)
  }

  private static func codeKey(_ key: SymmetricKey) -> SymmetricKey {
    HKDF<SHA256>.deriveKey(inputKeyMaterial: key, info: Purpose.header, outputByteCount: 32)
  }

  private var covered: [UInt8] {
    var writer = FieldWriter()
    writer.number(Self.magic)
    writer.number(Self.version)
    writer.number(algorithm.rawValue)
    writer.number(UInt32(FileLayout.blockBytes))
    writer.number(UInt32(kind.slots))
    writer.number(kind.rawValue)
    writer.number(UInt32(wrapped == nil ? 0 : 1))
    writer.bytes(salt)
    if let wrapped { writer.bytes(wrapped.encoded) }
    writer.fill(to: Self.coveredBytes)
    return writer.result
  }
}
