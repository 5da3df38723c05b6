import HeartwoodFiles

/// Reads single values of the log at the positions that a tree contains.
final class SalvageValues {
  private let source: SalvageSource
  private let segments: [UInt32: SalvageSource.Segment]
  private var files: [UInt32: TolerantFile] = [:]
  private var bytes: [UInt8] = []

  /// Bytes of the first read; most records are shorter.
  private static let firstBytes = 4096

  init(_ source: SalvageSource) {
    self.source = source
    segments = Dictionary(source.logs.map { ($0.header.number, $0) }) { first, _ in first }
  }

  deinit {
    for file in files.values { try? file.close() }
  }

  /// Calls `body` with the value at a position if its record is valid and of `key`; returns false if not.
  func read(
    _ reference: ValueReference, of key: UnsafeRawBufferPointer,
    _ body: (UnsafeRawBufferPointer) throws(EngineError) -> Void
  ) throws(EngineError) -> Bool {
    guard let segment = segments[reference.segment], let file = file(segment) else { return false }
    let offset = Int(reference.offset)
    guard offset >= Format.segmentHeaderBytes, let needed = length(file, offset, segment.size) else {
      return false
    }
    if needed > bytes.count, !read(file, offset, needed) { return false }
    return try bytes.withBytes { (buffer) throws(EngineError) in
      guard let record = Record.parse(Bytes(buffer)),
        record.isPut,
        record.isIntact(segmentSeed: segment.header.seed, offset: offset), record.holds(key)
      else { return false }
      guard record.isCompressed else {
        try body(record.storedValue)
        return true
      }
      guard let value = record.decompressed() else { return false }
      try body(value.bytes.buffer)
      return true
    }
  }

  /// Length of the record according to its first bytes, which have been read; nil if it is invalid.
  private func length(_ file: TolerantFile, _ offset: Int, _ size: Int) -> Int? {
    guard read(file, offset, min(Self.firstBytes, size - offset)) else { return nil }
    guard let total = bytes.withBytes({ Record.totalBytes(Bytes($0)) }), total <= size - offset else {
      return nil
    }
    return total
  }

  private func read(_ file: TolerantFile, _ offset: Int, _ count: Int) -> Bool {
    guard count >= 10, let found = try? StoreFolder.read(file, at: offset, count: count, path: file.name),
      found.count == count
    else { return false }
    bytes = found
    return true
  }

  private func file(_ segment: SalvageSource.Segment) -> TolerantFile? {
    if let known = files[segment.header.number] { return known }
    let opened = source.open(segment.name)
    files[segment.header.number] = opened
    return opened
  }
}
