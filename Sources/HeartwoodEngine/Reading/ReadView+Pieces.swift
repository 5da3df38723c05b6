import HeartwoodBytes
import HeartwoodFiles

/// Reads a value piece by piece, so that it need not be in memory as a whole.
extension ReadView {
  /// Calls `body` with the pieces of a value in order until it returns false; returns whether the key exists.
  func readValue(
    of key: UnsafeRawBufferPointer, pieceBytes: Int, _ body: (UnsafeRawBufferPointer) throws -> Bool
  ) throws -> Bool {
    switch try view.find(key) {
    case nil: return false
    case .inline(let value): try Self.pass(value, in: pieceBytes, body)
    case .position(let reference):
      if let value = try StoredValue(self, reference, of: key), value.bytes > pieceBytes {
        try value.read(in: pieceBytes, body)
      } else {
        try record(at: reference, of: key).readValue(at: reference) {
          try Self.pass($0, in: pieceBytes, body)
        }
      }
    }
    return true
  }

  private static func pass(
    _ value: UnsafeRawBufferPointer, in pieceBytes: Int, _ body: (UnsafeRawBufferPointer) throws -> Bool
  ) throws {
    // The system can reclaim the memory of a map at any time.
    for start in stride(from: 0, to: max(1, value.count), by: pieceBytes) {
      let piece = value[min(start, value.count)..<min(start + pieceBytes, value.count)]
      guard try body(UnsafeRawBufferPointer(rebasing: piece)) else { break }
    }
  }
}

/// A value in a file that is not mapped.
private struct StoredValue {
  let reference: ValueReference
  let filler: ChunkFiller
  let seed: UInt64
  /// The record's lengths as read from the file, not verified.
  let record: Record

  var bytes: Int { record.valueBytes }
  private var offset: Int { Int(reference.offset) }

  /// Nil if the value is in memory or mapped, or compressed.
  init?(
    _ view: ReadView, _ reference: ValueReference, of key: UnsafeRawBufferPointer
  ) throws(EngineError) {
    guard let slot = view.table.slot(reference.segment), let filler = slot.value.filler,
      view.pending == nil || reference.segment != view.pendingSegment
        || Int(reference.offset) < (view.pending?.start ?? 0)
    else { return nil }
    self.reference = reference
    self.filler = filler.object
    seed = slot.value.seed
    let offset = Int(reference.offset)
    guard let bytes = slot.value.recordBytes(at: offset) else { throw ReadView.damaged(reference) }
    try self.filler.require(offset, min(bytes.count, Record.overheadLimit + Format.keyLimit))
    guard let record = Record.parse(bytes), record.isPut else { throw ReadView.damaged(reference) }
    guard record.holds(key) else { throw ReadView.wrongRecord(reference) }
    guard !record.isCompressed else { return nil }
    self.record = record
  }

  /// Reads the value twice: the first pass verifies it, the second passes the pieces.
  func read(in pieceBytes: Int, _ body: (UnsafeRawBufferPointer) throws -> Bool) throws {
    let buffer = OwnedBytes(count: pieceBytes)
    try go(through: buffer.writable) { _ in true }
    try go(through: buffer.writable, body)
  }

  private func go(
    through buffer: WritableBytes, _ body: (UnsafeRawBufferPointer) throws -> Bool
  ) throws {
    let prefix = record.totalBytes - bytes
    var hash = XXH3.Stream(seed: Checksums.seed(seed, at: offset))
    hash.update(record.bytes.bytes(8, prefix - 8).buffer)
    var done = 0
    while done < bytes {
      let target = buffer.bytes(0, min(buffer.count, bytes - done))
      try filler.read(into: target, at: offset + prefix + done)
      hash.update(target.bytes.buffer)
      done += target.count
      guard try body(target.bytes.buffer) else { return }
    }
    guard hash.hash() == record.checksum else { throw ReadView.damaged(reference) }
  }
}
