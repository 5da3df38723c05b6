/// Bytes whose order is the order of the records of an index: "Database File Format", section 2.4.
struct SortKey {
  /// The bytes.
  var bytes: [UInt8] = []
  /// Whether a value is null: such keys are never equal to SQLite.
  var hasNull = false

  mutating func removeAll() {
    bytes.removeAll(keepingCapacity: true)
    hasNull = false
  }

  mutating func append(_ value: SQLiteValue, _ collation: Collation, isDescending: Bool) {
    let start = bytes.count
    switch value {
    case .null:
      bytes.append(0)
      hasNull = true
    case .integer(let number):
      bytes.append(1)
      append(number)
    case .real(let number):
      bytes.append(1)
      append(number, rest: 0)
    case .text(let text):
      bytes.append(2)
      switch collation {
      case .binary: append(text.utf8)
      default: append(collation.sortBytes(Array(text.utf8)))
      }
    case .blob(let blob):
      bytes.append(3)
      append(blob)
    }
    if isDescending {
      for index in start..<bytes.count { bytes[index] = ~bytes[index] }
    }
  }

  /// The rowid, by which equal keys are ordered.
  mutating func append(rowid: Int64) {
    RecordEncoder.appendBigEndian(UInt64(bitPattern: rowid) ^ 1 << 63, 8, to: &bytes)
  }

  /// An integer is ordered among floating-point numbers by the nearest one that is not greater, and by the rest.
  private mutating func append(_ number: Int64) {
    var nearest = Double(number)
    if nearest >= 0x1p63 || Int64(nearest) > number { nearest = nearest.nextDown }
    append(nearest, rest: UInt16(number - Int64(nearest)))
  }

  private mutating func append(_ number: Double, rest: UInt16) {
    let bits = (number == 0 ? 0 : number).bitPattern
    RecordEncoder.appendBigEndian(bits >> 63 == 1 ? ~bits : bits | 1 << 63, 8, to: &bytes)
    RecordEncoder.appendBigEndian(UInt64(rest), 2, to: &bytes)
  }

  /// Bytes of any number: what is shorter comes first, and what follows does not matter then.
  private mutating func append(_ content: some Sequence<UInt8>) {
    for byte in content {
      bytes.append(byte)
      if byte == 0 { bytes.append(1) }
    }
    bytes.append(0)
    bytes.append(0)
  }
}
