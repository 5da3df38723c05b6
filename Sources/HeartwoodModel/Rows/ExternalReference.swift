/// Where data is stored that is too large for its row: what the row has in its place.
///
/// The data has a key of its own, with the object, the property and the transaction that wrote it, so that rewriting the row does
/// not touch it, and reading the row does not load it. It is never changed: another value is another transaction's.
package struct ExternalReference: Hashable, Sendable {
  /// The size of the data in bytes.
  package let count: UInt64
  /// The number of the transaction that wrote it.
  package let transaction: UInt64

  /// The size of a reference in a row, in bytes.
  static let byteCount: UInt32 = 16
  /// Data with more bytes is stored outside the row if its attribute allows it.
  package static let largestInRow = 32_768

  package init(count: Int, transaction: UInt64) {
    self.count = UInt64(count)
    self.transaction = transaction
  }

  /// - Precondition: The bytes are those of a validated row.
  init(_ bytes: UnsafeRawBufferPointer) {
    count = UInt64(littleEndian: bytes.loadUnaligned(as: UInt64.self))
    transaction = UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
  }

  func append(to row: inout [UInt8]) {
    withUnsafeBytes(of: (count.littleEndian, transaction.littleEndian)) { row.append(contentsOf: $0) }
  }
}
