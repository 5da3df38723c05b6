/// A piece that is read from a destination, with its head verified.
struct OpenPiece {
  let header: PieceHeader
  let checksum: UInt64
  /// The piece, for messages.
  let path: String
  private let file: any ShippedFile

  var shipped: ShippedPiece { ShippedPiece(header: header, checksum: checksum, bytes: file.size) }

  /// Opens a piece and verifies its head.
  ///
  /// - Throws: `.notFound`; `.damaged` if it is not whole, or not the piece of its name; `.newerFormat`.
  init(_ name: PieceName, at destination: any ShippingDestination) throws(EngineError) {
    path = destination.place + "/" + name.text
    file = try destination.open(name.text)
    let (header, checksum) = try Self.head(file, path)
    guard header.number == name.number, header.isBase == name.isBase else {
      throw EngineError.damaged(
        "the file contains piece \(header.number), not the one of its name; restore the file", file: path)
    }
    guard header.totalBytes == file.size else {
      throw EngineError.damaged(
        "the piece is not as long as it says; restore the file", file: path, offset: Int(file.size))
    }
    (self.header, self.checksum) = (header, checksum)
  }

  private static func head(
    _ file: any ShippedFile, _ path: String
  ) throws(EngineError) -> (PieceHeader, UInt64) {
    let first = try file.bytes(PieceFormat.headerBytes, at: 0)
    guard let count = first.withBytes({ PieceHeader.headBytes($0) }), Int64(count) <= file.size else {
      throw damagedHead(path)
    }
    switch PieceHeader.decode(try file.bytes(count, at: 0)) {
    case .valid(let header, let checksum): return (header, checksum)
    case .newerFormat(let version):
      throw EngineError(
        .newerFormat,
        "the piece has format \(version), and this version reads up to \(PieceFormat.newestVersion); use a newer one",
        file: path)
    case .invalid: throw damagedHead(path)
    }
  }

  private static func damagedHead(_ path: String) -> EngineError {
    .damaged("the head of the piece is damaged; restore the file", file: path, offset: 0)
  }

  // MARK: Parts

  /// Calls `body` with the bytes of a part in chunks, and with their offset in the segment.
  ///
  /// - Throws: `.damaged` after the last chunk if the bytes are not those that were shipped.
  func read(
    _ index: Int, _ body: (UnsafeRawBufferPointer, Int) throws(EngineError) -> Void
  ) throws(EngineError) {
    let part = header.parts[index]
    let start = header.parts[..<index].reduce(Int64(header.headBytes)) { $0 + Int64($1.count) }
    var checksum = PartChecksum()
    let count = Int64(part.count)
    var done: Int64 = 0
    while done < count {
      let step = Int(min(Int64(PieceFormat.chunkBytes), count - done))
      let bytes = try file.bytes(step, at: start + done)
      guard bytes.count == step else { throw damaged(at: start + done) }
      let offset = Int(part.offset) + Int(done)
      try bytes.withBytes { (chunk) throws(EngineError) in
        checksum.add(chunk)
        try body(chunk, offset)
      }
      done += Int64(step)
    }
    guard checksum.value == part.checksum else { throw damaged(at: start) }
  }

  private func damaged(at offset: Int64) -> EngineError {
    .damaged("bytes of the piece are not what was shipped; restore the file", file: path, offset: Int(offset))
  }
}
