/// Follows the positions of one leaf entry after another to their records. What was found out about the last few segments
/// is kept where it is found without a branch that depends on which of them comes: neighbours may lie in any.
struct RecordRun {
  /// How many records are touched at a time.
  static let reach = 32
  private static let lineBytes = 64
  /// Longer records are read in order, which the hardware foresees.
  private static let longest = 1024

  private let view: ReadView
  private let known = KnownSegments.make()
  /// How long the last record was: a guess at how many lines the next ones take.
  private var expectedBytes = 2 * lineBytes

  init(_ view: ReadView) { self.view = view }

  /// A segment whose records can be read without further ado.
  private struct KnownSegment {
    var number = UInt32.max
    var base = UnsafeRawPointer(bitPattern: 8).unsafelyUnwrapped
    var limit = 0
    var seed: UInt64 = 0
  }

  /// The last few segments, each at the place that its number says; one piece of memory, as short scans are many.
  private final class KnownSegments: ManagedBuffer<Void, KnownSegment> {
    private static let count = 8

    static func make() -> KnownSegments {
      let made = create(minimumCapacity: count) { _ in }
      made.withUnsafeMutablePointerToElements { $0.initialize(repeating: KnownSegment(), count: count) }
      return unsafeDowncast(made, to: KnownSegments.self)
    }

    @inline(__always)
    func place(_ number: UInt32) -> UnsafeMutablePointer<KnownSegment> {
      withUnsafeMutablePointerToElements { $0 + (Int(number) & (Self.count &- 1)) }
    }
  }

  /// The record at the position that a leaf has for an entry, checked.
  @inline(__always)
  mutating func record(
    at reference: ValueReference, of leaf: LeafEntries, _ index: Int
  ) throws(EngineError) -> Record {
    let offset = Int(reference.offset)
    let segment = known.place(reference.segment)
    guard segment.pointee.number == reference.segment || enter(reference.segment, segment),
      let record = Record.parse(segment.pointee.base + offset, available: segment.pointee.limit &- offset),
      record.operation == Format.putOperation,
      record.isIntact(segmentSeed: segment.pointee.seed, offset: offset),
      leaf.isKey(record.base + record.keyOffset, record.keyBytes, of: index)
    else { return try otherRecord(reference, leaf, index) }
    expectedBytes = record.totalBytes
    return record
  }

  /// The record is not in a map, or the transaction's own, or damaged.
  @inline(never)
  private func otherRecord(
    _ reference: ValueReference, _ leaf: LeafEntries, _ index: Int
  ) throws(EngineError) -> Record {
    let record = try view.record(at: reference)
    guard leaf.isKey(record.base + record.keyOffset, record.keyBytes, of: index) else {
      throw ReadView.wrongRecord(reference)
    }
    return record
  }

  /// Puts a segment to its place.
  /// - Returns: Whether its records can be read without further ado: it is mapped, and no transaction under
  ///   way has records in it.
  @inline(never)
  private func enter(_ number: UInt32, _ place: UnsafeMutablePointer<KnownSegment>) -> Bool {
    if view.pending != nil, number == view.pendingSegment { return false }
    guard let slot = view.table.slot(number), slot.pointee.filler == nil else { return false }
    place.pointee = KnownSegment(
      number: number, base: slot.pointee.base, limit: slot.pointee.limit.load(ordering: .acquiring),
      seed: slot.pointee.seed)
    return true
  }
}

extension RecordRun {
  /// Loads the records of some entries of a leaf into the cache before their turn comes, all at once: the
  /// waits for memory overlap then, instead of following one another. Nothing of them is believed here.
  @inline(never)
  mutating func touch(_ leaf: LeafEntries, _ span: ClosedRange<Int>) {
    if isInOrder(leaf, span) { return }
    let bytes = min(expectedBytes, Self.longest)
    for index in span {
      guard let reference = leaf.position(index) else { continue }
      let segment = known.place(reference.segment)
      guard segment.pointee.number == reference.segment || enter(reference.segment, segment) else { continue }
      Self.touch(segment.pointee.base, Int(reference.offset), bytes, segment.pointee.limit)
    }
  }

  /// Whether records lie one behind the other, as they were written: the hardware foresees that.
  private func isInOrder(_ leaf: LeafEntries, _ span: ClosedRange<Int>) -> Bool {
    guard let first = leaf.position(span.lowerBound), let last = leaf.position(span.upperBound),
      first.rawValue <= last.rawValue
    else { return false }
    return last.rawValue &- first.rawValue <= UInt64(truncatingIfNeeded: span.count &* expectedBytes &* 2)
  }

  @inline(__always)
  private static func touch(_ base: UnsafeRawPointer, _ start: Int, _ bytes: Int, _ limit: Int) {
    let end = min(start &+ bytes, limit)
    guard start < end else { return }
    base.touchLine(end &- 1)
    var offset = start
    while offset < end {
      base.touchLine(offset)
      offset &+= lineBytes
    }
  }
}
