import Crypto
import Foundation
import HeartwoodFiles

/// Seals and opens the blocks of one file.
///
/// Each open file that writes seals with a session of its own: a random salt, from which the key is derived, and a counter. So no pair of key and
/// nonce is used twice, whatever a crash loses, and however many processes write.
final class FileCipher: @unchecked Sendable {
  private let fileKey: SymmetricKey
  private let cipher: any BlockCipher
  private let lock = NSLock()
  /// Keys of sessions that blocks were opened with. Guarded by `lock`, as are the properties after it.
  private var sessions: [SessionSalt: SymmetricKey] = [:]
  private var writing: (salt: SessionSalt, key: SymmetricKey)?
  private var counter: UInt64 = 0

  /// More would be as many openings for writing of one file.
  private static let keptSessions = 4096

  init(_ fileKey: SymmetricKey, _ cipher: any BlockCipher) {
    self.fileKey = fileKey
    self.cipher = cipher
  }

  /// Seals the bytes of a block.
  ///
  /// - Parameters:
  ///   - entropy: Of the session, which begins with the first block.
  ///   - target: Room for the header and as many bytes as `bytes` has.
  func seal(
    _ bytes: UnsafeRawBufferPointer, block: Int64, version: UInt64, isEnd: Bool, _ entropy: any Entropy,
    into target: UnsafeMutableRawBufferPointer
  ) throws {
    let (salt, key, number) = nextNonce(entropy)
    let header = BlockHeader(
      session: salt, counter: number, block: block, version: version, length: bytes.count, isEnd: isEnd)
    target.slice(0..<BlockHeader.byteCount).zero()
    header.encode(to: target)
    let address = UnsafeRawBufferPointer(target.slice(0..<BlockHeader.coveredBytes))
    try header.withNonce { nonce in
      try cipher.seal(
        bytes, key: key, nonce: nonce, address: address,
        into: target.slice(BlockHeader.byteCount..<BlockHeader.byteCount + bytes.count),
        tag: target.slice(BlockHeader.coveredBytes..<BlockHeader.byteCount))
    }
  }

  /// Opens a block: its bytes, and zeros up to the length of a block.
  ///
  /// - Parameter sealed: The header and what follows it.
  /// - Returns: The header; nil if the block is not authentic, or another than `block`.
  func open(
    _ sealed: UnsafeRawBufferPointer, block: Int64?, into target: UnsafeMutableRawBufferPointer
  ) -> BlockHeader? {
    guard let header = BlockHeader(sealed), block == nil || header.block == block,
      sealed.count >= BlockHeader.byteCount + header.length
    else { return nil }
    let key = sessionKey(header.session)
    let isValid = header.withNonce { nonce in
      cipher.open(
        sealed.slice(BlockHeader.byteCount..<BlockHeader.byteCount + header.length),
        tag: sealed.slice(BlockHeader.coveredBytes..<BlockHeader.byteCount), key: key, nonce: nonce,
        address: sealed.slice(0..<BlockHeader.coveredBytes), into: target.slice(0..<header.length))
    }
    guard isValid else { return nil }
    target.slice(header.length..<target.count).zero()
    return header
  }

  private func nextNonce(_ entropy: any Entropy) -> (SessionSalt, SymmetricKey, UInt64) {
    lock.lock()
    defer { lock.unlock() }
    if writing == nil {
      let salt = SessionSalt(first: entropy.next(), second: entropy.next())
      writing = (salt, derive(salt))
      counter = 0
    }
    guard let writing else { preconditionFailure("A session has begun.") }
    counter += 1
    return (writing.salt, writing.key, counter)
  }

  private func sessionKey(_ salt: SessionSalt) -> SymmetricKey {
    if let key = lock.withLock({ sessions[salt] }) { return key }
    let key = derive(salt)
    lock.withLock {
      if sessions.count >= Self.keptSessions { sessions.removeAll() }
      sessions[salt] = key
    }
    return key
  }

  private func derive(_ salt: SessionSalt) -> SymmetricKey {
    HKDF<SHA256>.deriveKey(
      inputKeyMaterial: fileKey, salt: salt.bytes, info: Purpose.session, outputByteCount: 32)
  }
}
