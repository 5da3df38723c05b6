/// Writes numbers, little-endian, and bytes.
struct FieldWriter {
  private(set) var result: [UInt8] = []

  mutating func number<Number: FixedWidthInteger>(_ value: Number) {
    withUnsafeBytes(of: value.littleEndian) { result.append(contentsOf: $0) }
  }

  mutating func bytes(_ bytes: [UInt8]) { result.append(contentsOf: bytes) }

  /// Appends zeros.
  mutating func fill(to count: Int) {
    result.append(contentsOf: [UInt8](repeating: 0, count: max(0, count - result.count)))
  }
}

/// Reads what a `FieldWriter` has written. Bytes that are missing read as zeros.
struct FieldReader {
  private var rest: ArraySlice<UInt8>

  init(_ bytes: ArraySlice<UInt8>) { rest = bytes }

  mutating func number<Number: FixedWidthInteger>(_ type: Number.Type = Number.self) -> Number {
    var value: Number = 0
    let field = bytes(MemoryLayout<Number>.size)
    withUnsafeMutableBytes(of: &value) { $0.copyBytes(from: field) }
    return Number(littleEndian: value)
  }

  mutating func bytes(_ count: Int) -> [UInt8] {
    let field = Array(rest.prefix(count))
    rest = rest.dropFirst(count)
    return field + [UInt8](repeating: 0, count: count - field.count)
  }
}
