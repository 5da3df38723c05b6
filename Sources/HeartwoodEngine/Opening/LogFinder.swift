import HeartwoodFiles

/// Finds the segments of the log that belong together, from what the anchor says and what the folder has.
struct LogFinder {
  let folder: StoreFolder
  let identifier: StoreIdentifier
  let options: EngineOptions

  /// What the folder has, by name.
  struct Listing {
    var logs: [UInt32] = []
    var pages: [UInt32] = []
    var hasNewAnchor = false

    /// The first number that no file has.
    var next: UInt32 { (max(logs.max() ?? 0, pages.max() ?? 0)) + 1 }
  }

  func list() throws(EngineError) -> Listing {
    var listing = Listing()
    for name in try folder.entries() {
      if name == StoreFolder.newAnchorName { listing.hasNewAnchor = true }
      guard let segment = SegmentName.parse(name) else { continue }
      if segment.isLog { listing.logs.append(segment.number) } else { listing.pages.append(segment.number) }
    }
    listing.logs.sort()
    listing.pages.sort()
    return listing
  }

  /// The segment that the log ends in, and those before it, in order, as far as they are there.
  ///
  /// - Parameter isExact: The anchor has the last word on which segment is last.
  func path(to named: UInt32, listing: Listing, isExact: Bool) throws(EngineError) -> [LogSegment] {
    var last = try isExact ? nil : laterSegment(than: named, listing)
    if last == nil { last = try open(named) }
    var path: [LogSegment] = []
    while let segment = last {
      path.append(segment)
      // One that is not there was given back, or is missing: the checkpoint says which.
      guard let predecessorEnd = segment.header.predecessor,
        listing.logs.contains(predecessorEnd.position.segment)
      else { break }
      guard predecessorEnd.position.segment < segment.number else {
        throw EngineError.damaged("the segment names a later one as the one before it", file: segment.path)
      }
      last = try open(predecessorEnd.position.segment, isLast: false)
    }
    return path.reversed()
  }

  /// The end of a path, from behind the last segment that a checkpoint has given back. Files of such segments may be there
  /// still, and those in a backup need not even be whole: the one before it may have had only their beginning.
  static func alive(_ path: [LogSegment], by checkpoint: NamedCheckpoint?) -> [LogSegment] {
    guard let checkpoint else { return path }
    let named = Set(checkpoint.logSegments.map(\.number))
    let first = checkpoint.record.replay.position.segment
    let gap = path.lastIndex { $0.number < first && !named.contains($0.number) }
    return gap.map { Array(path[($0 + 1)...]) } ?? path
  }

  /// The segments that a checkpoint names before those of `path`: none of their frames is read again, but
  /// values lie in them.
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

  /// Whether frames follow behind a point, which is the end of the log by an anchor that calls it closed.
  /// None are written before the anchor takes that back, so it is then not the anchor that was written last.
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

  /// A segment that the anchor does not name yet belongs to the log if frames were written in it: they
  /// are only written once a slot names it, so that slot is the damaged one. A segment that recovery was
  /// copying a tail to belongs if the copy is complete.
  private func laterSegment(than named: UInt32, _ listing: Listing) throws(EngineError) -> LogSegment? {
    for number in listing.logs.reversed() where number > named {
      guard let header = try header(of: number) else { continue }
      let segment = try open(number, header)
      var walk = try LogWalk([segment][...], from: header.firstPoint, upTo: nil)
      let hasFrame = try walk.next() != nil
      while walk.point.sequence <= header.copiedThrough, try walk.next() != nil {}
      if hasFrame, walk.point.sequence > header.copiedThrough { return segment }
    }
    return nil
  }

  /// The header of a segment, nil where there is no valid one.
  private func header(of number: UInt32) throws(EngineError) -> SegmentHeader? {
    let name = SegmentName.log(number)
    let file = try folder.open(name, .readOnly)
    defer { try? file.close() }
    return try decode(file, number: number)
  }

  private func decode(_ file: any File, number: UInt32) throws(EngineError) -> SegmentHeader? {
    let path = folder.path(of: SegmentName.log(number))
    let bytes = try StoreFolder.read(file, at: 0, count: Format.segmentHeaderBytes, path: path)
    return bytes.withUnsafeBytes {
      SegmentHeader.decode($0, magic: Format.logSegmentMagic, number: number, identifier: identifier)
    }
  }

  /// Opens a segment that has to be there.
  ///
  /// - Parameter isLast: It may come to be longer than it is.
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
      throw EngineError.damaged("the segment is longer than any can be", file: folder.path(of: name))
    }
    let grows = isLast && options.untrusted == nil
    return try LogSegment(
      header: header, file: file, path: folder.path(of: name), limit: size,
      capacity: grows ? Log.capacity(options) : size, reading: options.reading)
  }
}
