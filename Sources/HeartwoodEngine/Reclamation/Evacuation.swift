/// Moves live data out of segments, step by step, in the order of the keys. Internal transactions write the values again
/// and copy the tree's pages, until the newest generation references nothing in those segments.
///
/// Moved values are stored in the order of their keys, so that later scans read sequentially.
struct Evacuation {
  let store: OpenStore
  /// Log segments, which are no longer written.
  let logs: SegmentSet
  /// Page segments, which are no longer written.
  let pages: SegmentSet
  /// Whether leaves with free space are merged and filled.
  let compactsLeaves: Bool
  /// The first key that is not visited yet; nil at the end.
  private(set) var next: [UInt8]? = []
  private(set) var movedBytes = 0
  private(set) var movedValues = 0

  /// Bytes after which a step ends. Together with `stepLeaves` it limits how long a step holds the writer lock.
  private static let stepBytes = 64 << 10
  /// Greatest number of leaves that one step visits.
  private static let stepLeaves = 48

  init(_ store: OpenStore, _ victims: VictimSegments) {
    self.store = store
    logs = SegmentSet(victims.logs)
    pages = SegmentSet(victims.pages)
    compactsLeaves = victims.compactsLeaves
  }

  /// Starts again at the first key: the tree's pages have been replaced, and some may be in the page segments.
  mutating func beginAgain() { next = [] }

  /// Runs the next step; returns whether there is another one.
  mutating func step() throws(EngineError) -> Bool {
    guard let key = next else { return false }
    let batch = try store.writer.withLock { (writer) throws(EngineError) in
      try writer.writeInternally { (transaction) throws(EngineError) in
        try move(from: key, in: transaction, writer.tree)
      }
    }
    movedBytes += batch.bytes
    movedValues += batch.values.count
    next = batch.next
    return next != nil
  }

  private func move(
    from key: [UInt8], in transaction: WriteTransaction, _ tree: TreeWriter
  ) throws(EngineError) -> Batch {
    let batch = try collect(from: key, tree.view)
    for (key, record) in batch.values { try transaction.move(key, record) }
    for key in batch.leaves {
      if compactsLeaves {
        try key.withBytes { (key) throws(EngineError) in try tree.compactLeaf(at: key) }
      }
      try tree.leave(pages, at: key)
    }
    return batch
  }

  /// The work of one step.
  private struct Batch {
    var values: [(key: [UInt8], record: Record)] = []
    /// The last key of each visited leaf. Compacting moves the first entries of a leaf to its left neighbour, so the last
    /// key is the one that stays.
    var leaves: [[UInt8]] = []
    var bytes = 0
    var next: [UInt8]?
  }

  /// Collects the values to move and the leaves to copy, from a key on.
  private func collect(from key: [UInt8], _ view: TreeView) throws(EngineError) -> Batch {
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

  /// Collects the values of one leaf; false if the step reaches its limit before the leaf's end.
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
      batch.values.append((key, record))
      batch.bytes += record.totalBytes
    }
    return true
  }
}

extension TreeWriter {
  /// Copies the pages on the path to a key if one of them is in the given segments.
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
  /// The segment that contains a page or its copy on disk; nil if the page is only in memory.
  func pageSegment(of reference: PageReference) -> UInt32? {
    guard reference.isInArena else { return reference.segment }
    return diskAddress(reference.index).map { PageReference(rawValue: $0.reference).segment }
  }
}
