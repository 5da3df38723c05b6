/// Brings a tree from a checkpoint up to a later generation by applying the log's transactions to it.
struct Replay {
  let generations: Generations
  let tree: TreeWriter
  /// Bytes of log that were applied.
  private(set) var bytes = 0

  /// Applies what lies between the checkpoint (without one: the beginning of the log) and `end`.
  ///
  /// - Parameter last: The generation to stop at; nil for all up to `end`.
  init(
    space: PageSpace, from checkpoint: NamedCheckpoint?, log: [LogSegment], end: LogPoint, last: UInt64? = nil
  ) throws(EngineError) {
    let first = checkpoint?.record.generation ?? 0
    let root = checkpoint?.root ?? .empty
    generations = Generations(space: space, generation: first, root: root)
    tree = TreeWriter(space: space, generations: generations)
    #if DELIBERATE_BUGS
      let target = last ?? end.generation &- (DeliberateBug.isOn(.stopsOneGenerationEarly) ? 1 : 0)
    #else
      let target = last ?? end.generation
    #endif
    guard target > first else { return }
    // All of them make one generation here: nobody sees those in between.
    tree.begin(generation: target, from: root)
    let applier = LogApplier(tree: tree)
    let start = checkpoint?.record.replay ?? log.first?.header.firstPoint ?? end
    var walk = try LogWalk(log[...], from: start, upTo: end.position)
    while walk.point.generation < target, let frame = try walk.next() {
      bytes += frame.header.totalBytes
      try applier.apply(frame, in: walk.segment)
    }
    guard walk.point.generation == target else {
      throw EngineError.damaged(
        "the log is damaged: a transaction is not readable; run verify, and restore the file from a backup",
        file: walk.segment.path, offset: walk.point.position.offset)
    }
    let result = tree.commit()
    generations.commit(target, result)
    generations.publish(target, result)
  }
}

/// Applies the log's transactions to a tree.
struct LogApplier {
  let tree: TreeWriter

  /// Applies a transaction's frame; others change nothing.
  func apply(_ frame: ScannedFrame, in segment: LogSegment) throws(EngineError) {
    guard frame.header.kind == Format.transactionKind else { return }
    var records = RecordIterator(frame.payload, firstOffset: frame.position.offset + Format.frameHeaderBytes)
    while let (record, offset) = records.next() {
      let reference = ValueReference(segment: segment.number, offset: UInt32(truncatingIfNeeded: offset))
      guard try apply(record, at: reference) else {
        throw EngineError.damaged("a record of the log makes no sense", file: segment.path, offset: offset)
      }
    }
  }

  /// False where the record's checksum has held and it makes no sense all the same.
  private func apply(_ record: Record, at reference: ValueReference) throws(EngineError) -> Bool {
    guard record.isSensible else { return false }
    switch record.operation {
    case Format.putOperation:
      let isShort = record.valueBytes <= TreeEntry.inlineLimit
      _ = try tree.put(record.key, isShort ? .inline(record.value) : .position(reference))
    case Format.deleteOperation:
      #if DELIBERATE_BUGS
        if DeliberateBug.isOn(.skipsDeletesInReplay) { break }
      #endif
      _ = try tree.delete(record.key)
    case Format.deleteRangeOperation:
      #if DELIBERATE_BUGS
        if DeliberateBug.isOn(.skipsRangeDeletesInReplay) { break }
      #endif
      guard let range = RangeRecord.decode(record) else { return false }
      _ = try tree.deleteRange(range)
    default: return false
    }
    return true
  }
}
