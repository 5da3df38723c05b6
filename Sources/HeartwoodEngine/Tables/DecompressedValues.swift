import HeartwoodFiles

/// The compressed values that a snapshot or a transaction has read, in memory of their own, as their readers are lent
/// bytes that stay valid.
final class DecompressedValues: Sendable {
  /// By the positions of their records.
  private let values = Guarded<[UInt64: KeptBytes]>([:])

  /// The value of a record, decompressed at the first call for its position.
  ///
  /// - Returns: Bytes that are valid until `removeAll()` or the end of this object; nil if the stored bytes are invalid.
  func value(of record: Record, at reference: ValueReference) -> UnsafeRawBufferPointer? {
    values.withLock { values in
      if let known = values[reference.rawValue] { return known.buffer }
      guard let bytes = record.decompressed() else { return nil }
      let kept = KeptBytes(bytes)
      values[reference.rawValue] = kept
      return kept.buffer
    }
  }

  /// Frees the values.
  func removeAll() { values.withLock { $0.removeAll() } }
}
