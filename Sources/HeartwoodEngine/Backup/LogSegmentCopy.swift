import HeartwoodFiles

/// Copies the part of a log segment that a backup lacks, after verifying it.
struct LogSegmentCopy {
  let backup: Backup
  let part: BackupContents.LogPart
  /// End of the existing copy; nil if there is none.
  private let from: LogPoint?
  /// Bytes of the existing copy that are reused.
  private let reused: Int

  /// Size of one write.
  private static let stepBytes = 1 << 20

  private var name: String { SegmentName.log(part.header.number) }

  init(_ backup: Backup, _ part: BackupContents.LogPart, earlier: EarlierBackup?) {
    self.backup = backup
    self.part = part
    let known = earlier?.logs[part.header.number]
    reused = known?.end.offset ?? 0
    from = known == nil ? nil : earlier?.slot.knownDurable
  }

  /// - Throws: `.exists` if the existing copy is not the beginning of this segment.
  func requireOrigin() throws(EngineError) {
    guard let from, reused < part.end.offset else { return }
    guard try source().ends(at: LogSegments.SegmentEnd(from)) else {
      throw EarlierBackup.wentItsOwnWay(backup.target.folder)
    }
  }

  /// Returns the bytes that were already in the folder.
  func run() throws(EngineError) -> Int64 {
    guard reused < part.end.offset else { return Int64(reused) }
    let segment = try source()
    let start = from ?? part.header.firstPoint
    try check(segment, from: start)
    try copy(segment)
    return Int64(reused)
  }

  private func source() throws(EngineError) -> LogSegment {
    try backup.source(name, held: backup.contents.files.logs[part.header.number]) {
      () throws(EngineError) in try openSource()
    }
  }

  /// Opens the segment again, so that the memory used for reading it is released after the copy.
  private func openSource() throws(EngineError) -> LogSegment {
    let store = backup.store
    let file = try store.folder.open(name, .readOnly)
    let path = store.folder.path(of: name)
    do throws(EngineError) {
      guard try store.folder.size(of: file) >= part.end.offset else {
        throw EngineError.damaged("the file is shorter than what was written to it", file: path)
      }
      let bytes = try StoreFolder.read(file, at: 0, count: Format.segmentHeaderBytes, path: path)
      guard bytes == part.header.encoded(magic: Format.logSegmentMagic) else {
        throw EngineError.damaged("the segment's header is damaged", file: path, offset: 0)
      }
      return try LogSegment(
        header: part.header, file: file, path: path, limit: part.end.offset, capacity: part.end.offset,
        reading: store.options.reading)
    } catch {
      try? file.close()
      throw error
    }
  }

  /// Checks that each copied frame is complete and continues its predecessor.
  private func check(_ segment: LogSegment, from start: LogPoint) throws(EngineError) {
    let end = LogPosition(segment: segment.number, offset: part.end.offset)
    var walk = try LogWalk([segment][...], from: start, upTo: end)
    while try walk.next() != nil {}
    guard walk.point.position == end, walk.point.chain == part.end.chain else {
      throw EngineError.damaged(
        "a frame of the log is damaged, and damage is not copied; run verify, and salvage what can be read",
        file: segment.path, offset: walk.point.position.offset)
    }
  }

  private func copy(_ segment: LogSegment) throws(EngineError) {
    try backup.target.write(name, from == nil ? .createNew : .readWrite) { (file) throws(EngineError) in
      for offset in stride(from: reused, to: part.end.offset, by: Self.stepBytes) {
        let count = min(Self.stepBytes, part.end.offset - offset)
        guard let bytes = try segment.bytes(at: offset, count) else { return }
        try file.write(bytes.buffer, at: offset)
        backup.target.noteCopied(count)
      }
    }
  }
}
