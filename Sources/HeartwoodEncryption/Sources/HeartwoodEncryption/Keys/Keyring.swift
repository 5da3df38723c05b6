import Crypto
import Foundation
import HeartwoodFiles

/// Makes keys of a master key, and remembers the wrapping keys: those of passwords take long to derive.
final class Keyring: @unchecked Sendable {
  private let source: MasterKey.Source
  private let entropy: any Entropy
  private let lock = NSLock()
  /// Guarded by `lock`, as is `preferred`.
  private var known: [KeyDerivation: SymmetricKey] = [:]
  /// The derivation of the keys that wrap new ones.
  private var preferred: KeyDerivation?

  init(_ key: MasterKey, _ entropy: any Entropy) {
    source = key.source
    self.entropy = entropy
  }

  /// Random bytes.
  func random(_ count: Int) -> [UInt8] {
    var bytes: [UInt8] = []
    while bytes.count < count { withUnsafeBytes(of: entropy.next()) { bytes.append(contentsOf: $0) } }
    return Array(bytes.prefix(count))
  }

  /// A new random key, and the same wrapped.
  func makeKey() throws -> (SymmetricKey, WrappedKey) {
    let key = SymmetricKey(data: random(32))
    return (key, try wrap(key))
  }

  /// Wraps a key for the master key.
  func wrap(_ key: SymmetricKey) throws -> WrappedKey {
    let derivation = lock.withLock { preferred } ?? KeyDerivation(source, salt: random(32))
    guard let wrapping = try wrappingKey(derivation) else { throw UnusableKey.tooShort }
    return try WrappedKey(key, wrapping, derivation, nonce: random(12))
  }

  /// The key that is wrapped; nil if the master key is a wrong one.
  func unwrap(_ wrapped: WrappedKey) throws -> SymmetricKey? {
    guard let wrapping = try wrappingKey(wrapped.derivation), let key = wrapped.unwrapped(by: wrapping)
    else { return nil }
    lock.withLock { if preferred == nil { preferred = wrapped.derivation } }
    return key
  }

  private func wrappingKey(_ derivation: KeyDerivation) throws -> SymmetricKey? {
    if let key = lock.withLock({ known[derivation] }) { return key }
    guard let key = try derivation.wrappingKey(of: source) else { return nil }
    lock.withLock { known[derivation] = key }
    return key
  }
}
