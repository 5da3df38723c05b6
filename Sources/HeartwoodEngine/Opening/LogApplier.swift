/// Applies the log's transactions to a tree, many at a time: sorted by their keys, so that each leaf is looked for
/// once, and of each key only what comes last.
final class LogApplier {
  private let tree: TreeWriter
  private var changes: [Change] = []

  /// So many changes are sorted at once.
  private static let most = 1 << 18

  /// A put or a delete.
  private struct Change {
    /// Of the key, behind what all keys of the changes have in common.
    var head: UInt64
    /// Where the record is in memory, and in the log. What comes later has a greater one.
    let base: UnsafeRawPointer
    let reference: ValueReference

    /// Its lengths were looked at when it was added.
    var record: Record? { Record.parse(base, available: .max) }

    var key: SearchKey { SearchKey(record?.key ?? UnsafeRawBufferPointer(start: nil, count: 0)) }
  }

  init(tree: TreeWriter) { self.tree = tree }

  /// Takes a transaction's frame; others change nothing. Its segment has to stay open until `finish`.
  func add(_ frame: ScannedFrame, in segment: LogSegment) throws(EngineError) {
    guard frame.header.kind == Format.transactionKind else { return }
    var records = RecordIterator(frame.payload, firstOffset: frame.position.offset + Format.frameHeaderBytes)
    while let (record, offset) = records.next() {
      let reference = ValueReference(segment: segment.number, offset: UInt32(truncatingIfNeeded: offset))
      guard try add(record, reference) else {
        throw EngineError.damaged("a record of the log makes no sense", file: segment.path, offset: offset)
      }
    }
  }

  /// False where the record's checksum has held and it makes no sense all the same.
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

  /// Applies what is left.
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

  /// How many bytes all keys begin with.
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
