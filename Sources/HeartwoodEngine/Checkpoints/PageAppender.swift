import HeartwoodBytes
import HeartwoodFiles

/// Appends the pages of one checkpoint to a page segment, in small writes, and goes on in another
/// segment when one is full. Nothing here is believed before a checkpoint frame names it.
final class PageAppender {
  /// One write: small, so that commits beside it are not held up.
  private static let chunkBytes = 64 << 10

  /// Where the pages of a segment end, as the newest checkpoint names it.
  struct Extent: Hashable, Sendable {
    /// Pages, the header's included.
    var pages: Int
    /// The checksums of the pages, joined in order.
    var chain: UInt64
  }

  private(set) var segment: PageSegment
  private(set) var extent: Extent
  /// Segments that were filled on the way, with their extents.
  private(set) var filled: [(segment: PageSegment, extent: Extent)] = []
  private var chunk: [UInt8] = []
  private let makeSegment: () throws(EngineError) -> PageSegment

  init(_ segment: PageSegment, extent: Extent, makeSegment: @escaping () throws(EngineError) -> PageSegment) {
    self.segment = segment
    self.extent = extent
    self.makeSegment = makeSegment
    chunk.reserveCapacity(Self.chunkBytes)
  }

  /// The place that the next page will have.
  func nextPlace() throws(EngineError) -> (segment: PageSegment, index: Int) {
    if extent.pages >= segment.pageCapacity {
      try flush()
      filled.append((segment, extent))
      segment = try makeSegment()
      extent = .ofHeader(segment.header)
    }
    return (segment, extent.pages)
  }

  /// Appends a page at the place that `nextPlace` gave.
  func append(_ page: UnsafeRawBufferPointer, checksum: UInt64) throws(EngineError) {
    chunk.append(contentsOf: page)
    extent.pages += 1
    extent.chain = Checksums.mix(extent.chain, checksum)
    if chunk.count >= Self.chunkBytes { try flush() }
  }

  /// Writes what is still held.
  func flush() throws(EngineError) {
    guard !chunk.isEmpty else { return }
    let offset = extent.pages * Format.pageBytes - chunk.count
    do {
      try segment.file.write(all: chunk, at: offset)
    } catch {
      throw EngineError.files(error, "the pages of a checkpoint could not be written")
    }
    chunk.removeAll(keepingCapacity: true)
  }
}

extension PageAppender.Extent {
  /// A segment with nothing but its header.
  static func ofHeader(_ header: SegmentHeader) -> PageAppender.Extent {
    PageAppender.Extent(pages: 1, chain: header.seed)
  }
}
