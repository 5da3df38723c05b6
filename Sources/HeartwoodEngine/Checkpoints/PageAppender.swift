import HeartwoodBytes
import HeartwoodFiles

/// The page segments of an open store. Pages are appended to the last one, in small writes; another is begun
/// when it is full. Nothing here is believed before a checkpoint frame names it.
///
/// Invariants: pages that were given a place are either in the file or in `chunk`. After a failed write they
/// are still in `chunk`, and the next flush writes them again. And a place that a checkpoint frame in the log has named is
/// never written again, as other processes may read there: it lies before the extent of a part, or the part is sealed.
final class PageAppender {
  /// One write: small, so that commits beside it are not held up.
  private static let chunkBytes = 64 << 10

  /// Where the pages of a segment end.
  struct Extent: Hashable, Sendable {
    /// Pages, the header's included.
    var pages: Int
    /// The checksums of the pages, joined in order.
    var chain: UInt64
  }

  /// A segment, with the pages that it has.
  struct Part {
    let segment: PageSegment
    var extent: Extent
  }

  private(set) var parts: [Part]
  private var chunk: [UInt8] = []
  /// Segments with pages that are not synced; those that are new have names to sync too.
  private var unsynced: Set<UInt32> = []
  private var hasNewNames = false
  /// The last part takes no more pages.
  private var isSealed = false
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

  /// Appends a page; returns where it lies and its checksum.
  func append(_ page: UnsafeRawBufferPointer) throws(EngineError) -> (PageReference, UInt64) {
    if chunk.count >= Self.chunkBytes { try flush() }
    let last = try partWithRoom()
    let segment = parts[last].segment
    let index = parts[last].extent.pages
    guard let base = page.baseAddress, page.count == Format.pageBytes else {
      throw EngineError(.damaged, "a page of another length was to be written", file: segment.path)
    }
    let checksum = PageSpace.checksum(base, segmentSeed: segment.header.seed, index: index)
    chunk.append(contentsOf: page)
    parts[last].extent.pages += 1
    parts[last].extent.chain = Checksums.mix(parts[last].extent.chain, checksum)
    return (PageReference(segment: segment.number, index: UInt32(truncatingIfNeeded: index)), checksum)
  }

  /// The index of the last part, which is a new one where there is none with room.
  private func partWithRoom() throws(EngineError) -> Int {
    if !isSealed, let last = parts.last, last.extent.pages < last.segment.pageCapacity {
      return parts.count - 1
    }
    try flush()
    let segment = try files.make(number: try numbers.take())
    segment.add(to: space, pageCount: 1)
    parts.append(Part(segment: segment, extent: Extent(pages: 1, chain: segment.header.seed)))
    hasNewNames = true
    isSealed = false
    return parts.count - 1
  }

  /// Has these segments from now on, as a checkpoint names them; what lies behind, nobody has named.
  func replace(by parts: [Part]) {
    for part in parts {
      if space.owner(of: part.segment.number) === part.segment {
        space.raisePageCount(part.segment.number, part.extent.pages)
      } else {
        part.segment.add(to: space, pageCount: part.extent.pages)
      }
    }
    self.parts = parts
    chunk.removeAll()
    unsynced.removeAll()
  }

  /// Whether these segments have exactly the pages that are named.
  func has(_ named: [CheckpointRecord.Segment]) -> Bool {
    parts.count == named.count
      && zip(parts, named).allSatisfy {
        $0.segment.number == $1.number && UInt64($0.extent.pages) == $1.extent && $0.extent.chain == $1.chain
      }
  }

  /// A segment as a checkpoint names it: the one that is open, or opened now.
  func part(_ named: CheckpointRecord.Segment) throws(EngineError) -> Part {
    // One that was taken out may be held by older generations still.
    guard let open = space.owner(of: named.number) as? PageSegment else { return try files.open(named) }
    return Part(
      segment: open,
      extent: Extent(pages: Int(truncatingIfNeeded: named.extent), chain: named.chain))
  }

  // MARK: Giving up

  /// Which pages there are, to come back to where a checkpoint fails.
  struct Mark {
    fileprivate let parts: [Part]
    fileprivate let isSealed: Bool
  }

  /// All pages that were given a place so far.
  var mark: Mark { Mark(parts: parts, isSealed: isSealed) }

  /// Takes back what was appended since, which no frame in the log names: files that were begun are unlinked, and the last
  /// one before is cut, so that a checkpoint that finds no room takes none. Under the writer lock too.
  ///
  /// - Returns: What keeps the memory of the files, to be released without the writer lock.
  func goBack(to mark: Mark) -> [AnyObject] {
    let begun = parts.map(\.segment.number).filter { number in
      !mark.parts.contains { $0.segment.number == number }
    }
    (parts, isSealed) = (mark.parts, mark.isSealed)
    chunk.removeAll()
    files.folder.unlink(begun.map(SegmentName.pages))
    unsynced.subtract(begun)
    // What can't be cut lies behind the extent, and is overwritten.
    if let last = parts.last, unsynced.contains(last.segment.number) {
      try? last.segment.file.truncate(to: Int64(last.extent.pages * Format.pageBytes))
    }
    return begun.compactMap(space.removeSegment)
  }

  /// Lets the next page begin another segment.
  func seal() { isSealed = true }

  /// Begins another segment with the next page where the last file has more pages than are known here: a checkpoint of a process
  /// that was killed may have named them, and readers of it be there. Where its length can't be read, too.
  func sealIfLonger() {
    guard let last = parts.last else { return }
    let size = (try? last.segment.file.size()) ?? Int64.max
    if size > Int64(last.extent.pages * Format.pageBytes) { seal() }
  }

  /// Takes segments out: nothing that is written from now on refers to them.
  func drop(_ numbers: SegmentSet) {
    // The one before was perhaps sealed.
    if let last = parts.last, numbers.contains(last.segment.number) { seal() }
    parts.removeAll { numbers.contains($0.segment.number) }
  }

  /// Writes what is still held.
  private func flush() throws(EngineError) {
    guard !chunk.isEmpty, let last = parts.last else { return }
    let offset = last.extent.pages * Format.pageBytes - chunk.count
    unsynced.insert(last.segment.number)
    do {
      try last.segment.file.write(all: chunk, at: offset)
    } catch {
      throw EngineError.files(error, "the pages of a checkpoint could not be written")
    }
    chunk.removeAll(keepingCapacity: true)
  }

  /// What became of making the pages durable.
  enum Outcome {
    case done
    /// Nothing is lost; it may be tried again.
    case failed(EngineError)
    /// A sync failed: nothing more may be written.
    case unsynced(EngineError)
  }

  /// Writes what is held, makes all pages and the names of their segments durable, and lets readers in.
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
