/// Encoding of a deleted range of keys in a record: the record's key contains the lower bound, its value the upper.
/// Each bound is one byte (0: unbounded, 1: inclusive, 2: exclusive), followed by the key.
enum RangeRecord {
  static func encode(_ range: KeyRange) -> (key: [UInt8], value: [UInt8]) {
    (encode(range.lower), encode(range.upper))
  }

  private static func encode(_ bound: KeyRange.Bound?) -> [UInt8] {
    guard let bound else { return [0] }
    return [bound.isInclusive ? 1 : 2] + bound.key
  }

  /// The range of a record; nil if its bytes are invalid.
  static func decode(_ record: Record) -> KeyRange? {
    guard let lower = decode(record.key), let upper = decode(record.storedValue) else { return nil }
    return KeyRange(lower: lower.bound, upper: upper.bound)
  }

  private static func decode(_ bytes: UnsafeRawBufferPointer) -> (bound: KeyRange.Bound?, Void)? {
    guard let mark = bytes.first, mark <= 2, bytes.count <= Format.keyLimit + 1 else { return nil }
    if mark == 0 { return bytes.count == 1 ? (nil, ()) : nil }
    return (KeyRange.Bound(Array(bytes.dropFirst()), isInclusive: mark == 1), ())
  }
}

extension Record {
  /// Whether the record can be applied to a tree.
  var isValid: Bool {
    switch operation {
    case Format.putOperation, Format.putCompressedOperation, Format.deleteOperation:
      keyBytes > 0 && keyBytes <= Format.keyLimit
    case Format.deleteRangeOperation: RangeRecord.decode(self) != nil
    default: false
    }
  }
}
