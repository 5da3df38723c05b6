import Crypto
import CryptoExtras
import Foundation

/// The key that a program has: it wraps the keys that the files are sealed with.
public struct MasterKey: Sendable {
  /// The cost of deriving a key from a password, as scrypt counts it.
  public struct PasswordCost: Hashable, Sendable {
    /// The binary logarithm of the number of rounds. Each one doubles time and memory.
    public var rounds: UInt32
    /// The size of a block in 128 bytes.
    public var blockSize: UInt32
    /// How many derivations are done one after the other.
    public var parallelism: UInt32

    /// A cost of these numbers. The default takes 128 MiB of memory and about half a second.
    public init(rounds: UInt32 = 17, blockSize: UInt32 = 8, parallelism: UInt32 = 1) {
      self.rounds = rounds
      self.blockSize = blockSize
      self.parallelism = parallelism
    }

    /// Whether a derivation of this cost takes at most 1 GiB and a minute or so: numbers from a file are not trusted.
    var isBearable: Bool {
      (1...20).contains(rounds) && (1...16).contains(blockSize) && (1...16).contains(parallelism)
        && (UInt64(1) << rounds) * UInt64(blockSize) * 128 <= 1 << 30
    }
  }

  enum Source: Sendable {
    case key(@Sendable () throws -> [UInt8])
    case password(@Sendable () throws -> String, PasswordCost)
  }

  let source: Source

  /// A key of random bytes, such as those of a file or a keychain.
  ///
  /// - Parameter bytes: At least 32.
  public init(bytes: [UInt8]) { self.init(provider: { bytes }) }

  /// A key that a function returns, which is called when a key is first needed.
  ///
  /// - Parameter provider: Returns at least 32 random bytes, always the same.
  public init(provider: @escaping @Sendable () throws -> [UInt8]) { source = .key(provider) }

  /// A key that scrypt derives from a password.
  ///
  /// - Parameters:
  ///   - password: The text, in whose UTF-8 bytes every difference counts.
  ///   - cost: The cost of a derivation for new files; others say which they need.
  public init(password: String, cost: PasswordCost = PasswordCost()) {
    source = .password({ password }, cost)
  }

  /// As `init(password:cost:)`, with a password that a function returns when it is first needed.
  public init(
    passwordProvider: @escaping @Sendable () throws -> String, cost: PasswordCost = PasswordCost()
  ) {
    source = .password(passwordProvider, cost)
  }
}

/// How a wrapping key is made of a master key: written beside each key that it wraps.
struct KeyDerivation: Hashable, Sendable {
  static let byteCount = 48

  enum Kind: UInt32 {
    case key = 0
    case scrypt = 1
  }

  var kind: Kind
  var cost: MasterKey.PasswordCost
  var salt: [UInt8]

  /// - Parameter salt: 32 random bytes.
  init(_ source: MasterKey.Source, salt: [UInt8]) {
    self.salt = salt
    switch source {
    case .key: (kind, cost) = (.key, .none)
    case .password(_, let cost): (kind, self.cost) = (.scrypt, cost)
    }
  }

  init?(_ bytes: ArraySlice<UInt8>) {
    var reader = FieldReader(bytes)
    guard let kind = Kind(rawValue: reader.number(UInt32.self)) else { return nil }
    self.kind = kind
    cost = MasterKey.PasswordCost(
      rounds: reader.number(), blockSize: reader.number(), parallelism: reader.number())
    salt = reader.bytes(32)
    guard kind == .key || cost.isBearable else { return nil }
  }

  var encoded: [UInt8] {
    var writer = FieldWriter()
    writer.number(kind.rawValue)
    writer.number(cost.rounds)
    writer.number(cost.blockSize)
    writer.number(cost.parallelism)
    writer.bytes(salt)
    return writer.result
  }

  /// The wrapping key; nil if the master key is of the other kind, and so a wrong one.
  ///
  /// - Throws: errors of the program's functions, and `UnusableKey`.
  func wrappingKey(of source: MasterKey.Source) throws -> SymmetricKey? {
    switch (source, kind) {
    case (.key(let provider), .key):
      let bytes = try provider()
      guard bytes.count >= 32 else { throw UnusableKey.tooShort }
      return HKDF<SHA256>.deriveKey(
        inputKeyMaterial: SymmetricKey(data: bytes), salt: salt, info: Purpose.wrapping, outputByteCount: 32)
    case (.password(let provider, _), .scrypt):
      guard cost.isBearable else { throw UnusableKey.costly }
      return try KDF.Scrypt.deriveKey(
        from: Data(provider().utf8), salt: salt, outputByteCount: 32, rounds: 1 << Int(cost.rounds),
        blockSize: Int(cost.blockSize), parallelism: Int(cost.parallelism))
    default: return nil
    }
  }
}

extension MasterKey.PasswordCost {
  fileprivate static let none = MasterKey.PasswordCost(rounds: 0, blockSize: 0, parallelism: 0)
}

/// A master key that no key can be made of.
public enum UnusableKey: String, Error, Sendable, CustomStringConvertible {
  /// A key has fewer than 32 bytes.
  case tooShort = "a key has at least 32 random bytes; derive one from a shorter secret as a password"
  /// A password's cost is out of range.
  case costly = "a password's cost is 1 to 20 rounds, as a logarithm, and at most 1 GiB of memory"

  /// The error, and what to do.
  public var description: String { rawValue }
}

/// The purposes of derived keys, so that no key serves two.
enum Purpose {
  static let wrapping = Array("Heartwood wrapping key 1".utf8)
  static let header = Array("Heartwood header 1".utf8)
  static let session = Array("Heartwood session 1".utf8)

  static func file(_ kind: FileKind) -> [UInt8] { Array("Heartwood file 1 ".utf8) + [UInt8(kind.rawValue)] }
}
