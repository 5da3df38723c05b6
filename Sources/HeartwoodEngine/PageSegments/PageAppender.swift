import HeartwoodBytes
import HeartwoodFiles

/// The page segments of an open store. Pages are appended to the last one, in small writes; a new segment is begun when
/// it is full. Pages are not part of the store until a checkpoint frame references them.
///
/// Invariants:
/// - An appended page is either in the file or in `chunk`. After a failed write it is still in `chunk`, and the next
///   flush writes it again.
/// - A page that a checkpoint frame in the log references is never overwritten, as other processes may read it: it is
///   before the extent of its part, or the part is sealed.
///
/// Reached only in the closures of the checkpoint lock, as part of `CheckpointState`.
final class PageAppender {
  /// Bytes of one write: small, so that concurrent commits are not delayed.
  private static let chunkBytes = 64 << 10

  /// The end of a segment's pages.
  struct Extent: Hashable, Sendable {
    /// Number of pages, including the header.
    var pages: Int
    /// Running checksum over the checksums of the pages, in order.
    var chain: UInt64
  }

  /// A segment and the extent of its pages.
  struct Part {
    let segment: PageSegment
    var extent: Extent
  }

  private(set) var parts: [Part]
  /// How many pages were appended since the store was opened.
  private(set) var appendedPages = 0
  private var chunk: [UInt8] = []
  /// Segments with pages that are not synced.
  private var unsynced: Set<UInt32> = []
  /// Whether files were created whose names are not synced.
  private var hasNewNames = false
  /// Whether the next page begins a new segment.
  private var isSealed = false
  /// The first generation that can refer to a page that is appended from now on.
  var firstGeneration: UInt64 = 0
  private let files: PageSegmentFiles
  private let numbers: SegmentNumbers
  private let space: PageSpace

  init(_ parts: [Part], files: PageSegmentFiles, numbers: SegmentNumbers, space: PageSpace) {
    self.parts = parts
    self.files = files
    self.numbers = numbers
    self.space = space
    for part in parts { part.segment.add(to: space, pageCount: part.extent.pages) }
  }

  /// Appends a page; returns its reference and checksum.
  func append(_ page: UnsafeRawBufferPointer) throws(EngineError) -> (PageReference, UInt64) {
    if chunk.count >= Self.chunkBytes { try flush() }
    assert(
      chunk.count % Format.pageBytes == 0 && chunk.count < Self.chunkBytes + Format.pageBytes,
      "The pages that are not written yet are not whole, or too many.")
    let last = try partWithRoom()
    let segment = parts[last].segment
    let index = parts[last].extent.pages
    guard page.count == Format.pageBytes else {
      throw EngineError(
        .damaged, "a page to write does not have \(Format.pageBytes) bytes", file: segment.path)
    }
    let checksum = PageSpace.checksum(Bytes(page), segmentSeed: segment.header.seed, index: index)
    chunk.append(contentsOf: page)
    appendedPages += 1
    parts[last].extent.pages += 1
    parts[last].extent.chain = Checksums.mix(parts[last].extent.chain, checksum)
    return (PageReference(segment: segment.number, index: UInt32(truncatingIfNeeded: index)), checksum)
  }

  /// The index of the last part, which is a new one if the last is full or sealed.
  private func partWithRoom() throws(EngineError) -> Int {
    if !isSealed, let last = parts.last, last.extent.pages < last.segment.pageCapacity {
      return parts.count - 1
    }
    try flush()
    let segment = try files.make(number: try numbers.take())
    segment.add(to: space, pageCount: 1, firstGeneration: firstGeneration)
    parts.append(Part(segment: segment, extent: Extent(pages: 1, chain: segment.header.seed)))
    hasNewNames = true
    isSealed = false
    return parts.count - 1
  }

  /// Replaces all segments by those of another process's checkpoint. Pages after their extents are not referenced.
  ///
  /// - Parameter firstGeneration: The first generation whose tree is that of the checkpoint.
  func replace(by parts: [Part], firstGeneration: UInt64) {
    for part in parts {
      if space.owner(of: part.segment.number) === part.segment {
        space.raisePageCount(part.segment.number, part.extent.pages)
      } else {
        part.segment.add(
          to: space, pageCount: part.extent.pages, firstGeneration: firstGeneration)
      }
    }
    self.parts = parts
    chunk.removeAll()
    unsynced.removeAll()
  }

  /// Whether the segments and their extents are exactly those that a checkpoint references.
  func has(_ named: [CheckpointRecord.Segment]) -> Bool {
    parts.count == named.count
      && zip(parts, named).allSatisfy {
        $0.segment.number == $1.number && UInt64($0.extent.pages) == $1.extent && $0.extent.chain == $1.chain
      }
  }

