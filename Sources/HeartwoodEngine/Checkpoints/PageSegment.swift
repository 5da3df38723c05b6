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

  /// Where the file's first byte is, or would be, in memory.
  var base: UnsafeRawPointer? { map?.base ?? memory.map { UnsafeRawPointer($0.base) } }

  /// Where pages come by reading: where they are read to.
  var bufferedBase: UnsafeMutableRawPointer? { memory?.base }

  /// Reads one page; used where there is no map.
  func read(page index: Int, into target: UnsafeMutableRawBufferPointer) throws(EngineError) {
    let offset = Int64(index) * Int64(Format.pageBytes)
    do {
      let count = try file.readFully(into: target, at: offset)
      guard count == target.count else {
        throw EngineError.damaged("the file ends before a page of the tree", file: path, offset: Int(offset))
      }
    } catch let error as FileSystemError {
      throw EngineError.reading(error, path: path, offset: offset)
    } catch let error as EngineError {
      throw error
    } catch {
      throw EngineError(.inputOutput, "reading failed", file: path, offset: offset, underlying: error)
    }
  }

  func close() {
    try? file.close()
  }
}

extension AnonymousMemory {
  /// Memory that costs nothing before it is touched.
  static func reserving(_ count: Int, for path: String) throws(EngineError) -> AnonymousMemory {
    do {
      return try AnonymousMemory(byteCount: count)
    } catch {
      throw EngineError(
        .inputOutput, "no range of addresses is left for the file", file: path, underlying: error)
    }
  }
}
