import HeartwoodFiles

/// One file of pages. Its first page is the header; pages follow in the order they were written, and a
/// checkpoint in the log names how many of them it needs. What lies behind belongs to nobody.
final class PageSegment: @unchecked Sendable {
  /// How large a page segment may become; another one is begun then.
  static let capacity = 64 << 20

  let header: SegmentHeader
  let file: any File
  let path: String
  private let map: (any FileMap)?
  private let memory: AnonymousMemory?
  /// How many pages it can have while it is open.
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
  }

  // The file stays open for as long as a snapshot may have to read from it.
  deinit {
    try? file.close()
  }

  /// Makes the pages reachable in a space: up to `pageCount` for now.
  func add(to space: PageSpace, pageCount: Int) {
    guard let base = map?.base ?? memory.map({ UnsafeRawPointer($0.base) }) else { return }
    var fill: PageSpace.Fill?
    if map == nil {
      fill = {
        @Sendable [unowned self] (index: Int, target: UnsafeMutableRawBufferPointer) throws(EngineError) in
        try self.read(page: index, into: target)
      }
    }
    space.addSegment(
      number, seed: header.seed, base: base, pageCapacity: pageCapacity, pageCount: pageCount, owner: self,
      fill: fill)
  }

  /// Reads one page; used where there is no map.
  func read(page index: Int, into target: UnsafeMutableRawBufferPointer) throws(EngineError) {
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

extension AnonymousMemory {
  /// Memory that costs nothing before it is touched.
  static func reserving(_ count: Int, for path: String) throws(EngineError) -> AnonymousMemory {
    do {
      return try AnonymousMemory(byteCount: count)
    } catch {
      throw EngineError(
        .inputOutput, "the file could not be opened: \(EngineError.tooFewAddresses)", file: path,
        underlying: error)
    }
  }
}
