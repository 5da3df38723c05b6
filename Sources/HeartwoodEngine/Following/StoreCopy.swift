import HeartwoodFiles

/// The files of a store in a folder, as they are copied from pieces.
///
/// Bytes are only added behind those that are there, so the anchor that names the former state stays valid until the next one
/// is written.
final class StoreCopy {
  let folder: StoreFolder
  /// The segments that were copied, with the bytes that are there of each.
  private(set) var segments: [CheckpointRecord.Segment]
  /// Where the copied log ends; nil before the first piece.
  private(set) var end: LogPoint?
  /// Bytes that were written.
  private(set) var writtenBytes: Int64 = 0

  init(_ folder: StoreFolder, _ segments: [CheckpointRecord.Segment] = [], end: LogPoint? = nil) {
    self.folder = folder
    self.segments = segments
    self.end = end
  }

  /// Writes the parts of a piece that are not there yet, and makes them durable, pages first.
  ///
  /// - Parameter isLogOnly: Whether pages are left out.
  /// - Throws: `.damaged`, after which bytes behind the former end may be anything.
  func write(_ piece: OpenPiece, isLogOnly: Bool = false) throws(EngineError) {
    var names = Set(try folder.entries())
    let known = Dictionary(segments.map { (SegmentKey($0), $0.bytes) }) { first, _ in first }
    for (index, part) in piece.header.parts.enumerated() where part.isLog || !isLogOnly {
      let key = SegmentKey(part)
      let there = known[key] ?? 0
      guard part.offset <= there else {
        throw EngineError.damaged(
          "the piece does not continue \(key.name), which has \(there) bytes; follow the store in a new folder",
          file: piece.path)
      }
      guard part.offset + part.count > there else { continue }
      try write(piece, index, from: Int(there), to: key.name, isNew: names.insert(key.name).inserted)
    }
    try folder.syncNames()
  }

  private func write(
    _ piece: OpenPiece, _ index: Int, from there: Int, to name: String, isNew: Bool
  ) throws(EngineError) {
    let file = try doing { () throws(FileSystemError) in
      try isNew
        ? folder.directory.create(name, like: StoreFolder.newAnchorName)
        : folder.directory.open(name, .readWrite)
    }
    defer { try? file.close() }
    try piece.read(index) { (chunk, offset) throws(EngineError) in
      let skipped = min(max(there - offset, 0), chunk.count)
      let rest = UnsafeRawBufferPointer(rebasing: chunk[skipped...])
      try doing { () throws(FileSystemError) in
        try file.writeFully(rest, at: Int64(offset + skipped))
      }
      writtenBytes += Int64(rest.count)
    }
    try doing { () throws(FileSystemError) in try file.sync(.full) }
  }

  /// Takes over the state after a piece.
  ///
  /// - Returns: The names of the files that it does not need any more.
  func adopt(_ piece: PieceHeader) -> [String] {
    let needed = Set(piece.segments.map(SegmentKey.init))
    let dropped = segments.map(SegmentKey.init).filter { !needed.contains($0) }
    (segments, end) = (piece.segments, piece.end)
    return dropped.map(\.name)
  }

  private func doing<Result>(_ body: () throws(FileSystemError) -> Result) throws(EngineError) -> Result {
    do {
      return try body()
    } catch {
      throw EngineError.files(error, "the copy of the store could not be written")
    }
  }
}
