import Crypto

/// A key that only the master key opens.
struct WrappedKey: Sendable {
  static let byteCount = KeyDerivation.byteCount + 60

  let derivation: KeyDerivation
  /// Nonce, sealed key and tag.
  private let box: [UInt8]

  init?(_ bytes: ArraySlice<UInt8>) {
    guard bytes.count >= Self.byteCount,
      let derivation = KeyDerivation(bytes.prefix(KeyDerivation.byteCount))
    else { return nil }
    self.derivation = derivation
    box = Array(bytes.dropFirst(KeyDerivation.byteCount).prefix(60))
  }

  /// Wraps a key, with a nonce that is random each time.
  init(_ key: SymmetricKey, _ wrapping: SymmetricKey, _ derivation: KeyDerivation, nonce: [UInt8]) throws {
    self.derivation = derivation
    let sealed = try key.withUnsafeBytes {
      try AES.GCM.seal(
        $0, using: wrapping, nonce: AES.GCM.Nonce(data: nonce), authenticating: derivation.encoded)
    }
    box = nonce + Array(sealed.ciphertext) + Array(sealed.tag)
  }

  var encoded: [UInt8] { derivation.encoded + box }

  /// The key; nil if the wrapping key is not the one that wrapped it.
  func unwrapped(by wrapping: SymmetricKey) -> SymmetricKey? {
    guard let sealed = try? AES.GCM.SealedBox(combined: box),
      let bytes = try? AES.GCM.open(sealed, using: wrapping, authenticating: derivation.encoded)
    else { return nil }
    return SymmetricKey(data: bytes)
  }
}
