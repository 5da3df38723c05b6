import HeartwoodFiles

/// Finds the segments of the log from the anchor and the files in the folder.
struct LogFinder {
  let folder: StoreFolder
  let identifier: StoreIdentifier
  let options: EngineOptions

  /// The store's files, by kind and number.
  struct Listing {
    var logs: [UInt32] = []
    var pages: [UInt32] = []
    var hasNewAnchor = false
    var hasNewHolds = false

    /// The first unused segment number.
    var next: UInt32 { (max(logs.max() ?? 0, pages.max() ?? 0)) + 1 }
  }

  func list() throws(EngineError) -> Listing {
    var listing = Listing()
    for name in try folder.entries() {
      if name == StoreFolder.newAnchorName { listing.hasNewAnchor = true }
      if name == StoreFolder.newHoldsName { listing.hasNewHolds = true }
      guard let segment = SegmentName.parse(name) else { continue }
      if segment.isLog { listing.logs.append(segment.number) } else { listing.pages.append(segment.number) }
    }
    listing.logs.sort()
    listing.pages.sort()
    return listing
  }

  /// The last segment of the log and its existing predecessors, in order.
  ///
  /// A segment that another process unlinks after the listing counts as missing.
  ///
  /// - Parameters:
  ///   - named: The last segment that the anchor names.
  ///   - isExact: Whether the anchor is known to name the last segment. Otherwise later segments are
  ///     searched.
  func path(to named: UInt32, listing: Listing, isExact: Bool) throws(EngineError) -> [LogSegment] {
    var last = try isExact ? nil : laterSegment(than: named, listing)
    if last == nil { last = try open(named) }
    var path: [LogSegment] = []
    while let segment = last {
      path.append(segment)
      // A missing predecessor was reclaimed, or is lost: the checkpoint decides which.
      guard let predecessorEnd = segment.header.predecessor,
        listing.logs.contains(predecessorEnd.position.segment)
      else { break }
      guard predecessorEnd.position.segment < segment.number else {
        throw EngineError.damaged(
          "the segment names a later segment as its predecessor; restore the file", file: segment.path)
      }
      last = try ifThere { () throws(EngineError) in
        try open(predecessorEnd.position.segment, isLast: false)
      }
    }
    return path.reversed()
  }

  /// The segments of `path` after the last one that a checkpoint has reclaimed. Files of reclaimed segments
  /// may still exist. In a backup they may even be incomplete, because the earlier backup contained only
  /// their beginning.
  static func alive(_ path: [LogSegment], by checkpoint: NamedCheckpoint?) -> [LogSegment] {
    guard let checkpoint else { return path }
    let named = Set(checkpoint.logSegments.map(\.number))
    let first = checkpoint.record.replay.position.segment
    let gap = path.lastIndex { $0.number < first && !named.contains($0.number) }
    return gap.map { Array(path[($0 + 1)...]) } ?? path
  }

  /// All live segments: the ones that a checkpoint names and that are not in `path`, then those of `path`.
  func live(_ path: [LogSegment], _ checkpoint: NamedCheckpoint?) throws(EngineError) -> [LogSegment] {
    let alive = Self.alive(path, by: checkpoint)
    return try earlier(than: alive, checkpoint) + alive
  }

  /// The segments that a checkpoint names and that are not in `path`. Their frames are not read again, but
  /// the tree refers to values in them.
  func earlier(than path: [LogSegment], _ checkpoint: NamedCheckpoint?) throws(EngineError) -> [LogSegment] {
    let known = Set(path.map(\.number))
    var segments: [LogSegment] = []
    for named in checkpoint?.logSegments ?? [] where !known.contains(named.number) {
      let segment = try open(named.number, isLast: false)
      guard named.extent <= UInt64(segment.limit) else {
        throw EngineError.damaged(
          "the file is shorter than what was written to it; restore it", file: segment.path,
          offset: segment.limit)
      }
      segments.append(segment)
    }
    return segments.sorted { $0.number < $1.number }
  }

  /// Whether frames follow the end of the log that a clean anchor slot names. A writer clears the clean flag
  /// in the anchor before it appends, so in that case the slot is not the newest one.
  func continuesAfter(_ path: [LogSegment], behind end: LogPoint, _ listing: Listing) throws(EngineError)
    -> Bool
  {
    guard let last = path.last else { return false }
    if let next = try FrameScanner(last).header(at: end.position.offset)?.header,
      next.sequence == end.sequence, next.previous == end.chain
    {
      return true
    }
    return try laterSegment(than: last.number, listing) != nil
  }

  /// A later segment that the anchor does not name, if it belongs to the log. It does if it contains frames,
  /// because frames are written only after a slot names the segment: that slot is the damaged one. A segment
  /// to which a recovery copied the end of the log belongs only if the copy is complete.
  private func laterSegment(than named: UInt32, _ listing: Listing) throws(EngineError) -> LogSegment? {
    for number in listing.logs.reversed() where number > named {
      let found = try ifThere { () throws(EngineError) -> (SegmentHeader, LogSegment)? in
        guard let header = try header(of: number) else { return nil }
        return (header, try open(number, header))
      }
      guard case let (header, segment)?? = found else { continue }
      var walk = try LogWalk([segment][...], from: header.firstPoint, upTo: nil)
      let hasFrame = try walk.next() != nil
      while walk.point.sequence <= header.copiedThrough, try walk.next() != nil {}
      if hasFrame, walk.point.sequence > header.copiedThrough { return segment }
    }
    return nil
  }

  /// Opens a file of the listing; returns nil if another process has unlinked it since.
  private func ifThere<Value>(_ body: () throws(EngineError) -> Value) throws(EngineError) -> Value? {
    do {
      return try body()
    } catch {
      guard error.isStale else { throw error }
      return nil
    }
  }

  /// The header of a segment; nil if it is invalid.
  private func header(of number: UInt32) throws(EngineError) -> SegmentHeader? {
    let name = SegmentName.log(number)
    let file = try folder.open(name, .readOnly)
    defer { try? file.close() }
    return try decode(file, number: number)
  }

  private func decode(_ file: any File, number: UInt32) throws(EngineError) -> SegmentHeader? {
    let path = folder.path(of: SegmentName.log(number))
    let bytes = try StoreFolder.read(file, at: 0, count: Format.segmentHeaderBytes, path: path)
    return bytes.withBytes {
      SegmentHeader.decode($0, magic: Format.logSegmentMagic, number: number, identifier: identifier)
    }
  }

  /// Opens a segment that must exist.
  ///
  /// - Parameter isLast: Whether the segment may still grow.
  /// - Throws: `.damaged` if the file is missing, too long, or its header is invalid.
  func open(_ number: UInt32, _ known: SegmentHeader? = nil, isLast: Bool = true) throws(EngineError)
    -> LogSegment
  {
    let name = SegmentName.log(number)
    let file = try folder.open(name, options.access == .readOnly ? .readOnly : .readWrite)
    var found = known
    if found == nil { found = try decode(file, number: number) }
    guard let header = found else {
      throw EngineError.damaged(
        "the segment's header is damaged; restore the file", file: folder.path(of: name), offset: 0)
    }
    let size = try folder.size(of: file)
    guard size <= Format.segmentLimit else {
      throw EngineError.damaged(
        "the segment is longer than the format allows; restore the file", file: folder.path(of: name))
    }
    let grows = isLast && options.untrusted == nil
    return try LogSegment(
      header: header, file: file, path: folder.path(of: name), limit: size,
      capacity: grows ? Log.capacity(options) : size, reading: options.reading)
  }
}
