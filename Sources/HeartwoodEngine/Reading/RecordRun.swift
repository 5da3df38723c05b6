/// Resolves the positions of leaf entries to records, which it prefetches ahead.
struct RecordRun {
  /// The least number of records prefetched ahead: enough to hide the latency of memory.
  static let reach = 16
  /// Number of records prefetched at a time: their page table lookups then overlap, which they do not across
  /// the work between batches.
  static let batch = 8
  private static let lineBytes = 64
  /// Of longer records only this many bytes are prefetched; hardware prefetches the remainder.
  private static let longest = 1024

  let view: ReadView
  private let segments: NumberTable<SegmentSlot>.Known
  /// Segment of the transaction's own records; 0 if there are none.
  private let pendingSegment: UInt32
  /// The position of the last prefetched record, and its segment.
  private var lastFetched: UInt64 = 0
  private var fetchedSlot: StableReference<SegmentSlot>?
  /// The position after the last record, and its segment: the next record if they were written one after the
  /// other.
  private var next: UInt64 = 0
  private var lastSlot: StableReference<SegmentSlot>?
  /// Length of the last record, an estimate for the next ones.
  private var expectedBytes = 2 * lineBytes

  init(_ view: ReadView) {
    self.view = view
    segments = view.table.known
    pendingSegment = view.pending == nil ? 0 : view.pendingSegment
  }

  /// The record at an entry's position, verified.
  @inline(__always)
  mutating func record(
    at reference: ValueReference, of leaf: LeafEntries, _ index: Int
  ) throws(EngineError) -> Record {
    let offset = Int(reference.offset)
    guard let slot = reference.rawValue == next ? lastSlot : readableSlot(reference),
      let bytes = slot.value.recordBytes(at: offset), let record = Record.parse(bytes),
      record.isPut,
      leaf.isKey(record.keyInPlace, of: index),
      record.isIntact(segmentSeed: slot.value.seed, offset: offset)
    else { return try otherRecord(at: reference, of: leaf, index) }
    expectedBytes = record.totalBytes
    next = reference.rawValue &+ UInt64(truncatingIfNeeded: record.totalBytes)
    lastSlot = slot
    return record
  }

  /// The record is not mapped, or the transaction's own, or damaged.
  @inline(never)
  private func otherRecord(
    at reference: ValueReference, of leaf: LeafEntries, _ index: Int
  ) throws(EngineError) -> Record {
    let record = try view.record(at: reference)
    guard leaf.isKey(record.keyInPlace, of: index) else {
      throw ReadView.wrongRecord(reference)
    }
    return record
  }

  /// The slot of a segment that can be read directly: it is mapped, and contains no records of the
  /// transaction. Otherwise nil.
  @inline(__always)
  private func readableSlot(_ reference: ValueReference) -> StableReference<SegmentSlot>? {
    guard reference.segment != pendingSegment, let slot = segments[reference.segment],
      slot.value.filler == nil
    else { return nil }
    return slot
  }
}

extension RecordRun {
  /// Prefetches the records of some entries. Nothing read here is trusted.
  @inline(never)
  mutating func fetch(_ leaf: LeafEntries, _ index: Int, _ count: Int, _ step: Int) {
    leaf.fetchHeap(index, count, step)
    if step > 0, fetchRow(leaf, index, count) { return }
    for place in 0..<count {
      guard let reference = leaf.position(index &+ place &* step) else { continue }
      // A position shortly after the last one is in the same file.
      let isNear = reference.rawValue &- lastFetched < UInt64(Self.longest)
      guard let slot = isNear ? fetchedSlot : readableSlot(reference) else { continue }
      fetch(slot, Int(reference.offset))
      lastFetched = reference.rawValue
      fetchedSlot = slot
    }
  }

  /// Prefetches records that directly or nearly follow one another and the last prefetched one: all lines up to
  /// the end of the last record, with a third of the instructions.
  ///
  /// - Returns: False if the records are not close together; nothing is prefetched then.
  @inline(__always)
  private mutating func fetchRow(_ leaf: LeafEntries, _ index: Int, _ count: Int) -> Bool {
    var (spread, last): (UInt64, UInt64) = (0, lastFetched)
    for place in index..<index &+ count {
      let reference = leaf.reference(place)
      spread |= reference &- last
      last = reference
    }
    // A union of bits is less than a power of two if and only if every distance is.
    guard spread < UInt64(Self.longest), last & Page.inlineMark == 0, let slot = fetchedSlot else {
      return false
    }
    let length = min(expectedBytes, Self.longest)
    let end = min(
      Int(ValueReference(rawValue: last).offset) &+ length, slot.value.limit.load(ordering: .acquiring))
    var place =
      (Int(ValueReference(rawValue: lastFetched).offset) &+ length &- 1 | (Self.lineBytes &- 1)) &+ 1
    while place < end {
      slot.value.bytes.prefetch(place)
      place &+= Self.lineBytes
    }
    lastFetched = last
    return true
  }

  @inline(__always)
  private func fetch(_ slot: StableReference<SegmentSlot>, _ offset: Int) {
    let end = min(offset &+ min(expectedBytes, Self.longest), slot.value.limit.load(ordering: .acquiring))
    guard offset < end else { return }
    var place = end &- 1
    repeat {
      slot.value.bytes.prefetch(place)
      place &-= Self.lineBytes
    } while place > offset
    slot.value.bytes.prefetch(offset)
  }
}
