/// Applies the log's transactions to a tree in batches. Changes of a batch are sorted by key, so that each
/// leaf is searched once and only the last change of each key is applied.
final class LogApplier {
  private let tree: TreeWriter
  private var changes: [Change] = []

  /// Largest number of changes in a batch.
  private static let most = 1 << 18

  /// A put or a delete.
  private struct Change {
    /// The first bytes of the key after the prefix that all keys of the batch share.
    var head: UInt64
    /// The record in memory; `reference` is its position in the log, which increases from change to change.
    let start: Bytes.Start
    let reference: ValueReference

    /// The record's lengths were checked when it was added.
    var record: Record? { Record.parse(start.unbounded) }

    var key: SearchKey { SearchKey(record?.key ?? UnsafeRawBufferPointer(start: nil, count: 0)) }
  }

  init(tree: TreeWriter) { self.tree = tree }

  /// Adds the frame of a transaction; ignores other frames.
  ///
  /// - Precondition: The segment stays open until `finish`.
  /// - Throws: `.damaged` if a record is invalid.
  func add(_ frame: ScannedFrame, in segment: LogSegment) throws(EngineError) {
    guard frame.header.kind == Format.transactionKind else { return }
    var records = RecordIterator(frame.payload, firstOffset: frame.position.offset + Format.frameHeaderBytes)
    while let (record, offset) = records.next() {
      let reference = ValueReference(segment: segment.number, offset: UInt32(truncatingIfNeeded: offset))
      guard try add(record, reference) else {
        throw EngineError.damaged(
          "a record of the log is invalid; run verify", file: segment.path, offset: offset)
      }
    }
  }

  /// Returns false if the record is invalid although its checksum matches.
  private func add(_ record: Record, _ reference: ValueReference) throws(EngineError) -> Bool {
    guard record.isValid else { return false }
    switch record.operation {
    case Format.putOperation, Format.putCompressedOperation, Format.deleteOperation:
      if changes.count == Self.most { try finish() }
      changes.append(Change(head: 0, start: Bytes.Start(of: record.bytes), reference: reference))
    case Format.deleteRangeOperation:
      guard let range = RangeRecord.decode(record) else { return false }
      try finish()
      _ = try tree.deleteRange(range)
    default: return false
    }
    return true
  }

  /// Applies the remaining changes.
  func finish() throws(EngineError) {
    Self.sort(&changes)
    for index in changes.indices {
      guard let record = changes[index].record else { continue }
      if index + 1 < changes.count, changes[index + 1].record?.holds(record.key) == true { continue }
      try apply(record, at: changes[index].reference)
    }
    changes.removeAll(keepingCapacity: true)
  }

  private func apply(_ record: Record, at reference: ValueReference) throws(EngineError) {
    if record.isCompressed { tree.space.values.hasCompressedValues.store(true, ordering: .relaxed) }
    guard record.operation == Format.deleteOperation else {
      // A page contains no compressed value, however short it is.
      let isShort = record.valueBytes <= TreeEntry.inlineLimit && !record.isCompressed
      _ = try tree.put(record.key, isShort ? .inline(record.storedValue) : .position(reference))
      return
    }
    _ = try tree.delete(record.key)
  }

  // MARK: Sorting

  private static func sort(_ changes: inout [Change]) {
    guard changes.count > 1 else { return }
    let prefix = commonPrefix(changes)
    for index in changes.indices { changes[index].head = changes[index].key.head(from: prefix) }
    changes.sort { first, second in
      if first.head != second.head { return first.head < second.head }
      let order = SearchKey.compare(first.key, second.key)
      return order != 0 ? order < 0 : first.reference.rawValue < second.reference.rawValue
    }
  }

  /// Length in bytes of the prefix that all keys share.
  private static func commonPrefix(_ changes: [Change]) -> Int {
    guard let first = changes.first?.key else { return 0 }
    var count = first.count
    for change in changes {
      let key = change.key
      count = min(count, key.count)
      if Bytes.compare(first.bytes, key.bytes, count) == 0 { continue }
      count = (0..<count).first { first.bytes.field8($0) != key.bytes.field8($0) } ?? count
    }
    return count
  }
}
