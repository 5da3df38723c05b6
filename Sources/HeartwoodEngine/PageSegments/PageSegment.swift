import HeartwoodFiles

/// One file of pages. Its first page is the header; pages follow in the order in which they were written. A checkpoint
/// in the log states how many of them belong to the store; later ones are ignored.
final class PageSegment: @unchecked Sendable {
  /// Greatest size of a page segment in bytes, after which a new one is begun.
  static let capacity = 64 << 20

  let header: SegmentHeader
  let file: any File
  let path: String
  private let map: (any FileMap)?
  private let memory: AnonymousMemory?
  /// Which pages were verified, if the file is mapped: every space with the segment knows it then. Otherwise each space
  /// reads the pages into memory of its own, with a lock of its own.
  private let checked: AnonymousMemory?
  /// Greatest number of pages while the file is open, including the header.
  let pageCapacity: Int

  var number: UInt32 { header.number }

  init(
    header: SegmentHeader, file: any File, path: String, bytes: Int, reading: EngineOptions.Reading
  ) throws(EngineError) {
    self.header = header
    self.file = file
    self.path = path
    let capacity = max(bytes, Self.capacity)
    pageCapacity = capacity / Format.pageBytes
    do {
      map = reading == .mapped ? try file.map(length: capacity) : nil
    } catch {
      guard error.code == .unsupported else { throw EngineError.reading(error, path: path, offset: 0) }
      map = nil
    }
    memory = map == nil ? try AnonymousMemory.reserving(capacity, for: path) : nil
    checked = map == nil ? nil : try AnonymousMemory.reserving(pageCapacity, for: path)
  }

  // The file stays open as long as a snapshot may read from it.
  deinit {
    try? file.close()
  }

  /// Whether several spaces may have the segment.
  var isShared: Bool { map != nil }

  /// Makes the pages before `pageCount` readable through a page space.
  ///
  /// - Parameter firstGeneration: The first generation of the space that can refer to one of them.
  func add(to space: PageSpace, pageCount: Int, firstGeneration: UInt64 = 0) {
    guard let bytes = map?.bytes ?? memory?.writable.bytes else { return }
    var fill: PageSpace.Fill?
    if map == nil {
      fill = {
        @Sendable [unowned self] (index: Int, target: WritableBytes) throws(EngineError) in
        try self.read(page: index, into: target)
      }
    }
    space.addSegment(
      number, seed: header.seed, bytes: bytes.bytes(0, pageCapacity * Format.pageBytes), pageCount: pageCount,
      owner: self, firstGeneration: firstGeneration, file: file, checked: checked, fill: fill)
  }

  /// Reads one page from the file. Used if the file is not mapped.
  func read(page index: Int, into target: WritableBytes) throws(EngineError) {
    let offset = Int64(index) * Int64(Format.pageBytes)
    let count: Int
    do {
      count = try file.readFully(into: target, at: offset)
    } catch {
      throw EngineError.reading(error, path: path, offset: offset)
    }
    guard count == target.count else {
      throw EngineError.damaged("the file ends before a page of the tree", file: path, offset: Int(offset))
    }
  }
}
