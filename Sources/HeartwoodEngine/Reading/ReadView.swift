/// The tree of one generation and the log that contains its values. Every read of a snapshot or a transaction
/// goes through a view, which verifies every value.
struct ReadView: @unchecked Sendable {
  let view: TreeView
  /// The frame under construction, from which a transaction reads its own values.
  let pending: FrameBuilder?
  let pendingSegment: UInt32
  /// Keeps compressed values that were read; nil if the store has none.
  let decompressed: DecompressedValues?

  init(
    _ view: TreeView, pending: FrameBuilder? = nil, pendingSegment: UInt32 = 0,
    keeping decompressed: DecompressedValues? = nil
  ) {
    self.view = view
    self.pending = pending
    self.pendingSegment = pendingSegment
    self.decompressed = decompressed
  }

  @inline(__always)
  var table: SegmentTable { view.space.values }

  /// The value of a key; nil if the tree does not contain it.
  @inline(__always)
  func value(of key: UnsafeRawBufferPointer) throws(EngineError) -> UnsafeRawBufferPointer? {
    guard let entry = try view.find(key) else { return nil }
    switch entry {
    case .inline(let bytes): return bytes
    case .position(let reference): return try value(at: reference, of: key)
    }
  }

  /// The value at a position, after checking that its record has this key.
  @inline(__always)
  func value(
    at reference: ValueReference, of key: UnsafeRawBufferPointer
  ) throws(EngineError) -> UnsafeRawBufferPointer {
    try value(of: try record(at: reference, of: key), at: reference)
  }

  /// The record at a position, verified, after checking that it has this key.
  @inline(__always)
  func record(
    at reference: ValueReference, of key: UnsafeRawBufferPointer
  ) throws(EngineError) -> Record {
    let record = try record(at: reference)
    guard record.holds(key) else { throw Self.wrongRecord(reference) }
    return record
  }

  /// The record at a position, verified.
  @inline(__always)
  func record(at reference: ValueReference) throws(EngineError) -> Record {
    if let pending, reference.segment == pendingSegment, Int(reference.offset) >= pending.start {
      return try Self.record(in: pending, at: reference)
    }
    return try table.record(at: reference)
  }

  /// A record of the transaction itself that is not written yet. Memory needs no checksum.
  private static func record(
    in pending: FrameBuilder, at reference: ValueReference
  ) throws(EngineError) -> Record {
    let offset = Int(reference.offset) - pending.start
    guard offset < pending.count,
      let record = Record.parse(pending.bytes(from: offset))
    else { throw damaged(reference) }
    return record
  }

  @inline(never)
  fileprivate static func missing(_ reference: ValueReference) -> EngineError {
    .damaged(
      "the tree refers to a log segment that is missing; restore the file",
      file: SegmentName.log(reference.segment))
  }

  @inline(never)
  static func damaged(_ reference: ValueReference) -> EngineError {
    .damaged(
      "a value is damaged: its checksum is wrong; run verify, and restore the file from a backup",
      file: SegmentName.log(reference.segment), offset: Int(reference.offset))
  }

  @inline(never)
  static func wrongRecord(_ reference: ValueReference) -> EngineError {
    .damaged(
      "the tree is damaged: it refers to the value of another key; run verify",
      file: SegmentName.log(reference.segment), offset: Int(reference.offset))
  }
}

extension SegmentTable {
  /// The record at a position, verified.
  @inline(__always)
  func record(at reference: ValueReference) throws(EngineError) -> Record {
    guard let slot = slot(reference.segment) else { throw ReadView.missing(reference) }
    let offset = Int(reference.offset)
    guard let bytes = slot.value.recordBytes(at: offset) else { throw ReadView.damaged(reference) }
    if let filler = slot.value.filler {
      try Self.fill(filler, offset, bytes)
    } else if bytes.count > 128 {
      // The end of the record is known only after its first line is loaded; the next ones are prefetched
      // meanwhile.
      bytes.prefetch(64)
      bytes.prefetch(128)
    }
    guard let record = Record.parse(bytes),
      record.isPut,
      record.isIntact(segmentSeed: slot.value.seed, offset: offset)
    else { throw ReadView.damaged(reference) }
    return record
  }

  /// For a segment that is not mapped: reads the record's lengths, then the remainder.
  @inline(never)
  private static func fill(
    _ filler: UnownedReference<ChunkFiller>, _ offset: Int, _ bytes: Bytes
  ) throws(EngineError) {
    let filler = filler.object
    try filler.require(offset, min(bytes.count, Record.overheadLimit))
    guard let record = Record.parse(bytes) else { return }
    try filler.require(offset, record.totalBytes)
  }
}

extension PageSpace {
  /// Calls `body` with the value of a key if the tree of `root` contains it. Reads one value without the reference
  /// counting of a view.
  func readValue(
    of key: UnsafeRawBufferPointer, from root: TreeRoot, _ body: (UnsafeRawBufferPointer) throws -> Void
  ) throws {
    switch try find(SearchKey(key), from: root) {
    case nil: return
    case .inline(let bytes): try body(bytes)
    case .position(let reference):
      let record = try values.record(at: reference)
      guard record.holds(key) else { throw ReadView.wrongRecord(reference) }
      try record.readValue(at: reference, body)
    }
  }
}

extension Record {
  /// Whether the record is of this key.
  @inline(__always)
  func holds(_ other: UnsafeRawBufferPointer) -> Bool {
    keyBytes == other.count && keyInPlace.begins(with: Bytes(other))
  }
}
