/// Moves what lives out of segments, step by step, in the order of the keys: internal transactions put the values
/// again, and copy the tree's pages, so that nothing of the newest generation lies in those segments.
///
/// What is moved lies in the order of its keys then, which makes scans quick that had to jump before.
struct Evacuation {
  let store: OpenStore
  /// Segments of the log, none of which is written any more.
  let logs: SegmentSet
  /// Segments of pages, none of which is written any more.
  let pages: SegmentSet
  /// Half empty leaves are filled.
  let compactsLeaves: Bool
  /// The first key that was not looked at yet; nil at the end.
  private(set) var next: [UInt8]? = []
  private(set) var movedBytes = 0
  private(set) var movedValues = 0

  /// What one step moves at most, unless a single value is larger; and how many leaves it looks at. Commits wait
  /// for a step.
  private static let stepBytes = 64 << 10
  private static let stepLeaves = 48

  init(_ store: OpenStore, _ victims: Reclaimer.Victims) {
    self.store = store
    logs = SegmentSet(victims.logs)
    pages = SegmentSet(victims.pages)
    compactsLeaves = victims.compactsLeaves
  }

  /// Goes through the tree once more: it has other pages now, and some may lie in the segments of pages.
  mutating func beginAgain() { next = [] }

  /// Does the next step; returns whether there is another one.
  mutating func step() throws(EngineError) -> Bool {
    guard let key = next else { return false }
    let batch = try store.writeInternally { (transaction) throws(EngineError) in
      let batch = try collect(from: key)
      for (key, value) in batch.values { try transaction.move(key, value) }
      for key in batch.leaves {
        if compactsLeaves {
          try key.withBytes { (key) throws(EngineError) in try store.tree.compactLeaf(at: key) }
        }
        try store.tree.leave(pages, at: key)
      }
      return batch
    }
    movedBytes += batch.bytes
    movedValues += batch.values.count
    next = batch.next
    return next != nil
  }

  /// What a step is to do.
  private struct Batch {
    var values: [(key: [UInt8], value: UnsafeRawBufferPointer)] = []
    /// The last key of each leaf that was looked at: where leaves are filled from the right, it is what stays.
    var leaves: [[UInt8]] = []
    var bytes = 0
    var next: [UInt8]?
  }

  private func collect(from key: [UInt8]) throws(EngineError) -> Batch {
    let view = store.tree.view
    let values = ReadView(view)
    let cursor = TreeCursor(view)
    var batch = Batch()
    var found = try key.isEmpty ? cursor.moveToFirst() : seek(key, cursor)
    while found, batch.leaves.count < Self.stepLeaves {
      let last = Array(cursor.key(inLeaf: cursor.leafCount - 1))
      batch.leaves.append(last)
      guard try collect(cursor, values, &batch) else { return batch }
      found = try seek(last + [0], cursor)
      if found { batch.next = Array(cursor.key) }
    }
    if !found { batch.next = nil }
    return batch
  }

  private func seek(_ key: [UInt8], _ cursor: TreeCursor) throws(EngineError) -> Bool {
    try key.withBytes { (key) throws(EngineError) in try cursor.seek(key) }
  }

  /// Looks through one leaf; false where the step has enough before its end.
  private func collect(
    _ cursor: TreeCursor, _ values: ReadView, _ batch: inout Batch
  ) throws(EngineError) -> Bool {
    let entries = LeafEntries(cursor.leaf)
    for index in cursor.indexInLeaf..<cursor.leafCount {
      guard let position = entries.position(index), logs.contains(position.segment) else { continue }
      if batch.bytes >= Self.stepBytes {
        batch.next = Array(cursor.key(inLeaf: index))
        return false
      }
      let record = try values.record(at: position)
      let key = Array(cursor.key(inLeaf: index))
      guard try key.withBytes({ (key) throws(EngineError) in record.holds(key) }) else {
        throw ReadView.wrongRecord(position)
      }
      batch.values.append((key, record.value))
      batch.bytes += record.totalBytes
    }
    return true
  }
}

extension TreeWriter {
  /// Copies the pages on the way to a key, where one of them lies in segments that are to be left.
  func leave(_ segments: SegmentSet, at key: [UInt8]) throws(EngineError) {
    guard !segments.isEmpty, root.reference != .none else { return }
    try key.withBytes { (bytes) throws(EngineError) in
      _ = try locate(SearchKey(bytes))
      for level in 0...root.level {
        guard let segment = space.pageSegment(of: path[level].reference), segments.contains(segment) else {
          continue
        }
        return try ownPath()
      }
    }
  }
}

extension PageSpace {
  /// The segment that a page lies in, or has a copy in; nil where it is in memory only.
  func pageSegment(of reference: PageReference) -> UInt32? {
    guard reference.isInArena else { return reference.segment }
    return diskAddress(reference.index).map { PageReference(rawValue: $0.reference).segment }
  }
}
