/// Bytes that do not change any more, in memory of their own, for several owners.
final class KeptBytes: @unchecked Sendable {
  private let bytes: OwnedBytes

  init(_ bytes: consuming OwnedBytes) { self.bytes = bytes }

  /// Valid while the object exists.
  var buffer: UnsafeRawBufferPointer { bytes.bytes.buffer }
}
