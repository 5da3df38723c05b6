import HeartwoodBytes

/// Reads a file from its beginning, in large pieces.
package struct FileInput: ~Copyable {
  private let file: any File
  private var offset: Int64 = 0
  private var buffer: [UInt8] = []
  private var position = 0
  private var hash = XXH3.Stream(seed: 0)

  private static let pieceBytes = 1 << 20

  package init(_ file: any File) { self.file = file }

  /// The next bytes; fewer at the end of the file.
  package mutating func next(_ count: Int) throws -> [UInt8] {
    while buffer.count - position < count, try fill() {}
    let end = min(buffer.count, position + count)
    defer { position = end }
    return Array(buffer[position..<end])
  }

  /// The next piece of the file, as large as is convenient; empty at the end.
  package mutating func nextPiece() throws -> ArraySlice<UInt8> {
    if position == buffer.count { _ = try fill() }
    defer { position = buffer.count }
    return buffer[position...]
  }

  private mutating func fill() throws -> Bool {
    buffer.removeFirst(position)
    position = 0
    let piece = try file.bytes(Self.pieceBytes, at: offset)
    piece.withUnsafeBytes { hash.update($0) }
    offset += Int64(piece.count)
    buffer.append(contentsOf: piece)
    return !piece.isEmpty
  }

  /// Reads the rest.
  ///
  /// - Returns: The digest that distinguishes this file from others.
  package mutating func finish() throws -> FileDigest {
    while try fill() { position = buffer.count }
    return FileDigest(count: offset, hash: hash.hash())
  }
}
