import HeartwoodFiles

@testable import HeartwoodEngine

/// Decoding of frames and records. The first byte is a set of flags: recalculate the checksums (1), read the segment
/// through a map (2).
enum FrameTarget {
  private static let identifier = StoreIdentifier(low: 3, high: 4)
  private static let header = SegmentHeader(
    identifier: identifier, number: 1, salt: 5, predecessor: nil, copiedThrough: 0, durableThrough: 0)

  static func finding(_ bytes: [UInt8]) -> String? {
    guard let mode = bytes.first else { return nil }
    var log = header.encoded(magic: Format.logSegmentMagic) + bytes.dropFirst()
    if mode & 1 != 0 { Sealing.frames(&log, from: Format.segmentHeaderBytes, seed: header.seed) }
    do {
      let segment = try segment(log, mode & 2 != 0 ? .mapped : .buffered)
      if let finding = try walk(segment) { return finding }
      let scan = try LogScan(
        [segment], from: header.firstPoint, knownDurable: header.firstPoint, exactly: false)
      return scan.validCount < scan.durableCount ? "more is proven than valid" : nil
    } catch let error as EngineError {
      return error.code == .damaged ? nil : "\(error)"
    } catch {
      return "\(error)"
    }
  }

  private static func segment(_ bytes: [UInt8], _ reading: EngineOptions.Reading) throws -> LogSegment {
    let fileSystem = MemoryFileSystem()
    try fileSystem.createDirectory("/f")
    let file = try fileSystem.openDirectory("/f").open("log", .createNew)
    try file.write(all: bytes, at: 0)
    return try LogSegment(
      header: header, file: file, path: "/f/log", limit: bytes.count, capacity: bytes.count, reading: reading)
  }

  /// Checks that reading whole frames, reading headers only and searching for frames agree.
  private static func walk(_ segment: LogSegment) throws(EngineError) -> String? {
    var walk = try LogWalk([segment][...], from: header.firstPoint, upTo: nil)
    var outline = walk
    var previous = Format.segmentHeaderBytes - 1
    while let frame = try walk.next() {
      guard let same = try outline.nextOutline(), outline.point == walk.point, same.header == frame.header
      else { return "the outline at \(frame.position.offset) is another" }
      guard let found = try FrameScanner(segment).nextHeader(after: previous),
        found.offset <= frame.position.offset
      else { return "the frame at \(frame.position.offset) is not found by searching" }
      previous = frame.position.offset
      use(frame)
    }
    while let found = try FrameScanner(segment).nextHeader(after: previous) { previous = found.offset }
    return nil
  }

  private static func use(_ frame: ScannedFrame) {
    if frame.header.kind == Format.checkpointKind {
      _ = NamedCheckpoint(frame)
      return
    }
    var records = RecordIterator(frame.payload, firstOffset: frame.position.offset)
    while let (record, _) = records.next() {
      _ = record.isValid
      _ = record.key.reduce(0, &+)
      _ = record.storedValue.reduce(0, &+)
      _ = record.decompressed()
      _ = RangeRecord.decode(record)
    }
  }

  /// Parts of the log of a small store.
  static var seeds: [[UInt8]] {
    guard let log = try? SmallStore().files[SegmentName.log(1)] else { return [] }
    let frames = log.dropFirst(Format.segmentHeaderBytes)
    return [1, 3].map { [UInt8($0)] + frames.prefix(1500) } + [
      [1] + frames.suffix(from: frames.startIndex + 4000).prefix(900)
    ]
  }
}
