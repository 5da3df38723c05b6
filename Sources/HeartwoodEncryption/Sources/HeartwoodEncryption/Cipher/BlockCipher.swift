import Crypto

/// Seals and opens blocks, with the address of each as associated data.
///
/// A cipher has no state: the caller never gives one pair of key and nonce for two blocks.
public protocol BlockCipher: Sendable {
  /// Encrypts bytes.
  ///
  /// - Parameters:
  ///   - bytes: The plain bytes.
  ///   - key: A key of 256 bits.
  ///   - nonce: 12 bytes.
  ///   - address: The bytes that the tag covers beside the bytes.
  ///   - target: As many bytes as `bytes` has.
  ///   - tag: 16 bytes.
  /// - Throws: errors of the cryptographic library.
  func seal(
    _ bytes: UnsafeRawBufferPointer, key: SymmetricKey, nonce: UnsafeRawBufferPointer,
    address: UnsafeRawBufferPointer, into target: UnsafeMutableRawBufferPointer,
    tag: UnsafeMutableRawBufferPointer) throws

  /// Decrypts bytes whose tag is valid.
  ///
  /// - Returns: Whether the tag is valid; otherwise nothing is written to `target`.
  func open(
    _ sealed: UnsafeRawBufferPointer, tag: UnsafeRawBufferPointer, key: SymmetricKey,
    nonce: UnsafeRawBufferPointer, address: UnsafeRawBufferPointer,
    into target: UnsafeMutableRawBufferPointer
  ) -> Bool
}

/// The algorithms that a file may be sealed with.
public enum CipherAlgorithm: UInt32, Hashable, Sendable, CaseIterable {
  /// AES with keys of 256 bits in the Galois/Counter mode: the fastest where the processor has instructions for it.
  case aes256GCM = 1
  /// ChaCha20 with Poly1305: fast on every processor.
  case chaCha20Poly1305 = 2

  /// The algorithm as a cipher.
  public var cipher: any BlockCipher {
    switch self {
    case .aes256GCM: AESCipher()
    case .chaCha20Poly1305: ChaChaCipher()
    }
  }
}

private struct AESCipher: BlockCipher {
  func seal(
    _ bytes: UnsafeRawBufferPointer, key: SymmetricKey, nonce: UnsafeRawBufferPointer,
    address: UnsafeRawBufferPointer, into target: UnsafeMutableRawBufferPointer,
    tag: UnsafeMutableRawBufferPointer
  ) throws {
    let box = try AES.GCM.seal(
      bytes, using: key, nonce: AES.GCM.Nonce(data: nonce), authenticating: address)
    box.ciphertext.withUnsafeBytes { target.copyMemory(from: $0) }
    box.tag.withUnsafeBytes { tag.copyMemory(from: $0) }
  }

  func open(
    _ sealed: UnsafeRawBufferPointer, tag: UnsafeRawBufferPointer, key: SymmetricKey,
    nonce: UnsafeRawBufferPointer, address: UnsafeRawBufferPointer,
    into target: UnsafeMutableRawBufferPointer
  ) -> Bool {
    guard let nonce = try? AES.GCM.Nonce(data: nonce),
      let box = try? AES.GCM.SealedBox(nonce: nonce, ciphertext: sealed, tag: tag),
      let bytes = try? AES.GCM.open(box, using: key, authenticating: address), bytes.count == target.count
    else { return false }
    bytes.withUnsafeBytes { target.copyMemory(from: $0) }
    return true
  }
}

private struct ChaChaCipher: BlockCipher {
  func seal(
    _ bytes: UnsafeRawBufferPointer, key: SymmetricKey, nonce: UnsafeRawBufferPointer,
    address: UnsafeRawBufferPointer, into target: UnsafeMutableRawBufferPointer,
    tag: UnsafeMutableRawBufferPointer
  ) throws {
    let box = try ChaChaPoly.seal(
      bytes, using: key, nonce: ChaChaPoly.Nonce(data: nonce), authenticating: address)
    box.ciphertext.withUnsafeBytes { target.copyMemory(from: $0) }
    box.tag.withUnsafeBytes { tag.copyMemory(from: $0) }
  }

  func open(
    _ sealed: UnsafeRawBufferPointer, tag: UnsafeRawBufferPointer, key: SymmetricKey,
    nonce: UnsafeRawBufferPointer, address: UnsafeRawBufferPointer,
    into target: UnsafeMutableRawBufferPointer
  ) -> Bool {
    guard let nonce = try? ChaChaPoly.Nonce(data: nonce),
      let box = try? ChaChaPoly.SealedBox(nonce: nonce, ciphertext: sealed, tag: tag),
      let bytes = try? ChaChaPoly.open(box, using: key, authenticating: address), bytes.count == target.count
    else { return false }
    bytes.withUnsafeBytes { target.copyMemory(from: $0) }
    return true
  }
}