  /// A segment as a checkpoint references it. Opens the file unless it is open.
  func part(_ named: CheckpointRecord.Segment) throws(EngineError) -> Part {
    // A removed segment may still be open for older generations.
    guard let open = space.owner(of: named.number) as? PageSegment else { return try files.open(named) }
    return Part(
      segment: open,
      extent: Extent(pages: Int(truncatingIfNeeded: named.extent), chain: named.chain))
  }

  /// A segment as a checkpoint references it, for a space beside the store's. Opens the file if it is not open, or not
  /// shared.
  func partForOtherSpace(_ named: CheckpointRecord.Segment) throws(EngineError) -> Part {
    if let open = space.owner(of: named.number) as? PageSegment, !open.isShared {
      return try files.open(named)
    }
    return try part(named)
  }

  // MARK: Rolling back

  /// The state to return to if a checkpoint fails.
  struct Mark {
    fileprivate let parts: [Part]
    fileprivate let isSealed: Bool
  }

  /// The state after the pages that were appended so far.
  var mark: Mark { Mark(parts: parts, isSealed: isSealed) }

  /// Removes the pages appended since a mark, which no frame in the log references: unlinks new files and truncates the
  /// last old one, so that a checkpoint that fails on a full disk uses no space.
  ///
  /// - Returns: The owners of the files' memory. The caller releases them without the writer lock, as unmapping is slow.
  func goBack(to mark: Mark, _: WriterHeld) -> [AnyObject] {
    let begun = parts.map(\.segment.number).filter { number in
      !mark.parts.contains { $0.segment.number == number }
    }
    (parts, isSealed) = (mark.parts, mark.isSealed)
    chunk.removeAll()
    files.folder.unlink(begun.map(SegmentName.pages))
    unsynced.subtract(begun)
    // If truncating fails, the pages after the extent are overwritten later.
    if let last = parts.last, unsynced.contains(last.segment.number) {
      try? last.segment.file.truncate(to: Int64(last.extent.pages * Format.pageBytes))
    }
    return begun.compactMap(space.removeSegment)
  }

  /// Makes the next page begin a new segment.
  func seal() { isSealed = true }

  /// Seals the last part if its file has more pages than its extent, or if its size cannot be read: a checkpoint of a
  /// killed process may reference those pages, and other processes may read them.
  func sealIfLonger() {
    guard let last = parts.last else { return }
    let size = (try? last.segment.file.size()) ?? Int64.max
    if size > Int64(last.extent.pages * Format.pageBytes) { seal() }
  }

  /// Removes segments: pages written from now on do not reference them.
  func drop(_ numbers: SegmentSet) {
    // The part before it may have been sealed.
    if let last = parts.last, numbers.contains(last.segment.number) { seal() }
    parts.removeAll { numbers.contains($0.segment.number) }
  }

  /// Writes the pages that are in `chunk`.
  private func flush() throws(EngineError) {
    guard !chunk.isEmpty, let last = parts.last else { return }
    let offset = last.extent.pages * Format.pageBytes - chunk.count
    require(offset >= Format.pageBytes, "A page is written over the header of its segment.")
    unsynced.insert(last.segment.number)
    do {
      try last.segment.file.write(all: chunk, at: offset)
    } catch {
      throw EngineError.files(error, "the pages of a checkpoint could not be written")
    }
    chunk.removeAll(keepingCapacity: true)
  }

  /// Result of making the pages durable.
  enum Outcome {
    case done
    /// A write failed. Nothing is lost; it can be tried again.
    case failed(EngineError)
    /// A sync failed: the store must be stopped.
    case unsynced(EngineError)
  }

  /// Writes the pages in `chunk`, makes all pages and the names of their segments durable, and makes them readable.
  func finish(syncs: Bool) -> Outcome {
    do {
      try flush()
    } catch {
      return .failed(error)
    }
    do {
      if syncs { try sync() }
    } catch {
      return .unsynced(.files(error, "the pages of a checkpoint could not be synced"))
    }
    for part in parts where unsynced.contains(part.segment.number) {
      space.raisePageCount(part.segment.number, part.extent.pages)
    }
    unsynced.removeAll()
    return .done
  }

  private func sync() throws(FileSystemError) {
    for part in parts where unsynced.contains(part.segment.number) { try part.segment.file.sync(.full) }
    if hasNewNames { try files.folder.directory.sync() }
    hasNewNames = false
  }
}
