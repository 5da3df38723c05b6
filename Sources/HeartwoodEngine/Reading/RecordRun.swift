/// Follows the positions of leaf entries to their records, which it has fetched ahead of their turn.
struct RecordRun {
  /// How many records ahead of their turn are fetched at least: enough to hide what a wait for memory takes.
  static let reach = 16
  /// How many are fetched at a time: a processor that looks for one's page goes on to the next, but not over the work between.
  static let batch = 8
  private static let lineBytes = 64
  /// Of longer records the beginning is fetched; the hardware foresees the rest.
  private static let longest = 1024

  private let view: ReadView
  private let segments: NumberTable<SegmentSlot>.Known
  /// Where a transaction's own records may be; 0 where there are none.
  private let pendingSegment: UInt32
  /// The position of the last record that was fetched, and the segment that it is in.
  private var lastFetched: UInt64 = 0
  private var fetchedSlot: UnsafeMutablePointer<SegmentSlot>?
  /// What lies behind the last record, and where that was: of records that were written one after the other, the next.
  private var next: UInt64 = 0
  private var lastSlot: UnsafeMutablePointer<SegmentSlot>?
  /// How long the last record was: a guess at how many lines the next ones take.
  private var expectedBytes = 2 * lineBytes

  init(_ view: ReadView) {
    self.view = view
    segments = view.table.known
    pendingSegment = view.pending == nil ? 0 : view.pendingSegment
  }

  /// The record at the position that a leaf has for an entry, checked.
  @inline(__always)
  mutating func record(
    at reference: ValueReference, of leaf: LeafEntries, _ index: Int
  ) throws(EngineError) -> Record {
    let offset = Int(reference.offset)
    guard let slot = reference.rawValue == next ? lastSlot : readableSlot(reference),
      let record = Record.parse(
        slot.pointee.base + offset, available: slot.pointee.limit.load(ordering: .acquiring) &- offset),
      record.operation == Format.putOperation,
      leaf.isKey(record.base + record.keyOffset, record.keyBytes, of: index),
      record.isIntact(segmentSeed: slot.pointee.seed, offset: offset)
    else { return try otherRecord(at: reference, of: leaf, index) }
    expectedBytes = record.totalBytes
    next = reference.rawValue &+ UInt64(truncatingIfNeeded: record.totalBytes)
    lastSlot = slot
    return record
  }

  /// The record is not in a map, or the transaction's own, or damaged.
  @inline(never)
  private func otherRecord(
    at reference: ValueReference, of leaf: LeafEntries, _ index: Int
  ) throws(EngineError) -> Record {
    let record = try view.record(at: reference)
    guard leaf.isKey(record.base + record.keyOffset, record.keyBytes, of: index) else {
      throw ReadView.wrongRecord(reference)
    }
    return record
  }

  /// The segment of a record that can be read without further ado: it is mapped, and no transaction under way has records in it.
  @inline(__always)
  private func readableSlot(_ reference: ValueReference) -> UnsafeMutablePointer<SegmentSlot>? {
    guard reference.segment != pendingSegment, let slot = segments[reference.segment],
      slot.pointee.filler == nil
    else { return nil }
    return slot
  }
}

extension RecordRun {
  /// Has the records of some entries fetched, so that they are there when their turn comes. Nothing of them is believed here.
  @inline(never)
  mutating func fetch(_ leaf: LeafEntries, _ index: Int, _ count: Int, _ step: Int) {
    leaf.fetchHeap(index, count, step)
    if step > 0, fetchRow(leaf, index, count) { return }
    for place in 0..<count {
      guard let reference = leaf.position(index &+ place &* step) else { continue }
      // Close behind the one before it is in the same file.
      let isNear = reference.rawValue &- lastFetched < UInt64(Self.longest)
      guard let slot = isNear ? fetchedSlot : readableSlot(reference) else { continue }
      fetch(slot, Int(reference.offset))
      lastFetched = reference.rawValue
      fetchedSlot = slot
    }
  }

  /// Where the records lie close behind one another, and behind the last that was fetched: all lines up to the end of the
  /// last one, in a third of the instructions.
  ///
  /// - Returns: false where they don't.
  @inline(__always)
  private mutating func fetchRow(_ leaf: LeafEntries, _ index: Int, _ count: Int) -> Bool {
    var (spread, last): (UInt64, UInt64) = (0, lastFetched)
    for place in index..<index &+ count {
      let reference = leaf.reference(place)
      spread |= reference &- last
      last = reference
    }
    // Less than a power of two are all of them, or none.
    guard spread < UInt64(Self.longest), last & Page.inlineMark == 0, let slot = fetchedSlot else {
      return false
    }
    let length = min(expectedBytes, Self.longest)
    let end = min(
      Int(ValueReference(rawValue: last).offset) &+ length, slot.pointee.limit.load(ordering: .acquiring))
    var place =
      (Int(ValueReference(rawValue: lastFetched).offset) &+ length &- 1 | (Self.lineBytes &- 1)) &+ 1
    while place < end {
      slot.pointee.base.prefetch(place)
      place &+= Self.lineBytes
    }
    lastFetched = last
    return true
  }

  @inline(__always)
  private func fetch(_ slot: UnsafeMutablePointer<SegmentSlot>, _ offset: Int) {
    let end = min(offset &+ min(expectedBytes, Self.longest), slot.pointee.limit.load(ordering: .acquiring))
    guard offset < end else { return }
    var place = end &- 1
    repeat {
      slot.pointee.base.prefetch(place)
      place &-= Self.lineBytes
    } while place > offset
    slot.pointee.base.prefetch(offset)
  }
}
