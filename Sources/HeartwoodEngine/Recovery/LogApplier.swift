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
    /// Address of the record in memory; `reference` is its position in the log, which increases from change
    /// to change.
    let base: UnsafeRawPointer
    let reference: ValueReference

    /// The record's lengths were checked when it was added.
    var record: Record? { Record.parse(base, available: .max) }

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
    case Format.putOperation, Format.deleteOperation:
      if changes.count == Self.most { try finish() }
      changes.append(Change(head: 0, base: record.base, reference: reference))
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
    sort()
    for index in changes.indices {
      guard let record = changes[index].record else { continue }
      if index + 1 < changes.count, changes[index + 1].record?.holds(record.key) == true { continue }
      try apply(record, at: changes[index].reference)
    }
    changes.removeAll(keepingCapacity: true)
  }

  private func apply(_ record: Record, at reference: ValueReference) throws(EngineError) {
    guard record.operation == Format.deleteOperation else {
      let isShort = record.valueBytes <= TreeEntry.inlineLimit
      _ = try tree.put(record.key, isShort ? .inline(record.value) : .position(reference))
      return
    }
    _ = try tree.delete(record.key)
  }

  // MARK: Sorting

  private func sort() {
    guard changes.count > 1 else { return }
    let prefix = commonPrefix()
    changes.withUnsafeMutableBufferPointer { changes in
      for index in changes.indices { changes[index].head = changes[index].key.head(from: prefix) }
      changes.sort { first, second in
        if first.head != second.head { return first.head < second.head }
        let order = SearchKey.compare(first.key, second.key)
        return order != 0 ? order < 0 : first.reference.rawValue < second.reference.rawValue
      }
    }
  }

  /// Length in bytes of the prefix that all keys share.
  private func commonPrefix() -> Int {
    guard let first = changes.first?.key else { return 0 }
    var count = first.count
    for change in changes {
      let key = change.key
      count = min(count, key.count)
      if SearchKey.compare(first.base, key.base, count) == 0 { continue }
      count = (0..<count).first { first.base.field8($0) != key.base.field8($0) } ?? count
    }
    return count
  }
}
