import HeartwoodBytes

/// Writes a file from its beginning, in large pieces.
package struct FileOutput: ~Copyable {
  private let file: any File
  private var offset: Int64 = 0
  private var buffer: [UInt8] = []
  private var hash = XXH3.Stream(seed: 0)

  private static let pieceBytes = 1 << 20

  package init(_ file: any File) {
    self.file = file
    buffer.reserveCapacity(Self.pieceBytes)
  }

  package mutating func append(_ bytes: UnsafeRawBufferPointer) throws {
    buffer.append(contentsOf: bytes)
    if buffer.count >= Self.pieceBytes { try flush() }
  }

  package mutating func append(_ bytes: [UInt8]) throws {
    buffer.append(contentsOf: bytes)
    if buffer.count >= Self.pieceBytes { try flush() }
  }

  package mutating func append(_ text: String) throws {
    buffer.append(contentsOf: text.utf8)
    if buffer.count >= Self.pieceBytes { try flush() }
  }

  private mutating func flush() throws {
    buffer.withUnsafeBytes { hash.update($0) }
    let (file, offset) = (file, offset)
    try buffer.withUnsafeBytes { bytes in try file.writeFully(bytes, at: offset) }
    self.offset += Int64(buffer.count)
    buffer.removeAll(keepingCapacity: true)
  }

  /// Writes the rest.
  ///
  /// - Returns: The digest that distinguishes this file from others.
  package mutating func finish() throws -> FileDigest {
    try flush()
    return FileDigest(count: offset, hash: hash.hash())
  }
}

/// Tells the contents of a file from others.
package struct FileDigest: Equatable, Sendable {
  package let count: Int64
  package let hash: UInt64

  /// That of no bytes.
  package static let empty = FileDigest(count: 0, hash: XXH3.Stream(seed: 0).hash())
}
